"""Files that are damaged by chance: an answer or a plain error for each, in time and with little memory."""
import os
import resource
import shutil
import subprocess
import sys

import pytest

from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.sif import read_sif
from tests.helpers.damage import MEMORY
from tests.helpers.elf_folder import LIBC, LOADER, ElfFolder, good_host, good_image
from tests.helpers.machine import PROJECT, run
from tests.helpers.sif import pack, write_sif

SITE = 'lumi-25.03'
#: Each number is a mutant: `make test` judges the first 300, `make test-all` 5,000 others from OSU_SEED on
SEED = int(os.environ.get('OSU_SEED', '0'))


@pytest.fixture(scope='module')
def samples(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp('samples')
    image = good_image(ElfFolder(folder / 'image'), parts)
    host = good_host(ElfFolder(folder / 'host'), parts, site_entry(SITE))
    image.write('/.singularity.d/runscript', '#!/bin/sh\nOCI_ENTRYPOINT=\'"/opt/start"\'\nexec /opt/start "$@"\n')
    image.write('/opt/start', '#!/bin/sh\nexec "$@"\n').write('/etc/ld.so.conf', '/opt/mpich/lib\n').cache()
    for name, path in {'libmpi.so.12': image.on('/opt/mpich/lib/libmpi.so.12'), 'libc.so.6': LIBC, 'ld.so': LOADER,
                       'libfabric.so.1': image.on('/usr/lib/libfabric.so.1'),
                       'program': image.on('/opt/osu/bin/osu_latency'), 'ld.so.cache': image.on('/etc/ld.so.cache')
                       }.items():
        shutil.copy(path, folder / name)
    write_sif(folder / 'good.sif', pack(image.root, folder / 'squashfs').read_bytes(), {'label': 'text'})
    (folder / 'offset').write_text(str(read_sif(str(folder / 'good.sif'))[0]))
    (folder / 'options').write_text('\n'.join(['--site', SITE, '--sysroot', str(host), '--approach', 'hybrid']))
    return folder


@pytest.mark.parametrize('first, count', [(0, 300), pytest.param(1_000_000 + SEED, 5000, marks=pytest.mark.full)])
def test_mutants_end_in_an_answer_or_a_plain_error(samples, tmp_path, first, count):
    """No traceback, none longer than 30 s, all in one process of 500 MB, nothing left in the temporary folder."""
    done = subprocess.run([sys.executable, '-m', 'tests.helpers.damage', samples, str(first), str(count)], cwd=PROJECT,
                          env={**os.environ, 'TMPDIR': str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f'{count} judged\n'), done.stdout[-5000:] + done.stderr[-2000:]
    assert MEMORY <= 500_000_000


@pytest.mark.parametrize('number', [6, 8, 12])
def test_too_few_open_files_are_no_missing_unsquashfs(tmp_path, number):
    image = write_sif(tmp_path / 'x.sif', b'hsqs' + bytes(96))
    done = run([PROJECT / 'bin' / 'osu-container', 'check', image, '--site', 'workstation', '--sysroot', tmp_path],
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)))
    assert done.returncode == 1 and done.stderr.count('\n') == 1, done.stderr
    assert 'not on PATH' not in done.stderr and ('ulimit' in done.stderr or 'squashfs' in done.stderr)
