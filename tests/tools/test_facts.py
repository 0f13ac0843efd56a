"""
The table of differences between the data and their public sources, and the replay of histories.

STATES has small extracts of the sources at their last read commit, and older extracts with the
days of their commits. A fixture commits these extracts to one Git repository for each source.
"""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT
from tools import facts

CPE = 'Package,Version\nCCE,19.0.0\nMPICH,{}\nPMI,{}\nPALS,1.2.12\nROCM,{}\n'
CPE_FOLDER = 'CrayPE/CPEpackages_'
VARS = 'recipes/lumi-multitorch/lumi-multitorch-vars.yaml'
LAIF = (
    'amdgpu_version: "6.4.4"\nrocm_version: "{}"\nlibcxi_version_prefix: "1.0.2-SHS12.0.2"\n'
    'libfabric_version_prefix: "{}"\nmpich_version: "{}" # Latest version as of 2026-07-13\n'
)
ALPS, ALPS_NCCL = 'Alps-Images/common/alps-runtime', 'defvar NCCL_CROSS_NIC "{}"\n'
NERSC = 'additional_args:\n  - -e NCCL_CROSS_NIC=1\n  - -e NCCL_SOCKET_IFNAME=hsn\n'
OLIVIA, POLARIS = 'hpc_machines/olivia/', 'docs/polaris/'
NCCL_PAGE = POLARIS + 'applications-and-libraries/libraries/nccl.md'
#: repository -> [(day of the commit, {path: extract}), ...], the oldest first
STATES = {
    'Lumi-supercomputer/LUMI-SoftwareStack': [
        ('2025-12-12', {CPE_FOLDER + '24.11.csv': CPE.format('8.1.31', '6.1.15', '6.2.2')}),
        ('2025-12-12', {CPE_FOLDER + '25.03.csv': CPE.format('8.1.32', '6.1.15', '6.3.4')}),
        ('2026-01-05', {CPE_FOLDER + '25.09.csv': CPE.format('9.0.1', '6.1.16', '6.4.4')}),
    ],
    'lumi-ai-factory/laifs-container-recipes': [
        ('2026-01-07', {VARS: LAIF.format('6.4.4', '2.1', '4.3.2')}),
        ('2026-03-30', {VARS: LAIF.format('7.0.2', '2.1', '5.0.0')}),
        ('2026-08-22', {VARS: LAIF.format('7.0.2', '2.6', '5.0.1')}),
    ],
    'HewlettPackard/shs-ccl-docs': [
        ('2026-04-30', {'ccl_env.sh': 'export NCCL_CROSS_NIC=1\nexport NCCL_NET="AWS Libfabric"\n'})
    ],
    'eth-cscs/alps-extended-images': [
        ('2026-02-27', {ALPS + '.env': ALPS_NCCL.format(1) + 'defvar FI_PROVIDER "cxi"\n'}),
        ('2026-06-17', {ALPS + '.env': ALPS_NCCL.format(0) + 'defvar FI_PROVIDER "cxi"\n'}),
        (
            '2026-08-12',
            {
                ALPS + '.env': '',
                ALPS + '.common.env': 'defvar FI_PROVIDER "cxi"\n',
                ALPS + '.nccl-like.env': ALPS_NCCL.format(0) + 'defvar NCCL_SOCKET_NTHREADS "4"\n',
                'Alps-Images/common/alps-stack-versions.env': (
                    ': "${CXI_DRIVER_VERSION:=release/shs-13.1.0}"\n'
                ),
                'Alps-Images/ROCm/alps-runtime.rocm.env': 'defvar HSA_NO_SCRATCH_RECLAIM "1"\n',
            },
        ),
    ],
    'eth-cscs/cscs-docs': [
        ('2025-06-12', {'docs/software/communication/nccl_env_vars': 'export NCCL_CROSS_NIC=1\n'}),
        (
            '2026-06-17',
            {
                'docs/clusters/daint.md': '    - Updated Slingshot Host Software (SHS) from version '
                '12.0.1 to version 13.1.0.\n    NCCL_CROSS_NIC="0":, (changed from "1")\n',
                'docs/software/communication/openmpi.md': 'export FI_LNX_PROV_LINKS='
                '"shm+cxi:cxi0|shm+cxi:cxi1|shm+cxi:cxi2|shm+cxi:cxi3" # (2)!\n',
                'docs/software/sciapps/cp2k.md': 'The main vClusters have been updated to Nvidia '
                'driver version 590.\n',
            },
        ),
    ],
    'NERSC/podman-hpc': [
        (
            '2026-04-24',
            {
                'etc/modules.d/nccl.yaml': NERSC
                + '  - /opt/cray/libfabric/1.20.1/lib64/lib*:/opt/\n'
            },
        )
    ],
    'UNINETTSigma2/documentation': [
        (
            '2026-05-13',
            {
                OLIVIA + 'nccl.md': 'export FI_CXI_DEFAULT_CQ_SIZE=131072\n',
                OLIVIA + 'openmpi.md': 'export OMPI_MCA_pml=ob1\n\nexport OMPI_MCA_pml=cm\n',
                OLIVIA + 'nccl_apptainer.md': 'module load OpenMPI/5.0.10-GCC-14.3.0\n',
            },
        )
    ],
    'argonne-lcf/user-guides': [
        (
            '2026-02-02',
            {
                NCCL_PAGE: 'export NCCL_CROSS_NIC=1\nexport NCCL_COLLNET_ENABLE=1\n',
                POLARIS + 'containers/containers.md': 'apptainer version # should return 1.4.1\n'
                'export ADDITIONAL_PATH=/opt/cray/pe/pals/1.2.12/lib\n',
                POLARIS + 'debugging-tools/CUDA-GDB.md': '  3) cray-dsmml/0.3.1  12) '
                'libfabric/2.2.0rc1\n  4) cray-mpich/9.0.1   9) darshan/3.4.4\n',
            },
        )
    ],
}


