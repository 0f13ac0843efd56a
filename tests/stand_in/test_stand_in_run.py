"""
The modules of every LUMI site, installed from a stand-in (tests/stand_in/README.md) and run on two
nodes.

What a rank has loaded is read from /proc/<pid>/maps by osu_container/proof/ while it runs.
"""

import contextlib
import json
import os
import re
from pathlib import Path

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import read_elf
from osu_container.proof.opened_network import SIMULATED_CXI
from osu_container.verdict.settings import can_launch_approach
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.elf_folder import LIBC, ElfFolder
from tests.helpers.machine import (
    PROJECT,
    StandIn,
    assert_success,
    fold_whitespace,
    mark_repeats_nightly,
    run,
)
from tests.stand_in.systems import HOSTS
from tests.stand_in.tree import REAL

pytestmark = pytest.mark.system

LUMI = [site for site in SITES if site.startswith('lumi')]
CONTAINERS = [
    name
    for name in APPROACHES
    if APPROACHES[name]['container']
    and all(can_launch_approach(APPROACHES[name], resolve_site(site)) for site in LUMI)
]
EACH = mark_repeats_nightly(
    [(site, approach) for site in sorted(LUMI, key='lumi-25.03'.__ne__) for approach in CONTAINERS],
    lambda site, approach: approach,
)
#: name in the site data -> name in a proof
IN_PROOF = {
    'libmpi_gtl_hsa': 'libmpi_gtl',
    **{name: name for name in ('libmpi', 'libfabric', 'libcxi', 'libhsa-runtime64')},
}


class Stack(StandIn):
    """The containers of one site."""

    @property
    def data(self):
        """The whole entry of the site."""
        return resolve_site(self.site)

    def install(self, *approaches, options=()):
        """Install the modules of approaches; return CompletedProcess."""
        return self.eb(
            *(f'osu-container-{approach}.eb' for approach in approaches),
            f'--sysroot={self.tree}',
            f'--try-amend=site={self.site}',
            *options,
        )

    def host(self, name):
        """Path in the tree of the library name of the site data, None if the site has none."""
        fact = self.data['libraries'].get(name)
        return f"{self.tree}{fact['value']}" if fact else None

    def prove(self, approach, folder, **variables):
        """Run osu_latency with a proof of each rank; return [proof (dict)] by rank."""
        script = (
            f'module load osu-container/{approach} && srun {{prove}} osu_latency -m 4096 -i 300 H H'
        )
        done, found = self.run_proofs(script, folder, **variables)
        assert re.search(r'^ *4096 +\d', done.stdout, re.M), done.stdout
        return found


@contextlib.contextmanager
def hide_paths(*paths):
    """Move files or folders of a tree away, and back at the end."""
    for path in paths:
        os.rename(path, f'{path}.hidden')
    try:
        yield
    finally:
        for path in paths:
            os.rename(f'{path}.hidden', path)


@pytest.fixture(scope='session')
def stack(slurm, tmp_path_factory):
    """
    Function site -> Stack with all containers installed; each is made once, and tests leave it
    as it is.
    """
    made = {}

    def make(site):
        if site not in made:
            made[site] = Stack(site, tmp_path_factory.mktemp(site))
            assert_success(made[site].install(*CONTAINERS))
        return made[site]

    return make


@pytest.fixture
def fresh_stack(tmp_path):
    """Stack of LUMI of this test alone, to be changed, with no module installed."""
    return Stack('lumi-25.03', tmp_path)


@pytest.mark.parametrize('site, approach', EACH)
def test_ranks_get_module_files_and_user_variables_win(site, approach, stack, tmp_path):
    entry, this = APPROACHES[approach], stack(site)
    from_host = entry['inject'] + entry['inject_if_known']
    loaded = this.shell(f'module load osu-container/{approach}; env').stdout
    defaults = dict(re.findall(r'^((?:FI|MPIR|MPICH|NCCL)_\w+)=(.*)$', loaded, re.M))
    provider = defaults['FI_PROVIDER']
    assert provider == ('tcp' if approach == 'pure' else 'cxi')
    users = {'FI_CXI_RDZV_THRESHOLD': '20000', 'NCCL_CROSS_NIC': '0'}
    for proof in this.prove(approach, tmp_path, **users):
        for name, value in {**defaults, **users}.items():
            assert proof['variables'][name] == value
        assert proof['network']['provider'] == provider.replace('cxi', SIMULATED_CXI)
        mapped = proof['libraries']
        for name, key in IN_PROOF.items():
            if name in from_host and this.host(name):
                assert mapped[key]['where'] == 'host', (name, mapped[key])
                assert mapped[key]['host_path'] == this.host(name)
            elif name in ('libmpi', 'libfabric') or (name, approach) == ('libcxi', 'opensource'):
                assert mapped[key]['where'] == 'image', (name, mapped[key])
            else:
                assert key not in mapped, (name, mapped[key])


