"""
The command osu-container new: which commands it finds, what it writes, what it says of images
that will not do.
"""

import ast
import os
import re

import pytest

from osu_container.check.new import easyconfig
from osu_container.check.public_hosts import find_host_description
from osu_container.data.approaches import APPROACHES
from osu_container.discover.host_facts import DescribedHost, format_description
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.libraries import compute_sha256
from osu_container.verdict import commands
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.elf_folder import ElfFolder, fill_good_host, fill_good_image, pack, write_sif
from tests.helpers.machine import PROJECT, fold_whitespace, run
from tests.helpers.verdict_cases import CPU

COMMAND = PROJECT / 'scripts' / 'osu-container'
HELPERS = PROJECT / 'scripts'
DIST = '/usr/lib/python3/dist-packages'


def run_new(*arguments, command=(COMMAND,)):
    """Run the command; return the CompletedProcess. It never ends in a traceback."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('EASYBUILD_', 'LUMI_'))
    }
    done = run([*command, 'new', *arguments], env=environment)
    assert 'Traceback' not in done.stderr, done
    return done


class Place:
    """
    An image with one program that is not ours, usr/bin/app, and a good host of a site without
    GPUs.
    """

    def __init__(self, folder, parts):
        self.folder, self.parts = folder, parts
        self.host = ElfFolder(folder / 'host')
        fill_good_host(self.host, parts, resolve_site(CPU))

    def image(self, name='image', **options):
        """Return an ElfFolder to be changed before it is packed. options: of fill_good_image()."""
        made = fill_good_image(
            ElfFolder(self.folder / f'{name}.root'),
            self.parts,
            **{'program': None, 'rocm': None, **options},
        )
        return made.copy(self.parts.program(options.get('mpi') or self.parts.mpi()), '/usr/bin/app')

    def sif(self, image, name='app.sif', labels=None):
        """Pack an ElfFolder; return the path of the SIF."""
        path = self.folder / name
        write_sif(path, pack(image.root, self.folder / f'{name}.squashfs').read_bytes(), labels)
        return path

    def run_new(self, sif, *options, **kwargs):
        """Run the command on a SIF for the site, with this host."""
        return run_new(sif, '--site', CPU, '--sysroot', self.host, *options, **kwargs)

    def read_refusal(self, sif, *options):
        """Return the message (str) of an image that will not do; nothing is written."""
        before = sorted(self.folder.iterdir())
        done = self.run_new(sif, *options)
        assert done.returncode == 1 and done.stderr.startswith('osu-container new: error: '), done
        assert sorted(self.folder.iterdir()) == before
        return fold_whitespace(done.stderr)


@pytest.fixture
def place(tmp_path, parts):
    return Place(tmp_path, parts)


def read_easyconfig(path):
    """Return the parameters (dict) of an easyconfig, which must be data and nothing else."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        assert isinstance(node, ast.Assign), ast.dump(node)
        found[node.targets[0].id] = (
            node.value.id if isinstance(node.value, ast.Name) else ast.literal_eval(node.value)
        )
    return found


# ---- an image that the site keeps for all


def test_site_image_is_named_by_path_and_its_folder_unchanged(place, tmp_path, monkeypatch):
    folder, here = place.folder / 'host/appl/local/laifs/containers', tmp_path / 'here'
    (folder / 'release').mkdir(parents=True)
    here.mkdir()
    place.sif(place.image()).rename(folder / 'release' / 'app-u24-20260225_144743.sif')
    (folder / 'app-latest.sif').symlink_to('release/app-u24-20260225_144743.sif')
    before = sorted(folder.rglob('*'))
    monkeypatch.chdir(here)
    done = place.run_new(folder / 'app-latest.sif', '--approach', 'hybrid')
    assert done.returncode == 0, done
    found = read_easyconfig(here / 'app-u24-hybrid.eb')
    assert found['image'] == str(folder / 'release' / 'app-u24-20260225_144743.sif')
    assert found['image_sha256'] == compute_sha256(found['image'])
    assert '--sourcepath' not in done.stdout
    assert sorted(folder.rglob('*')) == before


# ---- what is written


@pytest.mark.parametrize('approach', ['pure', 'bind'])
def test_easyconfig_is_written_beside_the_image(place, approach):
    sif = place.sif(
        place.image(),
        labels={
            'org.opencontainers.image.url': 'https://app.example',
            'org.opencontainers.image.title': 'An app',
        },
    )
    done = place.run_new(sif, '--approach', approach)
    assert done.returncode == 0, done
    found = read_easyconfig(place.folder / f'app-{approach}.eb')
    wanted = {
        'easyblock': 'MPIContainer',
        'name': 'app',
        'version': approach,
        'image': 'app.sif',
        'image_sha256': compute_sha256(sif),
        'programs': ['app'],
        'example': 'app',
        'homepage': 'https://app.example',
    }
    assert {name: found[name] for name in wanted} == wanted
    assert found['description'].startswith('An app') and all(
        (HELPERS / name).is_file() for name in found['commands']
    )
    # and it is an easyconfig as the others are
    ours = read_easyconfig(PROJECT / 'easyconfigs/o/osu-container/osu-container-hybrid.eb')
    assert set(found) ^ set(ours) == {
        'image',
        'image_sha256',
        'programs',
        'program_prefix',
        'gpu_example',
    }