def commit_files(folder, day, files):
    """Write {path: text} to the Git repository in folder (Path) and commit the files on a day."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    run_git(folder, 'add', '.')
    run_git(folder, 'commit', '--quiet', '--allow-empty', '--message', day, day=day)


def run_git(folder, *arguments, day='2026-11-28'):
    person = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
    dates = dict.fromkeys(('GIT_AUTHOR_DATE', 'GIT_COMMITTER_DATE'), day + 'T12:00:00Z')
    subprocess.run(
        ['git', *person, '-C', str(folder), *arguments], check=True, env={**os.environ, **dates}
    )


@pytest.fixture(scope='module')
def unchanged_clones(tmp_path_factory):
    """Folder of Git repositories with STATES; a tag has the name of the last read commit."""
    clones = tmp_path_factory.mktemp('clones')
    for repository, states in STATES.items():
        folder = clones / repository
        folder.mkdir(parents=True)
        run_git(folder, 'init', '--quiet', '--template=')
        for day, files in states:
            commit_files(folder, day, files)
        commit_files(folder, '2026-09-01', {'README.md': 'PALS,1.2.13\nNCCL_CROSS_NIC=2\n'})
        run_git(folder, 'tag', facts.LAST_READ[repository])
    return clones


@pytest.fixture
def clones(unchanged_clones, tmp_path):
    """Copy of the repositories, which a test may change."""
    return shutil.copytree(unchanged_clones, tmp_path / 'clones')


@pytest.fixture
def list_rows(capsys):
    """Function (*arguments) that returns the exit code and the rows of the printed table."""

    def call(*arguments):
        code = facts.main([*map(str, arguments)])
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith('| ')]
        return code, [re.split(r' (?<!\\)\| ', line.strip('| ')) for line in lines[2:]]

    return call


def test_data_equal_the_last_read_state_of_every_source(unchanged_clones, list_rows):
    assert list_rows('--clones', unchanged_clones) == (0, [])
    for source in facts.SOURCES:
        values = facts.Clone(unchanged_clones, source.repository).read_values('HEAD', [source])
        assert values, source.files
        for site, name in values:
            entry = resolve_site(site)
            key = source.facts.get(name, 'variables').partition(':')[0]
            fact = entry.get(key) or entry['libraries'][key]
            assert key == 'variables' or source.repository.split('/')[1] in fact['source'], name


@pytest.mark.parametrize(
    'repository, path, text, fact, ours, theirs, file, line',
    [
        (
            'eth-cscs/alps-extended-images',
            ALPS + '.nccl-like.env',
            ALPS_NCCL.format(2),
            'alps: NCCL_CROSS_NIC',
            '0',
            '2',
            'sites/alps.py',
            "'NCCL_CROSS_NIC',",
        ),
        (
            'eth-cscs/alps-extended-images',
            ALPS + '.common.env',
            'defvar FI_CXI_NEW "1"\n',
            'alps: FI_CXI_NEW',
            'none',
            '1',
            'sites/alps.py',
            "'alps': {",
        ),
        (
            'NERSC/podman-hpc',
            'etc/modules.d/nccl.yaml',
            NERSC.replace('=hsn', '=hsn0'),
            'perlmutter: NCCL_SOCKET_IFNAME',
            'hsn',
            'hsn0',
            'sites/cray.py',
            "'NCCL_SOCKET_IFNAME',",
        ),
        (
            'NERSC/podman-hpc',
            'etc/modules.d/nccl.yaml',
            NERSC.replace('CROSS_NIC', 'MERGE_LEVEL'),
            'perlmutter: NCCL_CROSS_NIC',
            '1',
            'removed',
            'sites/cray.py',
            "('NCCL_CROSS_NIC', '1',",
        ),
        (
            'Lumi-supercomputer/LUMI-SoftwareStack',
            CPE_FOLDER + '25.03.csv',
            CPE.format('8.1.32', '6.1.15', '6.3.4').replace('1.2.12', '1.6.1'),
            'lumi-25.03: PALS',
            '1.2.12',
            '1.6.1',
            'sites/lumi.py',
            "'/opt/cray/pe/pals/1.2.12/lib/libpals.so.0',",
        ),
        (
            'Lumi-supercomputer/LUMI-SoftwareStack',
            CPE_FOLDER + '29.03.csv',
            'MPICH,9.9.9\n',
            'lumi-29.03: MPICH',
            'none',
            '9.9.9',
            'sites/__init__.py',
            '"""',
        ),
        (
            'lumi-ai-factory/laifs-container-recipes',
            VARS,
            LAIF.format('7.2.1', '2.6', '5.0.1'),
            'lumi-25.03: rocm',
            '7.0.2',
            '7.2.1',
            'sites/lumi.py',
            'ROCm 7.0.2',
        ),
    ],
    ids=[
        'changed variable',
        'new variable',
        'shared variable',
        'removed variable',
        'changed library',
        'new stack',
        'changed image',
    ],
)
def test_new_value_is_reported_with_our_line(
    clones, list_rows, repository, path, text, fact, ours, theirs, file, line
):
    commit_files(clones / repository, '2026-11-28', {path: text})
    code, rows = list_rows('--clones', clones)
    row = next(row for row in rows if row[1] == fact)
    assert (code, row[2], row[3]) == (1, ours, theirs)
    assert f'{repository} {path}, ' in row[4] and row[4].endswith(' of 2026-11-28')
    name, number = row[0].split(':')
    assert name == 'osu_container/data/' + file
    assert line in (PROJECT / name).read_text().splitlines()[int(number) - 1]


