"""
The two pages on LUMI from their first command to their last, run in one shell on simulated stacks
of LUMI.

The modules LUMI, partition and EasyBuild-user are simulated: they set what
EasyBuild-config/25.01.lua of LUMI-SoftwareStack 241114ba sets, the trees have the paths of each
stack (tests/stand_in/README.md), and srun drops options that no workstation has (account, GPUs).
Clone, links, EasyBuild, Lmod, the runtime, Slurm and the ranks are real.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.docs.test_commands import list_command_lines
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, STATE, StandIn, run_clean_shell

pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm')]

PAGES = sorted((PROJECT / 'docs').glob('*lumi*.md'))
STACKS = ['25.03', '25.09']
#: Command of the pages -> why this test does not run the command
NOT_WALKED = {
    r'sbatch -A |cat osu-try-': 'tests/check/test_try.py has the job',
    r'scp ': 'needs an account on LUMI',
    r'(osu-container/)?scripts/osu-container image (fetch|build)|module load LUMI PRoot': 'hours; '
    'tests/build/test_proot.py builds so',
    r'eb osu-native|module load \S+ \S+ osu-native': 'compilers of the stack; tests/easyblocks/test_native_cray.py',
    r'osu-container/scripts/osu-container new|eb multitorch': 'tests/easyblocks/test_image_of_site.py',
    r'osu-container (bench|compare) ': 'minutes; tests/bench has them',
    r'srun osu-gpu-bind osu_(xccl_)?allreduce': 'the image of the stand-ins has programs of two ranks alone',
    r'eb .*wrapper=lumi-container-wrapper': 'tests/stand_in/test_stand_in_run.py has that tool',
}
PARTITION = """setenv("LUMI_STACK_PARTITION", "{}")
prepend_path("MODULEPATH", pathJoin(os.getenv("EBU_USER_PREFIX"), "modules/container"))
"""
EASYBUILD_USER = """local folder = "{}"
local user = os.getenv("EBU_USER_PREFIX")
local repository = pathJoin(user, "UserRepo/easybuild")
setenv("EASYBUILD_PREFIX", user)
setenv("EASYBUILD_INCLUDE_EASYBLOCKS",
    pathJoin(repository, "easyblocks/*/*.py") .. "," .. folder .. "/_mpicontainer_local.py")