@pytest.mark.parametrize(
    'approach, family', [('bind', ''), ('hybrid', 'family("containerbindings")')]
)
def test_other_container_gets_no_injection_and_ours_is_restored(
    approach, family, stack, make_sif, tmp_path
):
    """
    LUMI's singularity-AI-bindings and lumi-aif-singularity-bindings are of the family, its
    PyTorch is of none.
    """
    # the GTL needs libstdc++, which this image lacks: preloaded all the same, no program of it
    # would start
    image = ElfFolder(tmp_path / 'theirs').copy('/bin/sh').copy('/bin/true').copy(LIBC)
    image.write('/.singularity.d/env/90-environment.sh', 'export LD_LIBRARY_PATH=/opt/theirs\n')
    sif, ours = (
        make_sif(tmp_path / 'theirs.sif', image.root),
        f'module load osu-container/{approach}',
    )
    (tmp_path / 'theirs.lua').write_text(
        f'{family} setenv("SIF", "{sif}")\nsetenv("SINGULARITY_BIND", "{tmp_path}:/mnt")\n'
    )
    look = (
        f'singularity -q exec {sif} sh -c \'echo "$LD_LIBRARY_PATH,$LD_PRELOAD"; echo /opt/host-mpi* /mnt/*.sif\'; '
        'echo "$SIF $SINGULARITY_BIND"; '
    )
    done, proofs = stack('lumi-25.03').run_proofs(
        f'module use {tmp_path}; {ours}; {look} module load theirs; {look} module unload theirs; echo "$SIF"; '
        f'{ours if family else ":"}; srun {{prove}} osu_latency -m 4096 -i 300 H H >&2; {ours}; '
        'echo "$SIF $SINGULARITY_BIND"',
        tmp_path / 'proofs',
    )
    beside, before, whole, *alone, bound, gone, again = done.stdout.splitlines()
    assert (
        re.fullmatch('/opt/host-mpi/lib:(.*:)?/opt/theirs:[^:]*,', beside)
        and before == '/opt/host-mpi /mnt/*.sif'
    )
    assert alone == ['/opt/theirs:/.singularity.d/libs,', '/opt/host-mpi* /mnt/theirs.sif']
    assert (
        bound == f'{sif} {tmp_path}:/mnt' and gone == '' and again == whole
    )  # Lmod takes SIF away with theirs
    assert 'preload' not in done.stderr
    assert [proof['libraries']['libfabric']['where'] for proof in proofs] == ['host'] * 2
    for proof in proofs:
        assert (proof['libraries']['libmpi']['where'] == 'host') == (approach == 'bind')
        assert re.findall(r'[^/:]+(?=:|$)', proof['variables'].get('LD_PRELOAD', '')) == [
            'libhsa-runtime64.so.1',
            'libmpi_gtl_hsa.so.0',
        ] * (approach == 'bind')


#: Starts MPI with the host's libraries and no container
NATIVE = (
    'export LD_LIBRARY_PATH={0}/lib-abi-mpich:{1} FI_PROVIDER=cxi FI_LOG_LEVEL=warn; '
    'srun --mpi=pmi2 {2} -n2 python3 -c "import ctypes; ctypes.CDLL(\'libmpi.so.12\').MPI_Init(None, None)"'
)


def test_native_step_without_vni_is_refused(stack):
    this = stack('lumi-25.03')
    libraries = (Path(this.host(name)).parent for name in ('libfabric', 'libcxi', 'libpmi'))
    folders = [str(Path(this.host('libmpi')).parents[1]), ':'.join(map(str, libraries))]
    refused = this.shell(NATIVE.format(*folders, '-N1'))
    assert refused.returncode and 'cxip_gen_auth_key failed: -38' in refused.stderr
    for network in ('-N1 --network=single_node_vni', '-N2'):
        assert_success(this.shell(NATIVE.format(*folders, network)))


@pytest.mark.parametrize('approach', mark_repeats_nightly(['hybrid', 'opensource']))
def test_missing_kernel_configuration_disables_dmabuf(approach, stack):
    this = stack('lumi-25.03')
    script = f'module load osu-container/{approach}; osu-exec env; osu-exec true && echo ran'
    assert '\nFI_HMEM_ROCR_USE_DMABUF' not in this.shell(script).stdout
    with hide_paths(this.tree / 'boot'):
        without = this.shell(script).stdout
        assert '\nFI_HMEM_ROCR_USE_DMABUF=0\n' in without and 'ran' in without
        assert (
            '\nFI_HMEM_ROCR_USE_DMABUF=1\n'
            in this.shell(script, FI_HMEM_ROCR_USE_DMABUF='1').stdout
        )


