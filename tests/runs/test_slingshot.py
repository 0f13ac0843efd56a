"""
Failures of Slingshot that public threads and sources describe, reproduced in stand-in trees.

`make slingshot` runs every failure and prints a table. tests/stand_in/files/slingshot.c contains the
rules of the simulated network; the rules are derived from public sources, not measured.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from osu_container.proof.opened_network import SIMULATED_CXI
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT, STATE, StandIn, assert_success, run

pytestmark = pytest.mark.system


class Failure(NamedTuple):
    """A failure that a public thread or source describes."""

    name: str
    #: address of the thread, page or source code, without https://
    thread: str
    #: approach whose module is loaded
    approach: str
    #: bash script that fails; $TREE is the stand-in tree
    script: str
    #: pattern for the message in the output
    message: str
    #: name of the message in `osu-container why`, '' if a real network would print no message
    why: str
    #: verdict of `osu-container check` on the image and the approach. A verdict does not consider
    #: the options and variables that only the script sets
    verdict: str
    site: str = 'lumi-25.03'


#: Passes the variables of MPI on, as users of --cleanenv do, but not SLINGSHOT_...
CLEAN = (
    "srun -N2 -n2 bash -c 'singularity exec --cleanenv "
    '$(env | grep -aE "^(PMI|FI|MPIR)_" | sed "s/^/--env /") $SIF osu_latency -m 8\''
)
NO_VNI, NO_PROVIDER = 'the job step has no VNI', 'MPI finds no libfabric provider'
DOMAIN = r'OFI call opendomain failed .*Function not implemented'
GETINFO = r'OFI call getinfo failed .*No data available'


def _drop_bind(name):
    """Return a script that starts the container without the bind of a library (str)."""
    return (
        f"export SINGULARITY_BIND=$(tr , '\\n' <<<$SINGULARITY_BIND | grep -v {name} | paste -sd,); "
        'srun -N2 -n2 singularity exec $SIF osu_latency -m 8'
    )


#: Starts the container with libfabric.so.1 of the current folder as the host's libfabric
REPLACED_LIBFABRIC = (
    'export SINGULARITY_BIND=$(sed "s#[^,]*/libfabric.so.1:#$SCRATCH/libfabric.so.1:#" '
    '<<<$SINGULARITY_BIND); srun -N2 -n2 singularity exec $SIF osu_latency -m 8'
)
FAILURES = [
    Failure(
        'one node without a VNI',
        'github.com/uiuc-hpc/lci/issues/110',
        'hybrid',
        'unset SLURM_NETWORK; FI_LOG_LEVEL=warn srun -N1 -n2 osu_latency -m 8',
        'cxip_gen_auth_key failed: -38',
        NO_VNI,
        'works',
    ),
    Failure(
        '--cleanenv without SLINGSHOT_*',
        'github.com/alazzaro/cug26_containers_tutorial/blob/0240e5c/demo/README.md',
        'hybrid',
        CLEAN,
        DOMAIN,
        NO_VNI,
        'works',
    ),
    Failure(
        'SLURM_NETWORK set inside the container, after srun',
        'github.com/lumi-ai-factory/laifs-container-recipes/pull/22',
        'hybrid',
        'unset SLURM_NETWORK; srun -N1 -n2 singularity exec '
        '--env SLURM_NETWORK=single_node_vni $SIF osu_latency -m 8',
        DOMAIN,
        NO_VNI,
        'works',
    ),
    Failure(
        'MPICH avoids cxi on one node',
        'github.com/pmodels/mpich/pull/6435',
        'hybrid',
        'unset MPIR_CVAR_SINGLE_HOST_ENABLED; srun -N1 -n2 singularity exec $SIF osu_latency -m 8',
        'OFI call getinfo failed',
        NO_PROVIDER,
        'works',
    ),
    Failure(
        'libcxi of another SHS release',
        'github.com/HewlettPackard/shs-libcxi/issues/18',
        'opensource',
        "sed -i 's/SHS .*/SHS 13.0.0/' $TREE/dev/cxi*; srun -N2 -n2 osu_latency -m 8; "
        "sed -i 's/SHS .*/SHS 12.0.2/' $TREE/dev/cxi*",
        GETINFO,
        NO_PROVIDER,
        'works',
    ),
    Failure(
        'libcxi of the host is not injected',
        'github.com/MPAS-Dev/compass/issues/759',
        'hybrid',
        _drop_bind('libcxi'),
        'libcxi.so.1: cannot open shared object file',
        'a library is missing',
        'works',
    ),
    Failure(
        'GTL without the libamdhip64 of its ROCm',
        'github.com/AMReX-Codes/amrex/pull/4729',
        'bind',
        _drop_bind('libamdhip64'),
        'error while loading shared libraries: libamdhip64.so.6',
        'a library of ROCm is missing',
        'works',
    ),
    Failure(
        'alt_read without disable_rdzv_get (a real network hangs)',
        'github.com/HewlettPackard/shs-ccl-docs/pull/31',
        'hybrid',
        'FI_CXI_RDZV_PROTO=alt_read srun -N2 -n2 osu_latency -m 8',
        'OFI call opendomain failed .*Operation not supported',
        '',
        'works',
    ),
    Failure(
        'a program that needs a library name of Cray',
        'github.com/VTT-ProperTune/OpenPFC/pull/108',
        'bind',
        "echo 'int MPI_Init(void) { return 0; }' >mpi.c; "
        "echo 'int MPI_Init(void); int main(void) { return MPI_Init(); }' >main.c; "
        'gcc -shared -Wl,-soname,libmpi_gnu_123.so.12 -o libmpi_gnu_123.so.12 mpi.c; '
        'gcc -o program main.c ./libmpi_gnu_123.so.12; srun -N2 -n2 osu-exec ./program',
        'error while loading shared libraries: libmpi_gnu_123.so.12',
        'the MPI library of the program is missing',
        'works',
    ),
    Failure(
        'libfabric of the host is too old for the image',
        'github.com/DeiC-HPC/BitBulldozersLab',
        'hybrid',
        "for n in {0..6}; do echo \"FABRIC_1.$n { };\"; done >map; gcc -shared -Wl,-soname,libfabric.so.1 "
        '-Wl,--version-script,map -o libfabric.so.1 -x c /dev/null; ' + REPLACED_LIBFABRIC,
        "version `FABRIC_1.7' not found",
        'the loaded libfabric is too old',
        'works',
    ),
    Failure(
        'Open MPI on one node without a VNI',
        'github.com/open-mpi/ompi/issues/12913',
        'openmpi',
        'unset SLURM_NETWORK; FI_LOG_LEVEL=warn srun -N1 -n2 osu_latency -m 8',
        'cxip_gen_auth_key failed: -38:Function not implemented',
        NO_VNI,
        'unknown',  # the SHS of Perlmutter is not published
        'perlmutter',
    ),
    Failure(
        'libfabric of the host needs a newer glibc',
        'github.com/argonne-lcf/user-guides/blob/main/docs/polaris/containers/containers.md',
        'hybrid',
        "echo 'GLIBC_2.38 { strlcpy; };' >map; echo 'void strlcpy(void) { }' >libc.c; "
        'gcc -fno-builtin -shared -nostdlib -Wl,-soname,libc.so.6,--version-script,map -o libc.so '
        "libc.c; echo 'void strlcpy(void); void f(void) { strlcpy(); }' >f.c; gcc -fno-builtin "
        f'-shared -Wl,-soname,libfabric.so.1 -o libfabric.so.1 f.c ./libc.so; {REPLACED_LIBFABRIC}',
        "version `GLIBC_2.38' not found",
        'the C library is too old',
        'works',
    ),
    Failure(
        'libfabric of the image has no provider tcp',
        'github.com/lumi-ai-factory/laifs-container-recipes/tree/fdf7153/containerfiles/libfabric',
        'pure',
        "sed 's/\\x00tcp\\x00/\\x00tcq\\x00/g' $WHEELS/mpich-4.2.3/lib/mpich/libfabric.so.1 >no-tcp.so; "
        'srun -N2 -n2 singularity exec --bind $SCRATCH/no-tcp.so:/opt/mpich/lib/mpich/libfabric.so.1 '
        '$SIF osu_latency -m 8',
        GETINFO,
        NO_PROVIDER,
        'works slowly',
    ),
    Failure(
        'the container has no Slingshot card (--contain)',
        'github.com/ofiwg/libfabric/blob/af8ddbe92/prov/cxi/src/cxip_if.c',
        'hybrid',
        'srun -N2 -n2 singularity exec --contain $SIF osu_latency -m 8',
        GETINFO,
        NO_PROVIDER,
        'works',
    ),
    Failure(
        "the image's libfabric has no provider cxi",
        'github.com/ofiwg/libfabric/blob/af8ddbe92/man/fi_fabric.7.md',
        'pure',
        'FI_PROVIDER=cxi srun -N2 -n2 osu_latency -m 8',
        GETINFO,
        NO_PROVIDER,
        'works slowly',
    ),
]


class Slingshot:
    """Stand-ins with the unchanged modules of the approaches that fail."""

    def __init__(self, folder):
        self.folder = folder
        #: site -> StandIn
        self.systems = {}
        #: (site, approach) -> verdict of check
        self.verdicts = {}

    def install(self, site):
        """Return the StandIn of a site; the first call makes the tree and installs the modules."""
        if site not in self.systems:
            this = StandIn(site, self.folder / site)
            approaches = {failure.approach for failure in FAILURES if failure.site == site}
            names = [f'osu-container-{approach}.eb' for approach in approaches]
            assert_success(this.eb(*names, f'--sysroot={this.tree}', f'--try-amend=site={site}'))
            self.systems[site] = this
        return self.systems[site]

    def run(self, site, approach, script):
        """Run a script with the module of an approach; return its whole output (str)."""
        this = self.install(site)
        folders = {'TREE': this.tree, 'SCRATCH': self.folder, 'WHEELS': STATE / 'pairs/wheels'}
        load = f'module load osu-container/{approach}; cd $SCRATCH; {script}'
        done = this.shell(load, **{name: str(path) for name, path in folders.items()})
        return done.stdout + done.stderr

    def check(self, failure):
        """Return the lines of the table (dict) for a Failure."""
        output = self.run(failure.site, failure.approach, failure.script)
        found = re.search(failure.message, output)
        return {
            'failure': failure.name,
            'thread': failure.thread,
            'system': f'{failure.site}, module osu-container/{failure.approach}',
            'command': failure.script,
            'message': found.group() if found else output[-600:],
            'check': self.predict(failure.site, failure.approach),
            'why': explain(output),
            'result': 'reproduced' if found else 'NOT REPRODUCED',
        }

    def predict(self, site, approach):
        """Return the verdict (str) of check on the module's image and an approach."""
        if (site, approach) not in self.verdicts:
            image = self.run(site, approach, 'echo SIF=$SIF').partition('SIF=')[2].split()[0]
            command = [sys.executable, '-m', 'osu_container', 'check', image, '--site', site]
            command += ['--sysroot', self.systems[site].tree, '--approach', approach, '--json']
            done = run(command, cwd=PROJECT, env=self.systems[site].eb.environment)
            self.verdicts[site, approach] = json.loads(done.stdout)['verdicts'][0]['verdict']
        return self.verdicts[site, approach]


