"""
Files for other repositories and container engines have the values of the data, install and run.
"""

import re
from pathlib import Path

import pytest

from osu_container.build.recipes.versions import SOURCES
from osu_container.verdict.settings import build_settings, list_host_libraries, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, EasyBuild, StandIn, assert_success, run_clean_shell
from tools.generate.described_facts import derive_facts

FOLDER = PROJECT / 'docs' / 'contributions'
(RECIPE,) = FOLDER.glob('OSU-Micro-Benchmarks-*.eb')
(BINDINGS,) = FOLDER.glob('singularity-bindings-*.eb')
#: File -> site and approach whose values it has
FILES = {
    RECIPE: ('lumi-25.03', 'hybrid'),
    BINDINGS: ('lumi-c-25.03', 'bind'),
    FOLDER / 'osu-container-openmpi.toml': ('alps', 'openmpi'),
    FOLDER / 'osu-openmpi.yaml': ('perlmutter', 'openmpi'),
    FOLDER / 'osu-hybrid.yaml': ('perlmutter', 'hybrid'),
}
TUNING = r'(?:FI|HSA|MPICH|MPIR|NCCL|OMPI_MCA|PMIX_MCA|SLURM)_\w+'


def read_expected_variables(path, settings):
    """Return {name: value} of the variables that a file sets."""
    if path == BINDINGS:
        return {}
    entries = settings.environment.variables + settings.environment.command_variables
    if path != RECIPE:
        # srun reads SLURM_NETWORK, before the engine starts the container.
        return {
            entry['name']: entry['value'] for entry in entries if entry['name'] != 'SLURM_NETWORK'
        }
    found = {entry['name']: entry['value'] for entry in entries if entry['evidence'] != 'untested'}
    for entry in settings.container.run_files:
        found.update(entry['otherwise'])
    return {'SLURM_MPI_TYPE': settings.stack.pmi, **found}


def parse_assigned_variables(text):
    """
    Return {name: value} of the variables that the text of a file sets in Lua, bash, TOML or
    YAML.
    """
    code = re.sub(r'^\s*(#|--).*', '', text, flags=re.M)
    return dict(re.findall(rf'''\b({TUNING})(?:", "|', '| = "|=|-)([^"'}}\n]*)''', code))


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name[:20])
def test_file_has_the_values_of_the_data(path):
    site, approach = FILES[path]
    entry, text = resolve_site(site), path.read_text()
    facts = derive_facts(site, f'osu-container/{approach}')
    settings = build_settings(resolve_approach(approach), entry, facts)
    assert parse_assigned_variables(text) == read_expected_variables(path, settings)
    expected = [library for _, library in list_host_libraries(resolve_approach(approach), entry)]
    expected += [source for source, target, _ in settings.container.binds if source == target]
    if path == RECIPE:
        expected += [facts['image']['file'], f"version = '{SOURCES['osu']['version']}'"]
    elif path != BINDINGS:
        expected += [f'--mpi={settings.stack.pmi}', 'export SLURM_NETWORK=single_node_vni']
    if path.suffix == '.toml':
        expected.append(Path(facts['image']['file']).stem)
    assert [value for value in expected if value not in text] == []


# ---- LUMI's recipes, without easyblocks and easyconfigs of this project

#: Replaces the function of LUMI's Lmod (LMOD/SitePackage.lua in LUMI-SoftwareStack 02f17317)
SITE_PACKAGE = '''
require("sandbox")
function create_container_vars(sif, name, installdir, bind)
    setenv("SIF", pathJoin(installdir, sif))
    setenv("SIF" .. name:upper():gsub("%-", "MIN"), pathJoin(installdir, sif))
    setenv("SINGULARITY_BIND", bind)
end
sandbox_registration { create_container_vars = create_container_vars }
'''
#: Replaces singularity: the image has one program
RUNTIME = '''#!/bin/bash
case "$*" in *' find '*) echo /opt/osu/libexec/osu_bw ;; *) echo "$*" ;; esac
'''
LDD = '''#!/bin/bash
printf '\\t%s => %s (0x0)\\n' libc.so.6 /lib64/libc.so.6 libjson-c.so.3 /usr/lib64/libjson-c.so.3
'''


def use_plain_easybuild(eb):
    """Return an EasyBuild that finds no file of this project."""
    for name in ('EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_ROBOT_PATHS', 'EASYBUILD_SYSROOT'):
        eb.environment.pop(name, None)


