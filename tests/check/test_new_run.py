"""
Images that are not ours become modules by `osu-container new` and eb, run on two nodes, are
proved and measured.
"""

import json
import os
import re

import pytest

from osu_container.bench.results import run_files
from osu_container.bench.results.model import Case
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, run

#: Those that run on two nodes use the fixture slurm too
pytestmark = pytest.mark.system

LMP = 'lmp -in in.lj'
SRUN = 'srun -N2 -n2'


class Place:
    """A folder with the images, in which everything is typed, and an EasyBuild of its own."""

    def __init__(self, folder, apptainer):
        self.folder, self.apptainer = folder, apptainer
        (folder / 'in.lj').write_text(foreign_images.MELT)

    def image(self, name):
        """Put the image name (of foreign_images.IMAGES) into the folder."""
        link = self.folder / f'{name}.sif'
        if not link.exists():
            link.symlink_to(foreign_images.make(name, self.apptainer))
        return link.name

    def __call__(self, script, timeout=300, **variables):
        """Run bash in the folder, as a user has it after `. ./env.sh`."""
        environment = {
            'PATH': '/usr/local/bin:/usr/bin:/bin',
            'HOME': os.environ['HOME'],
            'LC_ALL': 'C.UTF-8',
            'EASYBUILD_PREFIX': str(self.folder / 'prefix'),
            **variables,
        }
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\ncd {self.folder}\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=timeout)

    def module(self, image, approach):
        """Install the module of an image with an approach; return its name."""
        sif = self.image(image)
        done = self(f'osu-container new {sif} --approach {approach} && eb {image}-{approach}.eb')
        assert done.returncode == 0, done
        return f'{image}/{approach}'

    def run_proof(self, module, command, folder):
        """Run a command on two nodes under `osu-container proof`; return (output, ranks)."""
        done = self(f'module load {module} && osu-container proof -o {folder} -- {SRUN} {command}')
        ranks = [
            json.loads(path.read_text())
            for path in sorted((self.folder / folder).glob('*/rank-*.json'))
        ]
        return done, ranks


@pytest.fixture(scope='module')
def place(tmp_path_factory, apptainer):
    return Place(tmp_path_factory.mktemp('new'), apptainer)


LOOP = r'Loop time of [\d.]+ on 2 procs for 200 steps with 4000 atoms'


@pytest.mark.system
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize(
    'image, approach, command, printed, libmpi',
    [
        ('lammps', 'hybrid', LMP, LOOP, ('MPICH', '4.2.3')),
        (
            'openmpi',
            'openmpi',
            'ring',
            r'ring of 2 ranks: [\d.]+ laps per second',
            ('Open MPI', '5.0.11'),
        ),
    ],
)
def test_foreign_image_runs_as_a_module_and_matches_approach(
    place, image, approach, command, printed, libmpi
):
    name = place.module(image, approach)
    done, ranks = place.run_proof(name, command, f'proof-{image}-{approach}')
    assert done.returncode == 0, done
    assert re.search(printed, done.stdout) and {rank['node'] for rank in ranks} == {
        'node1',
        'node2',
    }
    owner = ('image', 'host' if approach == 'hybrid' else 'image')
    for rank in ranks:
        assert rank['container'] and f'approach={approach} ' in rank['promise']
        found = rank['libraries']
        assert (found['libmpi']['family'], found['libmpi']['release']) == libmpi
        assert (found['libmpi']['where'], found['libfabric']['where']) == owner


def test_module_text_names_the_application_and_no_benchmark(place):
    name = place.module('lammps', 'hybrid')
    text = (place.folder / 'prefix' / 'modules' / 'all' / f'{name}.lua').read_text()
    own = re.sub(
        r'OSU_[A-Z_]+|osu-(explain|proof|gpu-bind|container bench|container proof|container [\d.]+)',
        '',
        text.replace(str(PROJECT), ''),
    )  # people clone it under its own name
    assert not re.search('osu|benchmark', own, re.I), own
    done = place(
        'module load lammps/hybrid; ls $CONTAINERROOT/bin; lammps-exec /bin/false; echo "code $?"'
    )
    assert {
        'lmp',
        'lammps-exec',
        'lammps-shell',
        'osu-explain',
        'osu-gpu-bind',
        'osu-proof',
    } <= set(done.stdout.split()) and 'code 1' in done.stdout


# ---- measuring


@pytest.mark.system
@pytest.mark.usefixtures('slurm')
def test_a_figure_that_the_command_prints_is_measured(place):
    name = place.module('openmpi', 'openmpi')
    done = place(
        f"osu-container bench --module {name} --run 'ring 1' --ranks 4 --repeats 1 -o laps --unit laps/s "
        r"--figure '([\d.]+) laps per second' --more-is-better"
    )
    assert done.returncode == 0, done
    (one,) = run_files.read_results(place.folder / 'laps').series
    assert one.case == Case(
        '$ ring 1', '', 2, 4, r'laps/s, more is better: ([\d.]+) laps per second'
    )
    assert one.case.unit == 'laps/s' and one.case.more_is_better
    printed = re.search(
        r'([\d.]+) laps per second',
        (place.folder / 'laps/raw/ring_1-2x2-openmpi-1.txt').read_text(),
    )
    assert one.values[0][1] == float(printed.group(1))