setenv("EASYBUILD_ROBOT_PATHS", pathJoin(user, "ebfiles_repo/container") .. ":" .. pathJoin(repository, "easyconfigs"))
setenv("EASYBUILD_SOURCEPATH", pathJoin(user, "sources"))
setenv("EASYBUILD_INSTALLPATH_SOFTWARE", pathJoin(user, "SW/container"))
setenv("EASYBUILD_INSTALLPATH_MODULES", pathJoin(user, "modules/container"))
setenv("EASYBUILD_SUFFIX_MODULES_PATH", "")
setenv("EASYBUILD_REPOSITORYPATH", pathJoin(user, "ebfiles_repo/container"))
setenv("EASYBUILD_SYSROOT", pathJoin(folder, os.getenv("LUMI_STACK_VERSION"), "tree"))
"""
SRUN = r'''#!/bin/bash
# Calls srun of a stand-in tree, which then skips this file.
words=()
while [[ ${1-} == -* ]]; do
    case $1 in --account=*|--partition=*|--exclusive|--time=*|--gpus-per-node=*) ;; *) words+=("$1") ;; esac
    shift
done
[[ $1 != osu-gpu-bind ]] || { type -P osu-gpu-bind >/dev/null || exit 127; shift; }
program=$1; shift
[[ " ${words[*]} " == *' -N'* ]] || words+=(-N2 -n2)
unset SLURM_JOB_ID  # the page reads it in a job script
exec /usr/bin/srun "${words[@]}" "$program" H H -m 64 -i 5
'''
#: Functions for the shell: git clone and git pull use this clone; eb runs with the host name of a
#: login node
PLAYED = '''eb() { unshare --uts bash -c 'hostname uan01 && exec eb "$@"' eb "$@"; }
git() { case $1 in clone) ln -sfn "$2" "$3" ;; -C) [[ -d $2 && $3 == pull ]] ;; *) return 1 ;; esac; }
'''


class Walk:
    """A user's home and project on a simulated LUMI with one stack and one partition (G or C)."""

    def __init__(self, folder, stack, partition, apptainer):
        self.folder, self.stack, self.partition = folder, stack, partition
        self.home, self.prefix = folder / 'home', folder / 'project' / 'EasyBuild'
        self.home.mkdir()
        for one in STACKS:
            made = StandIn(f'lumi-{one}', (folder / one).resolve())
            laifs = made.tree / 'appl/local/laifs/containers'
            laifs.mkdir(parents=True, exist_ok=True)
            shutil.copy2(
                foreign_images.make('multitorch', apptainer), laifs / 'lumi-multitorch-20260225.sif'
            )
            (laifs / 'lumi-multitorch-latest.sif').symlink_to('lumi-multitorch-20260225.sif')
            if one == stack:
                self.tree = made.tree
                shutil.copy(
                    made.tree / '_mpicontainer_local.py', folder
                )  # facts that the simulated system lacks
                self.eb_environment = made.eb.environment
        for name, text in {
            **{f'LUMI/{one}': f'setenv("LUMI_STACK_VERSION", "{one}")\n' for one in STACKS},
            **{f'partition/{one}': PARTITION.format(one) for one in ('container', 'G', 'C')},
            'EasyBuild-user/LUMI': EASYBUILD_USER.format(folder),
        }.items():
            path = folder / 'modules' / f'{name}.lua'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.prefix / 'sources').mkdir(parents=True)
        for path in (PROJECT / 'sources').glob('osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif*'):
            shutil.copy(path, self.prefix / 'sources')
        (folder / 'bin').mkdir()
        srun = SRUN.replace('/usr/bin/srun', f'{self.tree}/usr/bin/srun')
        (folder / 'bin/srun').write_text(srun)
        (folder / 'bin/srun').chmod(0o755)

    def adapt_command(self, command, block):
        """
        Return a command (str) of a block (list of str) for this stack and partition, in this
        user's folders.
        """
        stack = next(
            (found[1] for found in (re.search(r'LUMI/([\d.]+)', line) for line in block) if found),
            '25.03',
        )
        site = f'lumi-c-{self.stack if stack == "25.03" else stack}'
        command = command.replace(
            '/project/project_46XXXXXXX', str(self.folder / 'project')
        ).replace('/scratch/project_46XXXXXXX', str(self.folder / 'scratch'))
        command = command.replace('<address of this repository>', str(PROJECT))
        command = command.replace('LUMI/25.03', f'LUMI/{self.stack}')
        if self.partition == 'C':
            command = command.replace('partition/G', 'partition/C')
            if re.match(r'eb osu-container-\w+\.eb', command) and 'site=' not in command:
                command += f' --try-amend=site={site}'
        return command.replace('site=lumi-c-25.03', f'site={site}')

    def run(self, lines):
        """Run commands (list of str) in a new shell of this user; return CompletedProcess."""
        before = [PLAYED, f'module use {self.folder}/modules', f'cd {self.home}']
        return run_clean_shell(
            '\n'.join(before + lines),
            timeout=1200,
            **{
                **{
                    name: value
                    for name, value in self.eb_environment.items()
                    if re.match('EB_PYTHON|EASYBUILD_(TMPDIR|ALLOW_USE_AS_ROOT)', name)
                },
                'PATH': f"{self.folder}/bin:{self.tree}/usr/bin:{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin",
                'HOME': str(self.home),
                'EBU_USER_PREFIX': str(self.prefix),
                'SLURM_JOB_ID': '1',
                'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'),
            },
        )


def list_blocks():
    """Return [[command]] of the pages: a list for each code block."""
    found = {}
    for line in [line for page in PAGES for line in list_command_lines(page)]:
        found.setdefault(line.block, []).append(line.command)
    return list(found.values())


def test_skipped_commands_are_on_the_pages():
    lines = [line for block in list_blocks() for line in block]
    assert [
        pattern for pattern in NOT_WALKED if not any(re.match(pattern, line) for line in lines)
    ] == []


@pytest.mark.parametrize(
    'stack, partition',
    [
        pytest.param(
            stack,
            partition,
            marks=[] if (stack, partition) == ('25.03', 'G') else pytest.mark.nightly,
        )
        for stack in STACKS
        for partition in 'GC'
    ],
)
def test_page_commands_run_from_clone_to_uninstallation(tmp_path, apptainer, stack, partition):
    if os.getuid() != 0:
        pytest.skip('another host name is for root')
    walk = Walk(tmp_path, stack, partition, apptainer)
    lines = [
        walk.adapt_command(line, block)
        for block in list_blocks()
        for line in block
        if not line.startswith('#') and not any(re.match(pattern, line) for pattern in NOT_WALKED)
    ]
    done = walk.run([f'{{ {line}\n}} || {{ echo "AT: {line}"; exit 1; }}' for line in lines])
    assert done.returncode == 0, '\n'.join([*lines, done.stdout[-4000:], done.stderr[-3000:]])
    measured = [line for line in lines if line.startswith('srun')]
    assert len(re.findall(r'^ *64 +[\d.]+', done.stdout, re.M)) == len(measured), done.stdout
    left = [
        path
        for path in walk.prefix.rglob('*')
        if 'osu-container' in path.name and path.parts[-2] != 'sources'
    ]
    assert left == [] and not list(Path(walk.prefix / 'UserRepo').rglob('*.eb'))