def test_new_selects_the_approach_that_check_recommends(place):
    sif = place.sif(place.image())
    advice = run(
        [COMMAND, 'check', sif, '--program', '/usr/bin/app', '--site', CPU, '--sysroot', place.host]
    ).stdout
    recommendation, following = advice.splitlines()[-2:]
    assert (
        following.strip()
        == f'osu-container new {sif} --site {CPU} --sysroot {place.host} --command /usr/bin/app'
    )
    done = place.run_new(sif)
    (best,) = re.findall(r'^wrote: .*app-(\w+)\.eb$', done.stdout, re.M)
    assert (place.folder / f'app-{best}.eb').is_file() and recommendation.endswith(best)
    assert all(name in done.stdout for name, entry in APPROACHES.items() if entry['container'])


def test_an_example_begins_with_a_command_of_the_module(place):
    sif = place.sif(place.image())
    assert 'app, app-exec' in place.read_refusal(sif, '--example', 'osu_latency H H')
    assert (
        place.run_new(
            sif, '--approach', 'hybrid', '--example', 'osu-gpu-bind app -n 4', '--dry-run'
        ).returncode
        == 0
    )


@pytest.mark.parametrize('command', ['check', 'new'])
def test_remote_choice_of_a_slow_approach_is_reported(place, command):
    """
    The image's C library is older than the host's libraries may need: what is faster is unknown,
    TCP is known.
    """
    sif = place.sif(place.image(fabric=place.parts.fabric(providers=('tcp',), needed=())))
    done = run(
        [
            COMMAND,
            command,
            sif,
            '--site',
            'lumi-c-25.03',
            *(['--dry-run'] if command == 'new' else []),
        ]
    )
    said = fold_whitespace(done.stdout)
    assert re.search(r'\bpure works slowly\b', said, re.I), done
    assert re.search(
        rf'\bpure\b.* bind, hybrid\b.* osu-container check {sif.name} --start -- ', said
    )


def test_no_file_is_overwritten_without_force(place):
    sif = place.sif(place.image())
    path = place.folder / 'app-hybrid.eb'
    path.write_text('mine')
    assert (
        '--force' in place.read_refusal(sif, '--approach', 'hybrid') and path.read_text() == 'mine'
    )
    assert (
        place.run_new(sif, '--approach', 'hybrid', '--force').returncode == 0
        and path.read_text() != 'mine'
    )
    before = path.stat()
    assert place.run_new(sif, '--approach', 'hybrid').returncode == 0 and path.stat() == before, (
        'it would be the same'
    )


def test_eb_command_names_the_folder_of_a_distant_image(place):
    sif = place.sif(place.image())
    (place.folder / 'out').mkdir()
    done = place.run_new(
        sif, '--approach', 'pure', '--output', place.folder / 'out', '--name', 'other'
    )
    assert (
        place.folder / 'out' / 'other-pure.eb'
    ).is_file() and f'--sourcepath={place.folder}' in done.stdout
    assert f'{place.folder}/none' in place.read_refusal(sif, '--output', place.folder / 'none')


def test_an_approach_that_fails_is_written_by_force_only(place):
    image = place.image()
    image.resolve_path(f'/opt/mpich/lib/{place.parts.mpi().name}').unlink()
    image.copy(place.parts.mpi(needs=8), '/opt/mpich/lib/libmpi.so.12')
    sif = place.sif(image)
    message = place.read_refusal(sif, '--approach', 'hybrid')
    assert 'FABRIC_1.8' in message and '--force' in message
    done = place.run_new(sif, '--approach', 'hybrid', '--force')
    assert done.returncode == 0 and re.search(r'^ +eb \S+ .*--force$', done.stdout, re.M)


# ---- names


@pytest.mark.parametrize(
    'file, name',
    [
        ('lammps.sif', 'lammps'),
        ('my-app-v1.2.3-cuda.sif', 'my-app'),
        ('app:1.0.sif', 'app'),
        ('_x.sif', ''),
    ],
)
def test_module_name_is_the_file_name(file, name):
    assert easyconfig.derive_module_name('/some/' + file) == name


# ---- commands


def find_commands(image):
    """Return {name: Command} of the commands of an ElfFolder."""
    with Image(str(image.root), '') as opened:
        return {one.name: one for one in commands.find_commands(opened)}


@pytest.mark.parametrize('soname', MPI_FAMILIES)
def test_programs_that_link_any_mpi_are_found(place, soname):
    image = (
        place.image().program('/usr/bin/other', [soname]).program('/usr/bin/plain', ['libc.so.6'])
    )
    assert {name: one.soname for name, one in find_commands(image).items()} == {
        'app': 'libmpi.so.12',
        'other': soname,
    }