def test_removed_host_library_is_reported_at_load(stack):
    this = stack('lumi-25.03')
    with hide_paths(this.host('libfabric'), this.host('libhsa-runtime64')):
        bind, hybrid = (
            fold_whitespace(this.shell(f'module load osu-container/{approach}').stderr)
            for approach in ('bind', 'hybrid')
        )
        for text in (bind, hybrid):
            assert this.host('libfabric') in text
            assert '-r --rebuild --try-amend=site=lumi-25.03' in text
        assert this.host('libhsa-runtime64') in bind and 'libhsa' not in hybrid
        opensource = this.shell(
            'module load osu-container/opensource && srun osu_latency -m 8 -i 10'
        )
        assert opensource.returncode == 0 and this.host('libfabric') not in opensource.stderr
        again = this.install('hybrid', options=['--sanity-check-only'])
        assert again.returncode != 0
        assert this.host('libfabric') in fold_whitespace(again.stdout)


@pytest.mark.usefixtures('slurm')
def test_replaced_libfabric_is_reported_and_a_new_path_fixes_it(fresh_stack, tmp_path):
    assert fresh_stack.install('hybrid').returncode == 0
    make = [PROJECT / 'tests/stand_in/make', fresh_stack.site, fresh_stack.tree]
    assert_success(run([*make, '--update', 'libfabric=2.3.1']))
    stale = fresh_stack.install('hybrid', options=['--rebuild'])
    assert stale.returncode != 0 and fresh_stack.host('libfabric') in fold_whitespace(stale.stdout)
    assert fresh_stack.eb.module('osu-container/hybrid').exists(), (
        'an error takes the old module away'
    )
    new = fresh_stack.data['libraries']['libfabric']['value'].replace('1.22.0', '2.3.1')
    local = (fresh_stack.tree / '_mpicontainer_local.py').read_text()
    fresh_stack.eb.write_local_file(
        local + f"OVERRIDES['libraries'] = {{'libfabric': _fact({new!r}, 'the update of today')}}\n"
    )
    assert_success(fresh_stack.install('hybrid', options=['--rebuild']))
    assert fresh_stack.shell('module load osu-container/hybrid').stderr == ''
    for proof in fresh_stack.prove('hybrid', tmp_path):
        assert proof['libraries']['libfabric']['host_path'] == f'{fresh_stack.tree}{new}'
        assert proof['libraries']['libfabric']['release'] == '2.5.1'


def test_the_site_is_recognised_by_host_name_and_loaded_stack(fresh_stack):
    fresh_stack.eb.environment.update(LUMI_STACK_VERSION='25.03', LUMI_STACK_PARTITION='container')
    # a host name of its own, in a namespace of its own
    eb = f'hostname uan02 && exec {fresh_stack.eb.command} osu-container-pure.eb --sysroot={fresh_stack.tree}'
    done = run(
        ['unshare', '--user', '--map-root-user', '--uts', 'bash', '-c', eb],
        env=fresh_stack.eb.environment,
    )
    assert_success(done)
    settings = fresh_stack.eb.prefix / 'software' / 'osu-container' / 'pure' / 'settings.json'
    assert json.loads(settings.read_text())['site'] == 'lumi-25.03'


#: Does what lumi-container-wrapper's own does (github.com/CSCfi/hpc-container-wrapper,
#: generate_wrappers.sh), in short: a copy of the image, wrappers that add binds to SINGULARITY_BIND
#: and start bash in the container, exit code 0 always.
WRAP_CONTAINER = r"""#!/bin/bash
while [[ $# -gt 1 ]]; do case $1 in -w) folder=$2 ;; --prefix) prefix=$2 ;; esac; shift 2; done
[[ -z ${BROKEN-} ]] || { echo "no space left"; exit 0; }
cp "$1" "$prefix/container.sif"
mkdir "$prefix/bin" "$prefix/_bin"
for name in $(singularity exec "$1" ls "$folder"); do
    ln -s "$folder/$name" "$prefix/_bin/$name"
    cat >"$prefix/bin/$name" <<'END'
#!/bin/bash
DIR=$(cd -P "$(dirname "$0")" && pwd)
export SINGULARITY_BIND="$SINGULARITY_BIND,/tmp,$DIR/../_bin:$DIR"
export SINGULARITYENV_LD_LIBRARY_PATH="$SINGULARITYENV_LD_LIBRARY_PATH:/.singularity.d/libs"
singularity --silent exec "$DIR/../container.sif" bash -c "exec -a $0 $DIR/${0##*/} $(printf " %q" "$@")"
END
    chmod +x "$prefix/bin/$name"
done
"""
WRAPPED = '--try-amend=wrapper=lumi-container-wrapper'