@pytest.mark.parametrize(
    'repository, day, change, reported',
    [
        ('eth-cscs/alps-extended-images', '2026-06-17', ['alps: NCCL_CROSS_NIC', '1', '0'], 3),
        (
            'lumi-ai-factory/laifs-container-recipes',
            '2026-03-30',
            ['lumi-25.03: rocm', '6.4.4', '7.0.2'],
            3,
        ),
        (
            'Lumi-supercomputer/LUMI-SoftwareStack',
            '2025-12-12',
            ['lumi-25.03: PALS', 'none', '1.2.12'],
            2,
        ),
    ],
)
def test_replay_reports_changed_values_only(
    unchanged_clones, list_rows, repository, day, change, reported
):
    code, rows = list_rows('--clones', unchanged_clones, '--replay', repository)
    assert code == 0 and [day, *change] in [row[1:] for row in rows]
    assert len({row[0] for row in rows}) == reported
    # Since that day, the value has moved to another file, and other files have changed.
    assert not [row for row in rows if row[1] > day and row[2] == change[0]]


@pytest.mark.parametrize('repository', ['NERSC/podman-hpc', 'eth-cscs/cscs-docs'])
def test_clone_without_the_last_read_commit_is_an_error(clones, capsys, repository):
    run_git(clones / repository, 'tag', '--delete', facts.LAST_READ[repository])
    assert facts.main(['--clones', str(clones)]) == 2
    error = capsys.readouterr().err
    assert f'git clone --bare https://github.com/{repository} {clones / repository}' in error


def test_workflow_clones_every_listed_repository(capsys):
    workflow = yaml.safe_load((PROJECT / '.github' / 'workflows' / 'facts.yml').read_text())
    script = '\n'.join(step.get('run', '') for step in workflow['jobs']['facts']['steps'])
    assert re.findall(r'tools\.facts (--\w+)', script) == ['--list', '--clones']
    assert facts.main(['--list']) == 0
    assert set(capsys.readouterr().out.split()) == {
        f'https://github.com/{repository}' for repository in STATES
    }