def explain(output):
    """Return the name (str) of the first message that why recognizes, '' without."""
    # SingularityCE of LUMI prints no INFO line on SINGULARITY_BIND, Apptainer does.
    output = re.sub('(?m)^INFO: .*\n', '', output)
    command = [sys.executable, '-m', 'osu_container', 'why', '--json', '-']
    found = json.loads(run(command, cwd=PROJECT, input=output).stdout)
    return found[0]['name'] if found else ''


@pytest.fixture(scope='session')
def slingshot(slurm, tmp_path_factory):
    return Slingshot(tmp_path_factory.mktemp('slingshot'))


#: The six systems of which modules run unchanged in the tests
SYSTEMS = ['lumi-25.03', 'lumi-25.09', 'alps', 'frontier', 'perlmutter', 'setonix']


@pytest.mark.nightly
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('site', SYSTEMS)
def test_unchanged_modules_run_on_two_nodes_and_on_one(site, tmp_path):
    this, here = StandIn(site, tmp_path), resolve_site('workstation')['images']['value']
    approaches = sorted({'pure', 'bind', *here} & set(resolve_site(site)['images']['value']))
    approaches = [name for name in approaches if '/' not in name and name != 'swap']
    names = [f'osu-container-{name}.eb' for name in approaches]
    assert_success(this.eb(*names, f'--sysroot={this.tree}', f'--try-amend=site={site}'))
    for approach in approaches:
        # The MPICH that stands in for Cray MPICH uses the network on one node too, Cray MPICH does not.
        network = '--network=single_node_vni' if approach == 'bind' else ''
        for nodes in (2, 1):
            _, proofs = this.run_proofs(
                f'module load osu-container/{approach}; '
                f'srun -N{nodes} -n2 {network} {{prove}} osu_latency -m 4096 -i 300 H H',
                tmp_path / f'{approach}-{nodes}',
            )
            for proof in proofs:
                expected = 'tcp' if approach == 'pure' else SIMULATED_CXI
                assert proof['network']['provider'] == expected, (approach, nodes)


@pytest.mark.nightly
@pytest.mark.parametrize('failure', FAILURES, ids=[failure.name for failure in FAILURES])
def test_public_failure_is_reproduced(failure, slingshot):
    found = slingshot.check(failure)
    assert found['result'] == 'reproduced', found['message']
    assert found['check'] == failure.verdict
    assert not failure.why or found['why'] == failure.why


def main():
    """Print the table of all failures; the exit code is 1 if a failure was not reproduced."""
    assert_success(run([PROJECT / 'tools/workstation/slurm.sh', 'start']))
    with tempfile.TemporaryDirectory(prefix='slingshot-', dir='/tmp') as folder:
        stand_in = Slingshot(Path(folder))
        rows = []
        for failure in FAILURES:
            rows.append(stand_in.check(failure))
            print('\n'.join(f'{name:9} {value}' for name, value in rows[-1].items()), '\n')
    count = sum(row['result'] == 'reproduced' for row in rows)
    print(f'{count} of {len(rows)} failures reproduced over the simulated Slingshot')
    return count != len(rows)


if __name__ == '__main__':
    sys.exit(main())