@pytest.fixture
def wrap_container(tmp_path):
    """Folder with a wrap-container."""
    path = tmp_path / 'tykky' / 'wrap-container'
    path.parent.mkdir()
    path.write_text(WRAP_CONTAINER)
    path.chmod(0o755)
    return path.parent


@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('approach', mark_repeats_nightly(['bind', 'hybrid']))
def test_container_wrapper_keeps_binds_paths_and_preloads(
    approach, fresh_stack, wrap_container, tmp_path
):
    fresh_stack.eb.environment['PATH'] = f"{wrap_container}:{fresh_stack.eb.environment['PATH']}"
    assert_success(fresh_stack.install(approach, options=[WRAPPED]))
    root = fresh_stack.eb.prefix / 'software' / 'osu-container' / approach
    assert os.readlink(root / 'wrappers' / 'container.sif').startswith('../')
    mine = {'APPTAINER_BIND': '/srv:/mnt/mine'}
    for proof in fresh_stack.prove(approach, tmp_path / 'proof', **mine):
        for name in APPROACHES[approach]['inject'] + APPROACHES[approach]['inject_if_known']:
            if name in IN_PROOF:
                assert proof['libraries'][IN_PROOF[name]]['host_path'] == fresh_stack.host(name)
        assert proof['variables'].get('LD_PRELOAD', '').count('gtl') == (approach == 'bind')


@pytest.mark.nightly
def test_failed_container_wrapper_is_reported_and_leaves_nothing(fresh_stack, wrap_container):
    done = fresh_stack.install('hybrid', options=[WRAPPED])
    assert done.returncode != 0
    assert 'wrap-container' in done.stdout and 'PATH' in done.stdout
    fresh_stack.eb.environment['PATH'] = f"{wrap_container}:{fresh_stack.eb.environment['PATH']}"
    fresh_stack.eb.environment['BROKEN'] = '1'
    done = fresh_stack.install('hybrid', options=[WRAPPED])
    assert done.returncode != 0 and 'osu_bw' in done.stdout and 'no space left' in done.stdout
    assert fresh_stack.eb.list_leftovers() == []
    done = fresh_stack.install('hybrid', options=['--try-amend=wrapper=tykky'])
    assert done.returncode != 0 and re.search(
        "'tykky'.* run-in-container", fold_whitespace(done.stdout)
    )


@pytest.mark.parametrize('facts_only', [False, True])
@pytest.mark.parametrize(
    'site', mark_repeats_nightly(['lumi-25.03', *sorted(set(HOSTS) - {'lumi-25.03'})])
)
def test_tree_libraries_are_complete_and_labelled_real_or_not(tmp_path, site, facts_only):
    tree, entry = tmp_path / 'tree', resolve_site(site)
    done = run(
        [PROJECT / 'tests/stand_in/make', site, tree, *(['--facts-only'] if facts_only else [])]
    )
    assert_success(done)
    paths = {
        name: Path(f"{tree}{fact['value']}") for name, fact in entry['libraries'].items() if fact
    }
    for name, path in paths.items():
        facts = read_elf(str(path))
        assert facts.soname == path.name
        assert facts_only or name != 'libcxi' or 'LIBCXI_1.8' in facts.verdef
        fake = f'stand-in, not the real {name}\0'.encode() in path.read_bytes()
        assert fake == (facts_only or name not in REAL), name
    injected = [str(path) for name, path in paths.items() if 'cuda' not in name]
    found, missing = collect_dependencies(
        injected,
        [f'{tree}{folder}' for folder in entry['library_folders']['value']],
        lambda soname: False,
    )
    assert (
        missing == []
        and [facts.path for facts in found.values() if not facts.path.startswith(f'{tree}/')] == []
    )
    assert [path for path in tree.rglob('*') if not path.exists()] == []


def test_every_site_has_a_tree_with_facts_of_the_site_only():
    assert set(HOSTS) == set(SITES) - {'workstation'}
    for name, host in HOSTS.items():
        assert host['gpu'] == resolve_site(name)['gpu']['value'], name
        if 'launcher' not in resolve_site(name):  # what srun has
            assert set(resolve_site(name)['pmi']['value'].values()) <= set(host['mpi']), name