@pytest.mark.system
def test_container_recipe_installs_and_sets_its_variables(tmp_path):
    site, approach = FILES[RECIPE]
    facts = derive_facts(site, f'osu-container/{approach}')
    sif = facts['image']['file']
    for name, text in (
        ('bin/singularity', RUNTIME),
        ('bin/ldd', LDD),
        ('SitePackage.lua', SITE_PACKAGE),
        (sif, ''),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    eb = EasyBuild('newest', tmp_path / 'prefix')
    use_plain_easybuild(eb)
    variables = {
        'LMOD_PACKAGE_PATH': str(tmp_path),
        'PATH': f"{tmp_path}/bin:{eb.environment['PATH']}",
    }
    eb.environment.update(variables, EASYBUILD_SOURCEPATH=str(tmp_path))
    copy = tmp_path / RECIPE.name
    copy.write_text(
        RECIPE.read_text().replace('[ -e $library ]', 'true')
    )  # this machine lacks the libraries of LUMI
    done = eb(copy)
    assert_success(done)
    (root,) = (eb.prefix / 'software' / 'OSU-Micro-Benchmarks').glob('[!.]*')
    assert {
        str(path.relative_to(root))
        for name in ('lib', 'needed')
        for path in (root / name).rglob('*.so*')
        if path.is_symlink()
    } == {'lib/libfabric.so.1', 'lib/libcxi.so.1', 'needed/libjson-c.so.3/libjson-c.so.3'}
    done = run_clean_shell(
        f'module use {eb.prefix}/modules/all; export NCCL_SOCKET_IFNAME=mine\n'
        'module load OSU-Micro-Benchmarks; env; osu_bw D D',
        **variables,
    )
    found = dict(re.findall(r'^(\w+)=(.*)$', done.stdout, re.M))
    settings = build_settings(resolve_approach(approach), resolve_site(site), facts)
    expected = {
        name: value
        for name, value in read_expected_variables(RECIPE, settings).items()
        if name in parse_assigned_variables(RECIPE.read_text().partition('modluafooter')[2])
    }
    assert {name: found.get(name) for name in expected} == {
        **expected,
        'NCCL_SOCKET_IFNAME': 'mine',
    }
    assert f'{root}/host-mpi.sh:/.singularity.d/env/99-host-mpi.sh' in found[
        'SINGULARITY_BIND'
    ].split(',')
    assert done.stdout.endswith(f'exec {root / sif} osu_bw D D\n'), done


@pytest.mark.nightly
@pytest.mark.system
@pytest.mark.usefixtures('slurm')
def test_any_mpich_image_runs_over_singularity_bindings(tmp_path, apptainer):
    lumi = StandIn('lumi-25.03', tmp_path)
    path = tmp_path / BINDINGS.name
    machine = [
        folder
        for folder in ('/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu')
        if Path(folder).is_dir()
    ]
    path.write_text(
        re.sub(
            "'/(?=opt/cray|pfs|scratch|proj|flash|appl|var/spool|run/cxi|usr/lib64|lib64)",
            f"'{lumi.tree}/",
            BINDINGS.read_text().replace("'/lib64', '/usr/lib64'", f"'/usr/lib64', *{machine}"),
        )
    )
    use_plain_easybuild(lumi.eb)
    done = lumi.eb(path)
    assert_success(done)
    lacking = lumi.eb.prefix / 'software/singularity-bindings/25.03/needed/libinvented.so.9'
    lacking.mkdir()  # stands for a dependency that no image has
    image = foreign_images.make('debian', apptainer)
    script = f'module load singularity-bindings; srun --mpi=pmi2 -N2 -n2 {{prove}} singularity exec {image} '
    done, proofs = lumi.run_proofs(
        f'{script}ring-renamed 1', tmp_path / 'proofs', FI_PROVIDER='tcp'
    )
    assert 'ring of 2 ranks' in done.stdout
    for proof in proofs:
        origins = {name: library['where'] for name, library in proof['libraries'].items()}
        assert origins.pop('libucp') == 'image'  # the injected MPI needs it, and the image has it
        assert origins == dict.fromkeys(
            ('libmpi', 'libfabric', 'libcxi', 'libpmi', 'libpmi2'), 'host'
        )
        assert proof['variables']['LD_LIBRARY_PATH'].split(':')[2:] == [
            f'/opt/host-mpi/needed/{lacking.name}'
        ]
