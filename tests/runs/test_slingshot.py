"""
Failures of Slingshot that public threads and sources describe, reproduced in stand-in trees.

`make slingshot` runs every failure and prints a table. tests/stand_in/files/slingshot.c contains the
rules of the simulated network; the rules are derived from public sources, not measured.
"""

import functools
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from osu_container.proof.opened_network import SIMULATED_CXI
from osu_container.proof.patterns import FILE as PATTERNS
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT, StandIn, assert_success, run

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
    #: verdict of `osu-container check` on the image and the approach, after the scripts. A verdict
    #: does not consider the options and variables of the scripts
    verdict: str
    site: str = 'lumi-25.03'
    #: bash script that runs before `script`: removes or replaces files in $TREE, or sets SIF to a
    #: changed image
    change: str = ''


#: Passes the variables of MPI on, as users of --cleanenv do, but not SLINGSHOT_...
CLEAN = (
    "srun -N2 -n2 bash -c 'singularity exec --cleanenv "
    '$(env | grep -aE "^(PMI|FI|MPIR)_" | sed "s/^/--env /") $SIF osu_latency -m 8\''
)
NO_VNI, NO_PROVIDER = 'the job step has no VNI', 'MPI finds no libfabric provider'
DOMAIN = r'OFI call opendomain failed .*Function not implemented'
GETINFO = r'OFI call getinfo failed .*No data available'