def test_commands_are_programs_on_the_image_path(place):
    image = place.image(environment={'PATH': '/opt/app/bin:/usr/bin'}).program(
        '/opt/app/bin/tool', ['libmpi.so.12']
    )
    image.program('/opt/elsewhere/hidden', ['libmpi.so.12'])
    assert set(find_commands(image)) == {'app', 'tool'}


def test_mpi_tools_and_reserved_names_are_no_commands(place):
    image = place.image()
    for tool in (
        'mpirun mpiexec.hydra hydra_pmi_proxy mpichversion ompi_info '
        'prterun mpif90.openmpi osu-explain x-exec'
    ).split():
        image.program(f'/usr/bin/{tool}', ['libmpi.so.12'])
    assert set(find_commands(image)) == {'app'}


@pytest.mark.parametrize(
    'module, needed, why',
    [
        ('def main():\n    from mpi4py import MPI\n', [], r'\bthing\b.*\bmpi4py\b'),
        ('# mpi4py is not used\n', [], None),
        ('', ['libmpi.so.12'], r'\blibthing.so\b.*\blibmpi.so.12\b'),
    ],
)
def test_console_scripts_of_mpi_python_packages_are_found(place, module, needed, why):
    image = place.image().library(f'{DIST}/thing_libs/libthing.so', needed)
    image.write(f'{DIST}/thing.py', module)
    image.write('/usr/bin/run', '#!/usr/bin/python3\nimport sys\nfrom thing import main\n')
    image.resolve_path('/usr/bin/run').chmod(0o755)
    command = find_commands(image).get('run')
    assert re.search(str(why), str(command and command.mpi_usage))


def test_a_script_that_imports_mpi4py_is_found(place):
    image = place.image().write(
        '/usr/bin/script', '#!/usr/bin/env python3\nfrom mpi4py import MPI\n'
    )
    image.resolve_path('/usr/bin/script').chmod(0o755)
    assert 'mpi4py' in find_commands(image)['script'].mpi_usage


def test_a_label_names_the_commands(place):
    image = place.image().program('/usr/bin/second', ['libmpi.so.12'])
    done = place.run_new(
        place.sif(image, labels={commands.LABEL: 'second'}), '--approach', 'hybrid'
    )
    assert done.returncode == 0 and read_easyconfig(place.folder / 'app-hybrid.eb')['programs'] == [
        'second'
    ]


# ---- images that will not do


def test_image_without_an_mpi_program_is_refused(place):
    image = fill_good_image(ElfFolder(place.folder / 'empty.root'), place.parts, program=None)
    message = place.read_refusal(place.sif(image))
    assert 'PATH' in message and '--command' in message


# ---- away from the system


def test_remote_site_description_decides_and_is_reported(place):
    """
    None of LUMI's paths is on this machine. With a C library that is old enough there, hybrid is
    what runs.
    """
    sif = place.sif(place.image(fabric=place.parts.fabric(providers=('tcp',), needed=())))
    done = run_new(sif, '--site', CPU, '--dry-run')
    assert done.returncode == 1 and '--approach' in done.stderr, 'pure is slow, others are unknown'
    data = find_host_description(resolve_site(CPU))
    assert DescribedHost(data).find_date_range()[1] in done.stdout
    data['glibc'] = dict(data['glibc'], value='2.17')
    facts = place.folder / 'facts.json'
    facts.write_text(format_description(data))
    done = run_new(sif, '--site', CPU, '--facts', facts)
    assert done.returncode == 0, done
    assert re.search('untested.* host.libfabric', fold_whitespace(done.stdout))
    assert (place.folder / 'app-hybrid.eb').exists() and f'--try-amend=site={CPU}' in done.stdout


def test_every_named_command_must_fit_the_approach(place):
    mpi, options = place.parts.mpi(), ['-Wl,--disable-new-dtags,-rpath,/opt/mpich/lib']
    image = place.image().copy(place.parts.program(mpi, options=options), '/usr/bin/second')
    arguments = ('--approach', 'bind', '--command', 'app', '--command', 'second')
    message = place.read_refusal(place.sif(image), *arguments)
    assert 'second' in message and 'DT_RPATH' in message
    assert place.run_new(place.folder / 'app.sif', *arguments[:4]).returncode == 0


# ---- names and texts of an image whose maker wishes harm


def test_program_named_like_a_host_command_must_be_requested(place):
    name = 'srun'
    sif = place.sif(place.image().program(f'/usr/bin/{name}', ['libmpi.so.12']))
    done = place.run_new(sif, '--approach', 'pure')
    assert re.search(rf'warning: .*\b{name}\b.*--command', fold_whitespace(done.stdout))
    assert read_easyconfig(place.folder / 'app-pure.eb')['programs'] == ['app']
    done = place.run_new(
        sif, '--approach', 'pure', '--force', '--command', 'app', '--command', name
    )
    assert read_easyconfig(place.folder / 'app-pure.eb')['programs'] == ['app', name]
    assert (
        re.search(rf'warning: .*\b{name}\b', fold_whitespace(done.stdout))
        and '--command' not in done.stdout
    )