#: Two ranks on two nodes
START = 'srun -N2 -n2 singularity exec $SIF osu_latency -m 8'
#: Removes the bind mounts of files that do not exist, as approaches without these files do
DROP = (
    "export SINGULARITY_BIND=$(tr , '\\n' <<<$SINGULARITY_BIND | grep -v {} | paste -sd,); " + START
)
#: The pattern file-io: two ranks write a file with MPI-IO
FILE_IO = f'srun -N2 -n2 singularity exec --bind {PATTERNS} $SIF python3 -s {PATTERNS} file file-io'
#: Adds to the preloaded GTL a function that opens liblustreapi.so in MPI_File_open, as Cray MPICH does
CRAY_FILE_OPEN = r"""
gcc -shared -fPIC -o $TREE/opt/cray/pe/mpich/*/gtl/lib/libmpi_gtl_hsa.so.0 -x c - <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int MPI_File_open(int communicator, const char *name, int mode, int info, void *file)
{
    if (!dlopen("liblustreapi.so", RTLD_NOW)) {
        fputs("Assertion failed in file ../../../../src/mpi/romio/adio/ad_cray/ad_cray_adio_open.c "
              "at line 520: liblustreapi != NULL\n", stderr);
        abort();
    }
    int (*open_file)(int, const char *, int, int, void *) =
        dlsym(dlopen("libmpi.so.12", RTLD_NOW), "PMPI_File_open");
    return open_file(communicator, name, mode, info, file);
}
END
"""
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
        'srun -N2 -n2 osu_latency -m 8',
        GETINFO,
        NO_PROVIDER,
        'works',
        change="sed -i 's/SHS .*/SHS 13.0.0/' $TREE/dev/cxi*",
    ),
    Failure(
        'libcxi of the host is not injected',
        'github.com/MPAS-Dev/compass/issues/759',
        'hybrid',
        DROP.format('libcxi'),
        'libcxi.so.1: cannot open shared object file',
        'a library is missing',
        'fails',
        change='rm $TREE/usr/lib64/libcxi.so*',
    ),
    Failure(
        'GTL without the libamdhip64 of its ROCm',
        'github.com/AMReX-Codes/amrex/pull/4729',
        'bind',
        DROP.format('libamdhip64'),
        'error while loading shared libraries: libamdhip64.so.6',
        'a library of ROCm is missing',
        'fails',
        change='rm $TREE/opt/rocm-*/lib/libamdhip64.so*',
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
        START,
        "version `FABRIC_1.7' not found",
        'the loaded libfabric is too old',
        'fails',
        change="sed -i 's/FABRIC_1.7/FABRIC_1.x/' $TREE/opt/cray/libfabric/*/lib64/libfabric.so.1",
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
        START,
        "version `GLIBC_2.38' not found",
        'the C library is too old',
        'fails',
        change="sed -i 's/GLIBC_2.17/GLIBC_2.38/' $TREE/opt/cray/libfabric/*/lib64/libfabric.so.1",
    ),
    Failure(
        'libfabric of the image has no provider tcp',
        'github.com/lumi-ai-factory/laifs-container-recipes/tree/fdf7153/containerfiles/libfabric',
        'pure',
        START,
        GETINFO,
        NO_PROVIDER,
        'fails',
        change='unsquashfs -no-xattrs -o $(grep -abo hsqs $SIF | head -1 | cut -d: -f1) -d image $SIF; '
        'SIF=$SCRATCH/image; '
        "sed -i 's/\\x00tcp\\x00/\\x00tcq\\x00/; s/xnet_/xneu_/g' $SIF/opt/mpich/lib/mpich/libfabric.so.1",
    ),
    Failure(
        'MPI-IO of Cray MPICH without liblustreapi',
        'github.com/underworldcode/underworld2/issues/668',
        'bind',
        FILE_IO
        + ' | grep works || exit; rm $TREE/usr/lib64/liblustreapi.so; '
        + DROP.replace(START, FILE_IO).format('liblustreapi'),
        'Assertion failed in file .* liblustreapi != NULL',
        'Cray MPICH lacks the library of Lustre',
        'works',
        change=CRAY_FILE_OPEN,
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


def install(site, folder, approaches):
    """Return a StandIn of a site in a folder (Path), with the unchanged modules of approaches."""
    this = StandIn(site, folder)
    names = [f'osu-container-{approach}.eb' for approach in approaches]
    assert_success(this.eb(*names, f'--sysroot={this.tree}', f'--try-amend=site={site}'))
    return this


@functools.lru_cache(None)
def install_failing(site, folder):
    """Return the StandIn of a site in a folder (Path), with the approaches that fail."""
    approaches = {failure.approach for failure in FAILURES if failure.site == site}
    return install(site, folder / site, approaches)


def ask(command, **options):
    """Return the answer (from JSON) of osu-container to a command (str)."""
    words = sys.executable, '-m', 'osu_container', *command.split(), '--json'
    return json.loads(run(words, cwd=PROJECT, **options).stdout)


def reproduce(failure, folder):
    """Return the lines of the table (dict) for a Failure; folder (Path) has the stand-ins."""
    site, approach = failure.site, failure.approach
    this = install_failing(site, folder)
    saved = this.tree.with_name('saved')
    shutil.copytree(this.tree, saved, symlinks=True)
    try:
        done = this.shell(
            f'module load osu-container/{approach}; cd $SCRATCH\n'
            f'{failure.change}\necho SIF=$SIF\n{failure.script}',
            TREE=str(this.tree),
            SCRATCH=str(folder),
        )
        output = done.stdout + done.stderr
        image = re.search('SIF=(.*)', output).group(1)
        prediction = ask(
            f'check {image} --site {site} --sysroot {this.tree} --approach {approach}',
            env=this.eb.environment,
        )
    finally:
        shutil.rmtree(this.tree)
        saved.rename(this.tree)
    found = re.search(failure.message, output)
    # SingularityCE of LUMI prints no INFO line on SINGULARITY_BIND, Apptainer does.
    causes = ask('why -', input=re.sub('(?m)^INFO: .*\n', '', output))
    return {
        'failure': failure.name,
        'thread': failure.thread,
        'system': f'{site}, module osu-container/{approach}',
        'command': f'{failure.change}\n{failure.script}'.strip(),
        'message': found.group() if found else output[-600:],
        'check': prediction['verdicts'][0]['verdict'],
        'why': causes[0]['name'] if causes else '',
        'result': 'reproduced' if found else 'NOT REPRODUCED',
    }


@pytest.mark.nightly
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize(
    'site', ['lumi-25.03', 'lumi-25.09', 'alps', 'frontier', 'perlmutter', 'setonix']
)
def test_unchanged_modules_run_on_two_nodes_and_on_one(site, tmp_path):
    here, images = (resolve_site(name)['images']['value'] for name in ('workstation', site))
    approaches = sorted(name for name in {*here} & {*images} if '/' not in name)
    this = install(site, tmp_path, approaches)
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


@pytest.fixture(scope='session')
def folder(slurm, tmp_path_factory):
    return tmp_path_factory.mktemp('slingshot')


@pytest.mark.nightly
@pytest.mark.parametrize('failure', FAILURES, ids=[failure.name for failure in FAILURES])
def test_public_failure_is_reproduced(failure, folder):
    found = reproduce(failure, folder)
    assert found['result'] == 'reproduced', found['message']
    assert found['check'] == failure.verdict
    assert not failure.why or found['why'] == failure.why


def main():
    """Print the table of all failures; the exit code is 1 if a failure was not reproduced."""
    assert_success(run([PROJECT / 'tools/workstation/slurm.sh', 'start']))
    with tempfile.TemporaryDirectory(prefix='slingshot-', dir='/tmp') as folder:
        count = 0
        for failure in FAILURES:
            row = reproduce(failure, Path(folder))
            print('\n'.join(f'{name:9} {value}' for name, value in row.items()), '\n')
            count += row['result'] == 'reproduced'
    print(f'{count} of {len(FAILURES)} failures reproduced over the simulated Slingshot')
    return count != len(FAILURES)


if __name__ == '__main__':
    sys.exit(main())
