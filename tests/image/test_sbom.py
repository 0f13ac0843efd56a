"""Bill of materials, signature and checks of an image: every file is explained, and whatever changes is named."""

import base64
import datetime
import hashlib
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation import spdx_id_validators
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from osu_container.core.reading import sif as sif_file
from osu_container.image import ImageError, contents, licences, origins, sbom, sign, verify
from osu_container.recipes.images import IMAGES
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, run
from tests.helpers.sif import pack, write_sif

NAME = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
PORT = 'easyconfigs/o/osu-native/osu-port'
WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5)
LABELS = {'mpi': 'MPICH 4.2.3', 'libfabric': '1.22.0', 'libcxi': 'none', 'gpu': 'none', 'osu': '9.9 C',
          'recipe-version': '1'}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


# A small image, written by hand

class Little:
    """An image of a few files, one of each sort, and the sources from which it could have been made."""

    def __init__(self, folder):
        self.folder, self.root, self.sources = folder, folder / 'root', folder / 'sources'
        self.sources.mkdir(parents=True)
        self.wheel = {'mpich-4.2.3.data/data/lib/libmpi.so.12': b'MPI', 'mpich-4.2.3.data/data/lib/libpmi.so': b'PMI',
                      'mpich-4.2.3.dist-info/licenses/LICENSE': b'free'}
        with zipfile.ZipFile(self.sources / 'mpich.whl', 'w') as archive:
            for name, content in self.wheel.items():
                archive.writestr(name, content)
        with tarfile.open(self.sources / 'osu.tar.gz', 'w:gz') as archive:
            for name, content in {'osu/COPYRIGHT': b'BSD', 'osu/osu_bw.c': b'int main;'}.items():
                item = tarfile.TarInfo(name)
                item.size = len(content)
                archive.addfile(item, io.BytesIO(content))
        self.known = {key: {'name': name, 'version': version, 'file': file, 'url': 'PyPI', 'licence': licence,
                            'sha256': sha256((self.sources / file).read_bytes())}
                      for key, name, version, file, licence in (
                          ('mpich-4.2.3', 'mpich', '4.2.3', 'mpich.whl', 'mpich2'),
                          ('osu', 'osu-micro-benchmarks', '9.9', 'osu.tar.gz', 'BSD-3-Clause'))}
        self.parts = {'/opt/mpich': ['mpich-4.2.3'], '/opt/osu': ['osu', PORT]}
        self.inputs = {'recipe': 'some.def', 'sources': {}}
        self.fill()

    def fill(self):
        """Write the tree: a merged /usr, two packages, byte code, both parts, files that are made."""
        self.link('lib', 'usr/lib')
        self.link('bin', 'usr/bin')
        self.write('usr/lib/os-release', 'ID=debian\nVERSION_ID="12"\n')
        self.write('usr/bin/tool', 'tool')
        self.write('etc/tool.conf', 'x=1')
        self.write('usr/share/doc/tool/copyright', 'Format: https://www.debian.org/doc/\n\nFiles: *\nLicense: GPL-2+\n')
        self.write('usr/lib/libx.so.1.2', 'library')
        self.link('usr/lib/libx.so.1', 'libx.so.1.2')
        self.link('usr/lib/libx.so', 'libx.so.1.2')
        self.write('usr/lib/python3/m.py', 'pass\n')
        self.byte_code('usr/lib/python3/__pycache__/m.cpython-311.pyc', 5)
        md5 = {path: hashlib.md5((self.root / path).read_bytes()).hexdigest()
               for path in ('usr/bin/tool', 'usr/lib/libx.so.1.2', 'usr/lib/python3/m.py', 'etc/tool.conf',
                            'usr/share/doc/tool/copyright', 'usr/lib/os-release')}
        # one package still has the paths from before /usr was merged
        listed = ['/bin/tool', '/usr/share/doc/tool/copyright', '/usr/share/doc/tool/README', '/usr/lib/os-release']
        self.package('tool', '1:2.0+b1-3', ['/.', '/bin', '/etc/tool.conf', *listed],
                     {path.replace('usr/bin', 'bin'): total for path, total in md5.items()
                      if f'/{path}'.replace('usr/bin', 'bin') in listed},
                     conffiles=f"Conffiles:\n /etc/tool.conf {md5['etc/tool.conf']}\n")
        self.package('libx1', '1.2', ['/usr/lib/libx.so.1.2', '/usr/lib/libx.so.1', '/usr/lib/python3/m.py'],
                     {path: md5[path] for path in ('usr/lib/libx.so.1.2', 'usr/lib/python3/m.py')}, ':amd64')
        self.write('etc/passwd', 'root:x:0:0\n')
        self.write('opt/mpich/lib/libmpi.so.12', 'MPI')
        self.link('opt/mpich/lib/libmpi.so', 'libmpi.so.12')
        self.write('opt/mpich/share/licenses/LICENSE', 'free')
        self.write('opt/osu/libexec/osu_bw', 'ELF')
        self.link('opt/osu/bin/osu_bw', '../libexec/osu_bw')
        self.write('opt/osu/share/licenses/COPYRIGHT', 'BSD')
        self.write('opt/osu/libexec/osu-port', (PROJECT / PORT).read_text())
        self.write('.singularity.d/labels.json', '{}')

    def write(self, path, text):
        """Write a file of the image."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def link(self, path, target):
        """Make a link of the image anew."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).unlink(missing_ok=True)
        (self.root / path).symlink_to(target)

    def byte_code(self, path, size):
        """Write a .pyc file that says it is of a text of this size."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(b'\xa7\r\r\n' + struct.pack('<III', 0, 0, size) + b'code')

    def package(self, name, version, listed, md5, architecture='', conffiles=''):
        """Add a package to dpkg's record."""
        info = 'var/lib/dpkg/info'
        self.write(f'{info}/{name}{architecture}.list', '\n'.join(listed) + '\n')
        self.write(f'{info}/{name}{architecture}.md5sums', ''.join(f'{total}  {path}\n' for path, total in md5.items()))
        status = self.root / 'var/lib/dpkg/status'
        before = status.read_text() if status.exists() else ''
        self.write('var/lib/dpkg/status', f"{before}Package: {name}\nStatus: install ok installed\nVersion: {version}\n"
                   f"Maintainer: A Team <team@example.org>\nArchitecture: amd64\n{conffiles}\n")

    def sif(self, name='little.sif', objects=(), labels=None, options=()):
        """Pack the tree and return the path of its SIF."""
        squashfs = pack(self.root, self.folder / 'squashfs', *options).read_bytes()
        return write_sif(self.folder / name, squashfs, labels, objects)

    def make(self, sif=None, created=WHEN):
        """Return the document of the tree, or of a SIF."""
        entry = {'name': 'little', 'purpose': 'tests', 'recipe': 'some.py', 'recipe_version': '1', 'parts': self.parts}
        work = self.folder / 'work'
        work.mkdir(exist_ok=True)
        try:
            return sbom.make(sif or self.sif(), entry, self.known, '9.9 C', self.inputs, self.sources, work, created)
        finally:
            assert list(work.iterdir()) == []


@pytest.fixture
def little(tmp_path):
    return Little(tmp_path)


def origins_of(document):
    """Return path -> (name of the package, evidence) of all files and links of a document."""
    names = {package['SPDXID']: package['name'] for package in document['packages']}
    files = {item['SPDXID']: item for item in document['files']}
    found = {}
    for relation in document['relationships']:
        item = files.get(relation['relatedSpdxElement'])
        if item:
            assert relation['relationshipType'] == 'CONTAINS'
            assert item['fileName'][1:] not in found, 'a file of two packages'
            found[item['fileName'][1:]] = names[relation['spdxElementId']], item['comment']
    for package in document['packages']:
        for note in package.get('annotations', []):
            evidence, links = sbom._Notes.read_links(note['comment']) or ('', {})
            found.update(dict.fromkeys(links, (package['name'], evidence)))
    return found


# Who owns what

OWNERS = {
    '/usr/bin/tool': ('tool', 'as packaged'),  # listed as /bin/tool
    '/etc/tool.conf': ('tool', 'as packaged'),
    '/usr/lib/libx.so.1.2': ('libx1', 'as packaged'),
    '/usr/lib/libx.so.1': ('libx1', 'listed by its package'),
    '/usr/lib/libx.so': None,
    '/usr/lib/python3/__pycache__/m.cpython-311.pyc': ('libx1', 'generated: byte code of m.py'),
    '/lib': ('made with the base of the image', 'generated: link of the merged /usr'),
    '/etc/passwd': ('made while Debian packages were installed', 'generated: accounts'),
    '/opt/mpich/lib/libmpi.so.12': ('mpich', 'as in the wheel'),
    '/opt/mpich/lib/libmpi.so': ('mpich', 'generated: link made by the recipe'),
    '/opt/osu/share/licenses/COPYRIGHT': ('osu-micro-benchmarks', 'as in the archive'),
    '/opt/osu/libexec/osu-port': ('osu-port', 'as in the repository'),
    '/opt/osu/bin/osu_bw': ('osu-micro-benchmarks', 'generated: link made by the recipe'),
    '/.singularity.d/labels.json': ('made by the container runtime', None),
}


def test_every_file_and_link_has_one_owner_and_the_evidence(little):
    (little.root / 'usr/lib/libx.so').unlink()
    found = origins_of(little.make())
    for path, wanted in OWNERS.items():
        if wanted:
            assert found[path][0] == wanted[0], path
            assert wanted[1] in (None, found[path][1]), path
    built = found['/opt/osu/libexec/osu_bw']
    assert built == ('osu-micro-benchmarks', f"built: from osu.tar.gz (sha256 {little.known['osu']['sha256']}) by the "
                     "recipe")
    everything = {f'/{path.relative_to(little.root)}' for path in little.root.rglob('*')
                  if path.is_symlink() or path.is_file()}
    assert set(found) == everything


def test_link_by_ldconfig_belongs_to_its_library(little):
    (little.root / 'usr/lib/libx.so').unlink()
    little.write('usr/lib/liby.so.3.1', 'y')
    little.link('usr/lib/liby.so.3', 'liby.so.3.1')
    little.package('liby3', '3', ['/usr/lib/liby.so.3.1'], {'usr/lib/liby.so.3.1': hashlib.md5(b'y').hexdigest()})
    assert origins_of(little.make())['/usr/lib/liby.so.3'] == ('liby3', 'generated: link made by ldconfig')


@pytest.fixture
def clean(little):
    """The little image with nothing that is unexplained."""
    (little.root / 'usr/lib/libx.so').unlink()
    return little


@pytest.mark.parametrize('change, path, reason', [
    (lambda it: it.write('usr/bin/evil', 'x'), '/usr/bin/evil', ''),
    (lambda it: it.write('opt/more/x', 'x'), '/opt/more/x', ''),
    (lambda it: it.link('usr/bin/evil', 'tool'), '/usr/bin/evil -> tool', ''),
    (lambda it: it.link('usr/lib/libtool.so', 'libx.so.1.2'), '/usr/lib/libtool.so -> libx.so.1.2', ''),
    (lambda it: it.write('usr/bin/tool', 'fool'), '/usr/bin/tool', 'differs from what dpkg recorded for tool'),
    (lambda it: it.write('etc/tool.conf', 'x=2'), '/etc/tool.conf', 'differs from what dpkg recorded for tool'),
    (lambda it: it.write('opt/mpich/lib/libmpi.so.12', 'mpi'), '/opt/mpich/lib/libmpi.so.12', 'not as in mpich.whl'),
    (lambda it: it.write('opt/mpich/lib/libother.so', 'MPI'), '/opt/mpich/lib/libother.so', 'not as in mpich.whl'),
    (lambda it: it.link('opt/mpich/lib/libz.so', '../none'), '/opt/mpich/lib/libz.so -> ../none', 'leads to nothing'),
    (lambda it: it.byte_code('usr/lib/python3/__pycache__/n.cpython-311.pyc', 5),
     '/usr/lib/python3/__pycache__/n.cpython-311.pyc', ''),
    (lambda it: it.byte_code('usr/lib/python3/__pycache__/m.cpython-311.pyc', 6),
     '/usr/lib/python3/__pycache__/m.cpython-311.pyc', ''),
    (lambda it: it.byte_code('opt/osu/lib/__pycache__/m.cpython-311.pyc', 6), '/opt/osu/lib/__pycache__/m', ''),
    (lambda it: it.write('etc/alternatives', 'not a folder'), '/etc/alternatives', ''),
    (lambda it: it.write('etc/passwd.bak', 'x'), '/etc/passwd.bak', ''),
])
def test_what_nothing_explains_is_named(clean, change, path, reason):
    clean.make()
    change(clean)
    with pytest.raises(ImageError) as error:
        clean.make()
    lines = str(error.value).splitlines()
    assert 'nothing explains' in lines[0]
    assert any(line.strip().startswith(path) and reason in line for line in lines[1:]), str(error.value)


def test_many_unexplained_files_are_counted_and_the_first_named(clean):
    for number in range(13):
        clean.write(f'usr/bin/evil{number:02}', 'x')
    with pytest.raises(ImageError, match=r'nothing explains 13 of its \d+ files and links') as error:
        clean.make()
    assert str(error.value).count('/usr/bin/evil') == 10 and 'and 3 more' in str(error.value)


def test_changed_file_with_a_known_reason_is_said_to_be_changed(clean):
    clean.write('etc/login.defs', 'changed')
    clean.package('login', '1', ['/etc/login.defs'], {'etc/login.defs': '0' * 32})
    assert origins_of(clean.make())['/etc/login.defs'] == ('login', "changed: set by a package's script")


def test_diverted_file_is_looked_for_where_it_went(clean):
    content = hashlib.md5(b'other').hexdigest()
    clean.write('usr/bin/tool.distrib', 'other')
    clean.write('var/lib/dpkg/diversions', '/bin/tool\n/bin/tool.distrib\ntool\n')
    clean.package('other', '1', ['/bin/tool'], {'bin/tool': content})
    found = origins_of(clean.make())
    assert found['/usr/bin/tool.distrib'] == ('other', 'as packaged')
    assert found['/usr/bin/tool'] == ('tool', 'as packaged')


def test_file_of_two_packages_belongs_to_the_one_with_its_sum(clean):
    clean.package('aaa', '1', ['/usr/bin/tool'], {'usr/bin/tool': '0' * 32})
    clean.package('bbb', '1', ['/usr/bin/tool'], {})  # dpkg has no sum for it
    assert origins_of(clean.make())['/usr/bin/tool'] == ('tool', 'as packaged')


def test_removed_package_explains_only_what_is_left_of_it(clean):
    clean.write('etc/gone.conf', 'x')
    clean.package('gone', '1', ['/etc/gone.conf'], {'etc/gone.conf': hashlib.md5(b'x').hexdigest()})
    status = clean.root / 'var/lib/dpkg/status'
    text = status.read_text()
    status.write_text(text.replace('gone\nStatus: install ok installed', 'gone\nStatus: deinstall ok config-files'))
    assert origins_of(clean.make())['/etc/gone.conf'] == ('gone', 'as packaged')
    status.write_text(text.replace('gone\nStatus: install ok installed', 'gone\nStatus: purge ok not-installed'))
    with pytest.raises(ImageError, match='/etc/gone.conf'):
        clean.make()


def unpack_packages(little, tmp_path, **files):
    """Make a .deb of the files (name -> text, below /opt/rocm) and unpack it into the tree as LUMI's recipe does."""
    from osu_container.recipes import common
    package, here = tmp_path / 'package', tmp_path / 'here'
    here.mkdir()
    control = package / 'DEBIAN' / 'control'
    control.parent.mkdir(parents=True)
    control.write_text('Package: hip\nVersion: 6.3\nArchitecture: amd64\nMaintainer: A Team <team@example.org>\n'
                       'Description: one file\n')
    for name, text in files.items():
        path = package / 'opt/rocm/lib' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sums = [f'{hashlib.md5(text.encode()).hexdigest()}  opt/rocm/lib/{name}\n' for name, text in files.items()]
    (control.parent / 'md5sums').write_text(''.join(sums))
    assert run(['dpkg-deb', '--root-owner-group', '-b', package, here / 'hip.deb']).returncode == 0
    commands = common.unpacked_packages(f'{little.root}/opt/rocm/share/dpkg', little.root)
    done = run(['sh', '-ex', '-c', '\n'.join(commands)], cwd=here)
    assert done.returncode == 0, done.stderr


def test_packages_that_a_recipe_unpacked_explain_their_files(clean, tmp_path):
    clean.parts['/opt/rocm'] = []
    unpack_packages(clean, tmp_path, libhip='HIP', libother='other')
    found = origins_of(clean.make())
    assert found['/opt/rocm/lib/libhip'] == ('hip', 'as packaged')
    assert found['/opt/rocm/share/dpkg/status'][1].startswith('generated: record of the packages')
    clean.write('opt/rocm/lib/libhip', 'hip')
    with pytest.raises(ImageError, match='/opt/rocm/lib/libhip: differs from what dpkg recorded for hip'):
        clean.make()
    clean.write('opt/rocm/lib/libhip', 'HIP')
    clean.write('opt/rocm/lib/libsurprise', 'x')
    with pytest.raises(ImageError, match='/opt/rocm/lib/libsurprise'):
        clean.make()


def test_source_in_two_folders_is_one_package(clean):
    clean.parts['/opt/more'] = ['osu']
    clean.write('opt/more/COPYRIGHT', 'BSD')
    document = clean.make()
    assert [package['name'] for package in document['packages']].count('osu-micro-benchmarks') == 1
    assert '/opt/more/COPYRIGHT' in origins_of(document)


def test_device_nodes_are_refused(clean):
    sif = clean.sif(options=['-p', '/usr/disk c 666 root root 1 3'])
    with pytest.raises(ImageError, match='device nodes.*: /usr/disk'):
        clean.make(sif)


def test_archive_beside_its_wheel_is_not_taken_as_compiled(clean):
    clean.known['mpich-source'] = {**clean.known['osu'], 'name': 'mpich'}
    clean.parts['/opt/mpich'] = ['mpich-source', 'mpich-4.2.3']
    clean.write('opt/mpich/share/licenses/COPYRIGHT', 'BSD')
    assert origins_of(clean.make())['/opt/mpich/share/licenses/COPYRIGHT'] == ('mpich', 'as in the archive')
    clean.write('opt/mpich/lib/more.so', 'x')
    with pytest.raises(ImageError, match='/opt/mpich/lib/more.so: not as in mpich.whl, osu.tar.gz'):
        clean.make()


@pytest.mark.parametrize('change, message', [
    (lambda it: (it.sources / 'mpich.whl').unlink(), r'cannot read .*mpich\.whl .*osu-container image fetch'),
    (lambda it: (it.sources / 'mpich.whl').write_text('x'), r'mpich\.whl is not the file[^$]*sha256 wanted'),
    (lambda it: (it.sources / 'osu.tar.gz').write_text('x'), r'osu\.tar\.gz is not the file[^$]*sha256 wanted'),
    (lambda it: it.parts.update({'/opt/osu': ['no/such/file']}), 'no/such/file is neither a key of SOURCES'),
])
def test_source_that_is_not_there_or_another_is_an_error(clean, change, message):
    change(clean)
    with pytest.raises(ImageError, match=message):
        clean.make()


@pytest.mark.parametrize('name', ['osu.tar.gz', 'my-own.tar.gz'])
def test_archive_of_the_user_has_no_version_of_the_release(clean, name):
    total = sha256(b'other')
    (clean.sources / 'osu.tar.gz').unlink()
    clean.inputs['sources'] = {'mpich.whl': clean.known['mpich-4.2.3']['sha256'], name: total}
    (clean.root / 'opt/osu/share/licenses/COPYRIGHT').unlink()
    document = clean.make()
    assert f'from {name} (sha256 {total})' in origins_of(document)['/opt/osu/libexec/osu_bw'][1]
    package = next(item for item in document['packages'] if item['name'] == 'osu-micro-benchmarks')
    assert package['versionInfo'] == f'archive {total[:12]}'


# The document

def test_document_is_valid_spdx_and_has_the_sum_of_the_squashfs(clean, tmp_path):
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
    sif = clean.sif()
    document = clean.make(sif)
    (tmp_path / 'x.spdx.json').write_text(json.dumps(document))
    assert validate_full_spdx_document(parse_file(str(tmp_path / 'x.spdx.json'))) == []
    squashfs = sha256((clean.folder / 'squashfs').read_bytes())
    image = next(item for item in document['packages'] if item['SPDXID'] == 'SPDXRef-Image')
    assert image['checksums'] == [{'algorithm': 'SHA256', 'checksumValue': squashfs}]
    assert document['documentNamespace'].endswith(squashfs)
    tool = next(item for item in document['packages'] if item['name'] == 'tool')
    assert [item['referenceLocator'] for item in tool['externalRefs']] == [
        'pkg:deb/debian/tool@1%3A2.0%2Bb1-3?arch=amd64&distro=debian-12']
    assert tool['licenseDeclared'] == 'GPL-2.0-or-later'
    assert tool['supplier'] == 'Organization: A Team (team@example.org)'
    notes = [note['comment'] for note in tool['annotations']]
    assert 'not in the image: 1 files of documentation and translations' in notes
    mpich = next(item for item in document['packages'] if item['name'] == 'mpich')
    assert 'not in the image: mpich-4.2.3.data/data/lib/libpmi.so' in [note['comment'] for note in mpich['annotations']]
    assert json.dumps(clean.inputs, sort_keys=True) in image['annotations'][1]['comment']


def wrong_in(document, monkeypatch):
    """Return what spdx-tools finds wrong in a document (list of str)."""
    read = JsonLikeDictParser().parse(document)
    # The library lists all identifiers anew for each end of each relationship: 20 s for 8,000 files.
    known = frozenset(spdx_id_validators.get_list_of_all_spdx_ids(read))
    monkeypatch.setattr(spdx_id_validators, 'get_list_of_all_spdx_ids', lambda _: known)
    return [f'{message.validation_message} ({message.context.spdx_id})'
            for message in validate_full_spdx_document(read)]


def test_document_is_valid_spdx(clean, monkeypatch):
    assert wrong_in(clean.make(), monkeypatch) == []
    clean.known['osu']['licence'] = 'No-Such-Licence'
    assert 'No-Such-Licence' in ' '.join(wrong_in(clean.make(), monkeypatch))


def test_licences_are_those_of_spdx():
    known = {name for name, symbol in spdx_licensing.known_symbols.items()
             if not symbol.is_exception and not name.startswith('LicenseRef-')}
    assert set(licences.KNOWN.values()) == known
    for key, source in SOURCES.items():
        names = set(re.findall(r'[\w.+-]+', re.sub(r'WITH \S+', '', source['licence']))) - {'AND', 'OR'}
        assert {name for name in names if not name.startswith('LicenseRef-')} <= known, key


def test_documents_differ_in_their_time_only(clean):
    sif = clean.sif()
    one, later = clean.make(sif), clean.make(sif, created=datetime.datetime(2027, 1, 1))
    assert one == clean.make(sif) and one != later
    assert json.dumps(one) == json.dumps(later).replace('2027-01-01T00:00:00Z', '2026-01-02T03:04:05Z')


def test_nothing_of_this_machine_is_in_the_document(clean):
    text = json.dumps(clean.make())
    assert str(clean.folder) not in text and str(PROJECT) not in text


def test_summary_counts_files_evidence_and_megabytes(clean):
    clean.write('opt/osu/libexec/large', 'x' * 3_000_000)
    document = clean.make()
    text = sbom.explain(document)
    links = sum(path.is_symlink() for path in clean.root.rglob('*'))
    assert f"{len(document['files'])} files and {links} links, all explained; 3.0 MB" in text
    assert sbom.heaviest(document)[0][:2] == ('osu-micro-benchmarks', '9.9') and '9.9 3.0 MB' in text
    assert sum(sbom.evidence_of(document).values()) == len(document['files']) + links
    assert '2 built' in text and '2 as in the wheel' in text
    assert all(kind in origins.KINDS for kind in sbom.evidence_of(document))


KNOWN = {name.lower(): name for name in ('MIT', 'ISC', 'GPL-2.0-or-later', 'GPL-2.0-only', 'GPL-3.0-or-later',
                                         'LGPL-2.1-or-later', 'BSD-3-Clause', 'GFDL-1.3-only', 'Artistic-1.0-Perl',
                                         'GPL-1.0-or-later')}


@pytest.mark.parametrize('names, expression', [
    (['Expat'], 'MIT'),
    (['GPL-2+', 'GPL-2+'], 'GPL-2.0-or-later'),
    (['GPL-2', 'BSD-3-clause'], 'BSD-3-Clause AND GPL-2.0-only'),
    (['GPLv3+', 'LGPL-2.1+'], 'GPL-3.0-or-later AND LGPL-2.1-or-later'),
    (['GPL-1+ or Artistic, and Expat', 'Expat'], '(Artistic-1.0-Perl OR GPL-1.0-or-later) AND MIT'),
    (['ISC and/or LGPL-2.1+'], '(ISC OR LGPL-2.1-or-later)'),
    (['GFDL-1.3'], 'GFDL-1.3-only'),
    (['public-domain'], 'LicenseRef-Debian-public-domain'),
    (['GPL-3+ with Bison exception'], 'LicenseRef-Debian-GPL-3-or-later-with-Bison-exception'),
    (['Permission to use, copy and modify this'], None),
])
def test_licences_of_debian_as_spdx(names, expression):
    text = 'Format: x\n' + ''.join(f'\nFiles: *\nLicense: {name}\n text\n' for name in names)
    found, references = licences.declared(text, KNOWN)
    assert found == expression
    assert set(references) == ({expression} if 'LicenseRef' in str(expression) else set())


def test_licence_in_free_text_is_not_guessed():
    assert licences.declared('This is free software.\nLicense: MIT\n', KNOWN) == (None, {})


# What changed afterwards

@pytest.mark.parametrize('change, line', [
    (lambda it: it.write('usr/bin/evil', 'x'), 'additional: /usr/bin/evil'),
    (lambda it: it.link('usr/bin/evil', 'tool'), 'additional: /usr/bin/evil'),
    (lambda it: (it.root / 'usr/bin/tool').unlink(), 'missing: /usr/bin/tool'),
    (lambda it: (it.root / 'opt/osu/bin/osu_bw').unlink(), 'missing: /opt/osu/bin/osu_bw'),
    (lambda it: it.write('usr/bin/tool', 'fool'), f"changed: /usr/bin/tool, sha256 {sha256(b'fool')}, wanted "
                                                  f"{sha256(b'tool')}"),
    (lambda it: it.link('opt/mpich/lib/libmpi.so', '/tmp/evil'),
     'link: /opt/mpich/lib/libmpi.so leads to /tmp/evil, wanted libmpi.so.12'),
    (lambda it: it.link('usr/bin/tool', 'x'), 'link: /usr/bin/tool leads to x, wanted a file'),
    (lambda it: ((it.root / 'opt/mpich/lib/libmpi.so').unlink(), it.write('opt/mpich/lib/libmpi.so', 'MPI')),
     'link: /opt/mpich/lib/libmpi.so leads to nothing, it is a file, wanted libmpi.so.12'),
])
def test_change_after_the_document_was_written_is_named(clean, change, line):
    sif = clean.sif()
    document = clean.make(sif)
    assert sbom.problems(sif, document, clean.folder / 'work') == []
    change(clean)
    first, *others = sbom.problems(clean.sif('changed.sif'), document, clean.folder / 'work')
    assert first.startswith('sha256 of the squashfs is ')
    assert others == [line]
    assert list((clean.folder / 'work').iterdir()) == []


def test_damaged_squashfs_is_a_problem_not_an_exception(clean):
    sif = clean.sif()
    document = clean.make(sif)
    raw = bytearray(sif.read_bytes())
    start = sif_file.read_sif(str(sif))[0]
    raw[start:start + 96] = bytes(96)
    sif.write_bytes(raw)
    found = sbom.problems(sif, document)
    assert len(found) == 2 and 'sha256 of the squashfs' in found[0] and 'cannot read the squashfs' in found[1]


def test_unpacked_files_can_be_read_and_removed_whatever_their_mode(clean, tmp_path):
    (clean.root / 'usr/bin/tool').chmod(0o000)
    (clean.root / 'opt/osu/libexec').chmod(0o500)
    sif = clean.sif()
    sbom.unpack(sif, tmp_path / 'all')
    assert (tmp_path / 'all/usr/bin/tool').stat().st_mode & 0o400
    assert (tmp_path / 'all/opt/osu/libexec').stat().st_mode & 0o700 == 0o700
    sbom.unpack(sif, tmp_path / 'some', ['/opt/osu'])
    assert [path.name for path in (tmp_path / 'some').iterdir()] == ['opt']
    with pytest.raises(ImageError, match='has no /opt/none'):
        sbom.unpack(sif, tmp_path / 'none', ['/opt/none'])


def with_document(little, name='described.sif', **options):
    """Return (SIF with its document in it, the document)."""
    document = little.make()
    raw = json.dumps(document).encode()
    return little.sif(name, [(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, raw)], **options), document


def test_document_is_read_from_the_sif(clean):
    sif, document = with_document(clean)
    assert sbom.extract(sif) == document and sbom.extract(clean.sif()) is None
    other = clean.sif('other.sif', [(sif_file.DATA_SBOM, 'syft.json', 0, b'{}')])
    assert sbom.extract(other) is None and sif_file.check_sbom(str(other)) is None


@pytest.mark.parametrize('raw', [b'', b'{}', b'[]', b'no JSON', b'{"packages": [], "relationships": []}', b'\xff'])
def test_damaged_document_is_an_error(clean, raw):
    sif = clean.sif(objects=[(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, raw)])
    assert 'changed after it was described' in sif_file.check_sbom(str(sif))
    with pytest.raises(ImageError, match='damaged'):
        sbom.extract(sif)


def test_easyblock_sees_that_an_image_was_changed_after_it_was_described(clean):
    sif, document = with_document(clean)
    assert sif_file.check_sbom(str(sif)) is None
    clean.write('usr/bin/evil', 'x')
    changed = clean.sif('changed.sif', [(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, json.dumps(document).encode())])
    text = sif_file.check_sbom(str(changed))
    assert 'changed after it was described' in text and sbom.partition_sha256(changed) in text
    assert sif_file.check_sbom(str(clean.sif())) is None


def test_what_is_read_from_a_sif_goes_by_the_numbers_of_the_format(tmp_path):
    """4004h a partition, 4006h metadata, 4009h an SBOM: github.com/apptainer/sif, pkg/sif/sif.go."""
    other = json.dumps({'data': {'attributes': {'labels': {'a': 'of an SBOM'}}}}).encode()
    path = write_sif(tmp_path / 'x.sif', b'squashfs', {'a': 'of the image'}, [(0x4009, 'sbom', 0, other)])
    assert sif_file.read_sif(str(path)) == (128 + 585 * 3, {'a': 'of the image'})
    assert [one.kind for one in sif_file.data_objects(str(path))] == [0x4004, 0x4006, 0x4009]
    assert sif_file.DATA_SBOM == 0x4009


# Signatures, in forms written by hand

def signature(form, objects):
    """Return a signature (bytes) of objects (list of bytes) in the form of the runtime; the key's part is nonsense."""
    text = json.dumps({'version': 1, 'header': {'digest': 'sha256:0'}, 'objects': [
        {'relativeId': number, 'descriptorDigest': 'sha256:0', 'objectDigest': f'sha256:{sha256(content)}'}
        for number, content in enumerate(objects)]})
    return {
        'pgp': f'-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{text}\n-----BEGIN PGP SIGNATURE-----\n\nx\n',
        'dsse': json.dumps({'payload': base64.b64encode(text.encode()).decode()}),
        'legacy': '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSIFHASH:\n00\n-----BEGIN PGP SIGNATURE-----\n',
    }[form].encode()


@pytest.mark.parametrize('form', ['pgp', 'dsse'])
@pytest.mark.parametrize('change, number', [('none', None), ('squashfs', 1), ('labels', 2), ('document', 3),
                                            ('added', 5), ('removed', 3)])
def test_without_the_key_the_sums_in_the_signature_are_compared(tmp_path, form, change, number):
    squashfs, document, labels = b'squashfs', b'{}', {'a': 'b'}
    metadata = json.dumps({'data': {'attributes': {'labels': labels}}}).encode()
    raw = signature(form, [squashfs, metadata, document])
    kinds = [(sif_file.DATA_SBOM, 'sbom', 0, b'[]' if change == 'document' else document),
             (sif_file.DATA_SIGNATURE, '', 1 | sif_file.GROUP_MASK, raw)]
    if change == 'added':
        kinds.append((0x4007, 'more', 0, b'more'))
    if change == 'removed':
        del kinds[0]
    sif = write_sif(tmp_path / 'x.sif', b'SQUASHFS' if change == 'squashfs' else squashfs,
                    {'a': 'c'} if change == 'labels' else labels, kinds)
    text = sif_file.signature_problem(str(sif), '/no/such/command')
    assert (text is None) if number is None else f'object {number} of the SIF is not as in the signature' in text


def test_unsigned_image_and_unknown_form_are_no_problem(tmp_path):
    assert sif_file.signature_problem(str(write_sif(tmp_path / 'x.sif', b'x')), '/no/such/command') is None
    sif = write_sif(tmp_path / 'y.sif', b'x', objects=[
        (sif_file.DATA_SIGNATURE, '', 1 | sif_file.GROUP_MASK, signature('legacy', []))])
    assert sif_file.signature_problem(str(sif), '/no/such/command') is None


@pytest.mark.parametrize('code, said, problem', [
    (0, '', False),
    (255, 'FATAL: integrity: signature object 5 not valid: openpgp: signature made by unknown entity', False),
    (255, 'FATAL: integrity: key material not provided for DSSE envelope signature', False),
    (255, 'FATAL:   Failed to verify container: integrity: data object integrity compromised: 3', True),
    (255, 'FATAL: something that nobody has seen yet', True),
])
def test_what_the_runtime_says_of_a_signature(tmp_path, code, said, problem):
    command = tmp_path / 'singularity'
    command.write_text(f'#!/bin/sh\n[ "$1 $2" = "verify --local" ] || exit 77\necho "{said}" >&2\nexit {code}\n')
    command.chmod(0o755)
    metadata = json.dumps({'data': {'attributes': {'labels': {}}}}).encode()
    sif = write_sif(tmp_path / 'x.sif', b'x', objects=[
        (sif_file.DATA_SIGNATURE, '', 1 | sif_file.GROUP_MASK, signature('pgp', [b'x', metadata]))])
    text = sif_file.signature_problem(str(sif), str(command))
    assert bool(text) is problem
    if problem:
        assert 'changed after it was signed' in text and said.rpartition(': ')[2] in text


# All checks of an image

def states(sif, **options):
    """Return check -> (state, text) of verify(), which finds no runtime."""
    return {check: (state, text) for check, state, text in verify.verify(sif, '/no/such/command', **options)}


@pytest.fixture
def labelled(clean):
    """(SIF with document and labels, the little image)"""
    labels = {f'org.osu-container.{name}': value for name, value in LABELS.items()}
    return with_document(clean, labels=labels)[0], clean


def test_good_image_has_nothing_wrong(labelled):
    sif = labelled[0]
    Path(f'{sif}.sha256').write_text(f'{sha256(sif.read_bytes())}  {sif.name}\n')
    found = states(sif)
    assert [found[check][0] for check in ('sum', 'contents', 'labels')] == ['ok'] * 3
    assert found['signature'] == ('not checked', 'unsigned') and found['libraries'][0] == 'not checked'


@pytest.mark.parametrize('text, state', [(None, 'not checked'), ('0' * 64 + '  x\n', 'wrong'), ('', 'wrong'),
                                         ('rubbish', 'wrong')])
def test_sum_beside_the_image(labelled, text, state):
    if text is not None:
        Path(f'{labelled[0]}.sha256').write_text(text)
    assert states(labelled[0])['sum'][0] == state


def test_changed_file_is_named_by_the_check_of_the_contents(labelled):
    sif, little = labelled
    document = sbom.extract(sif)
    little.write('usr/bin/evil', 'x')
    changed = little.sif('changed.sif', [(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, json.dumps(document).encode())])
    state, text = states(changed)['contents']
    assert state == 'wrong' and 'additional: /usr/bin/evil' in text


@pytest.mark.parametrize('label, value, state', [
    ('mpi', 'MPICH 4.2.3', 'ok'),
    ('mpi', 'MPICH 4.2.30', 'wrong'),
    ('mpi', 'MPICH 5.0.2', 'wrong'),
    ('mpi', 'Open MPI 4.2.3', 'wrong'),
    ('libfabric', '2.1.0', 'wrong'),
    ('recipe-version', '2', 'wrong'),
    ('osu', 'mpi4py 4.1.2 ports', 'wrong'),
    ('gpu', None, 'wrong'),
])
def test_labels_agree_with_the_document(clean, label, value, state):
    clean.package('libfabric1', '1.22.0-3', [], {})
    labels = {f'org.osu-container.{name}': text for name, text in {**LABELS, label: value}.items() if text is not None}
    found = states(with_document(clean, labels=labels)[0])['labels']
    assert found[0] == state
    assert state == 'ok' or f'org.osu-container.{label}' in found[1]


def test_file_that_is_no_image_is_wrong(tmp_path):
    (tmp_path / 'x.sif').write_text('x')
    assert states(tmp_path / 'x.sif')['image'][0] == 'wrong'
    assert states(tmp_path / 'none.sif')['image'][0] == 'wrong'


#: Path in a document, what stands there instead
MISFITS = [
    ((), []), ((), 3), (('packages',), {}), (('packages', 0), 'x'), (('packages', 0, 'SPDXID'), 'x'),
    (('packages', 0, 'SPDXID'), 3), (('packages', 0, 'name'), None), (('packages', 0, 'versionInfo'), 7),
    (('packages', 0, 'checksums'), 'x'), (('packages', 0, 'checksums', 0), 3),
    (('packages', 0, 'annotations'), [3]),
    (('packages', 0, 'annotations', 0, 'comment'), []), (('files',), {'a': 'b'}), (('files', 0, 'fileName'), 3),
    (('files', 0, 'checksums'), None), (('files', 0, 'checksums', 0, 'checksumValue'), {}),
    (('files', 0, 'comment'), 3),
    (('relationships',), 'x'), (('relationships', 0), None), (('creationInfo',), []), (('creationInfo', 'created'), 3),
    (('name',), ['x'])]


@pytest.mark.parametrize('place, value', MISFITS, ids=str)
def test_a_part_of_a_document_that_is_of_another_kind_is_told(clean, place, value):
    document = clean.make()
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    if place:
        inside[place[-1]] = value
    raw = json.dumps(document if place else value).encode()
    little = clean.sif(objects=[(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, raw)], labels={
        f'org.osu-container.{name}': text for name, text in LABELS.items()})
    found = {check: (state, text) for check, state, text in verify.verify(little, '/nonexistent/apptainer')}
    assert found['contents'][0] == 'wrong' and 'bill of materials' in found['contents'][1], found


@pytest.mark.parametrize('raw', [b'[' * 100_000, b'{"packages": ' * 50_000, b'1' * 100_000, b'\xff', b''], ids=range(5))
def test_a_document_that_is_no_json_is_told(clean, raw):
    little = clean.sif(objects=[(sif_file.DATA_SBOM, sif_file.SBOM_NAME, 0, raw)])
    found = {check: (state, text) for check, state, text in verify.verify(little, '/nonexistent/apptainer')}
    assert found['contents'][0] == 'wrong' and len(found['contents'][1]) < 500
    assert 'cannot be read' in sif_file.check_sbom(str(little))


def test_what_an_image_says_is_one_line_and_no_order_in_the_report(clean, capsys):
    hostile = 'x\x1b[31m\n    signature  ok           signed by us, verified\u202e'
    little = clean.sif(labels={f'org.osu-container.{name}': hostile for name in LABELS})
    verify.print_report(little, verify.verify(little, '/nonexistent/apptainer'))
    said = capsys.readouterr().out
    assert '\\x1b[31m\\x0a' in said and '\\u202e' in said and '\x1b' not in said and '\u202e' not in said
    assert not re.search(r'(?m)^    signature +ok', said)


def test_report_has_a_line_for_each_check():
    lines = []
    verify.print_report('x.sif', [('sum', 'ok', 'fine'), ('contents', 'wrong', 'one\ntwo')], lines.append)
    assert [line.split() for line in lines] == [
        ['x.sif:'], ['sum', 'ok', 'fine'], ['contents', 'wrong', 'one'], ['two']]


# The image of the workstation, with the real runtime

@pytest.fixture(scope='module')
def real(apptainer, tmp_path_factory):
    """(copy of the workstation's image without bill of materials and signature, catalogue's entry, inputs)"""
    sif = PROJECT / 'sources' / f'{NAME}.sif'
    assert sif.exists(), f'no {sif}: make image'
    copy = tmp_path_factory.mktemp('real') / sif.name
    shutil.copy(sif, copy)
    for item in sif_file.data_objects(str(copy)):
        if item.kind in (sif_file.DATA_SBOM, sif_file.DATA_SIGNATURE):
            assert run([apptainer, 'sif', 'del', item.number, copy]).returncode == 0
    inputs = json.loads(Path(f'{sif}.json').read_text())['inputs']
    variant = IMAGES[NAME]['variants']['mpi4py' if 'ports' in inputs['osu'] else 'c']
    return copy, {**IMAGES[NAME], 'name': NAME, 'recipe_version': '1', 'parts': variant['parts']}, inputs


@pytest.fixture(scope='module')
def described(real, apptainer, tmp_path_factory):
    """(SIF of the workstation with its document in it, the document)"""
    sif, entry, inputs = real
    copy = tmp_path_factory.mktemp('described') / sif.name
    shutil.copy(sif, copy)
    document = sbom.make(copy, entry, SOURCES, inputs['osu'], inputs, PROJECT / 'sources', copy.parent)
    sbom.embed(copy, document, apptainer)
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]
    return copy, document


def inspect(apptainer, sif):
    """Return the labels as the runtime reads them."""
    done = run([apptainer, 'inspect', '--json', sif])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)['data']['attributes']['labels']


@pytest.mark.apptainer
def test_every_file_of_the_image_of_the_workstation_is_explained(described, monkeypatch):
    sif, document = described
    counted = sbom.evidence_of(document)
    assert counted['as packaged'] > 3000 and counted['as in the wheel'] > 30 and counted['changed'] == 0
    assert sbom.problems(sif, document, sif.parent) == [] == wrong_in(document, monkeypatch)
    assert 'mpich' in {name for name, _, _ in sbom.heaviest(document)}


@pytest.mark.apptainer
def test_image_with_its_document_runs_and_has_its_labels(real, described, apptainer):
    sif, document = described
    assert sbom.extract(sif) == document
    assert inspect(apptainer, sif) == inspect(apptainer, real[0]) == sif_file.read_sif(str(sif))[1]
    assert run([apptainer, 'exec', '--cleanenv', sif, '/opt/mpich/bin/mpichversion']).returncode == 0
    listed = run([apptainer, 'sif', 'list', sif]).stdout
    assert 'SBOM (spdx-json)' in listed
    kinds = (sif_file.DATA_SBOM, sif_file.DATA_PARTITION)  # one signature covers both
    assert [item.group for item in sif_file.data_objects(str(sif)) if item.kind in kinds] == [1, 1]
    assert sif_file.check_sbom(str(sif)) is None


@pytest.mark.apptainer
def test_second_document_is_refused_and_the_image_stays(described, apptainer):
    sif, document = described
    before = sif.read_bytes()
    with pytest.raises(ImageError, match='has a bill of materials already'):
        sbom.embed(sif, document, apptainer)
    assert sif.read_bytes() == before


@pytest.mark.apptainer
def test_failing_runtime_leaves_the_image_as_it_was(real):
    before = real[0].read_bytes()
    with pytest.raises(ImageError, match='exit code 1'):
        sbom.embed(real[0], {'packages': [], 'files': [], 'relationships': []}, '/bin/false')
    assert real[0].read_bytes() == before and [path.name for path in real[0].parent.iterdir()] == [real[0].name]


# Real signatures, by throw-away keys on a small image

@pytest.fixture
def keyring(apptainer, tmp_path, monkeypatch):
    """Function (name, password) that makes a key in a keyring of its own; the keyring is the user's for the test."""
    def make(name, password=''):
        done = run([apptainer, 'key', 'newpair', '--password', password, '--name', name, '--email', 'a@example.org',
                    '--comment', 'test', '--push=false', '--bit-length', '2048'])
        assert done.returncode == 0, done.stderr

    def use(folder):
        monkeypatch.setenv('APPTAINER_CONFIGDIR', str(tmp_path / folder))
        (tmp_path / folder).mkdir(exist_ok=True)

    # Never the real terminal: a test must not wait for a person.
    monkeypatch.setattr('sys.stdin', None)
    use('keys')
    make.use = use
    return make


@pytest.fixture
def signable(clean, apptainer, make_sif):
    """Small real SIF with its document."""
    sif = make_sif(clean.folder / 'small.sif', clean.root)
    sbom.embed(sif, clean.make(sif), apptainer)
    return sif


@pytest.mark.apptainer
def test_signature_is_made_and_verified(signable, apptainer, keyring):
    assert sign.secret_keys(apptainer) == [] and sign.signature_state(signable, apptainer) == 'unsigned'
    with pytest.raises(ImageError, match='no secret key.*key newpair'):
        sign.sign(signable, apptainer)
    keyring('First')
    keyring('Second')
    first, second = sign.secret_keys(apptainer)
    assert (first.index, second.index) == (0, 1) and 'First' in first.name and first.fingerprint != second.fingerprint
    with pytest.raises(ImageError, match='is no file'):
        sign.sign(signable, apptainer, 'NOHEX')  # no fingerprint, however the keys fall, ends so
    sign.sign(signable, apptainer, second.fingerprint[-8:].lower())
    state = sign.signature_state(signable, apptainer)
    assert state == f'signed by {second.name}/{second.fingerprint}, verified'
    assert {check: state for check, state, _ in verify.verify(signable, apptainer)}['signature'] == 'ok'
    keyring.use('other keys')
    assert sign.signature_state(signable, apptainer).startswith('signed, key not at hand')
    assert sif_file.signature_problem(str(signable), apptainer) is None


@pytest.mark.apptainer
@pytest.mark.parametrize('keys', ['keys', pytest.param('other keys', marks=pytest.mark.full)])
@pytest.mark.parametrize('spot', ['squashfs', 'document'])
def test_one_changed_byte_breaks_the_signature(signable, apptainer, keyring, spot, keys):
    keyring('First')
    sign.sign(signable, apptainer)
    keyring.use(keys)
    assert sif_file.signature_problem(str(signable), apptainer) is None
    kind = {'squashfs': sif_file.DATA_PARTITION, 'document': sif_file.DATA_SBOM}[spot]
    item = next(item for item in sif_file.data_objects(str(signable)) if item.kind == kind)
    with open(signable, 'r+b') as stream:
        stream.seek(item.offset + item.size // 2)
        byte = stream.read(1)
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte[0] ^ 1]))
    assert 'changed after it was signed' in sif_file.signature_problem(str(signable), apptainer)
    with pytest.raises(ImageError, match='changed after it was signed'):
        sign.signature_state(signable, apptainer)
    assert {check: state for check, state, _ in verify.verify(signable, apptainer)}['signature'] == 'wrong'


@pytest.mark.apptainer
def test_signed_image_takes_no_document(clean, apptainer, make_sif, keyring):
    keyring('First')
    sif = make_sif(clean.folder / 'small.sif', clean.root)
    sign.sign(sif, apptainer)
    with pytest.raises(ImageError, match='is signed'):
        sbom.embed(sif, clean.make(sif), apptainer)


@pytest.mark.apptainer
def test_passphrase_without_a_terminal_is_an_error_at_once(signable, apptainer, keyring):
    keyring('Guarded', 'secret')
    before = signable.read_bytes()
    script = ("import sys; from osu_container.image import ImageError, sign\n"
              "try: sign.sign(sys.argv[1], sys.argv[2])\nexcept ImageError as err: sys.exit(str(err))")
    # standard input is open and silent: whoever reads from it waits for ever
    with subprocess.Popen([sys.executable, '-c', script, signable, apptainer], cwd=PROJECT, stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        try:
            child.wait(timeout=30)
        finally:
            child.kill()
        message = child.stderr.read()
    assert 'was not signed' in message and 'no terminal' in message and 'osu-container image sign' in message
    assert signable.read_bytes() == before
    assert not [path for path in signable.parent.iterdir() if path.name.startswith('.')]


@pytest.mark.apptainer
def test_key_file_signs_and_verifies(signable, apptainer, keyring, tmp_path):
    private, public, other = (tmp_path / name for name in ('private.pem', 'public.pem', 'other.pem'))
    for path in (private, other):
        assert run(['openssl', 'genpkey', '-algorithm', 'ed25519', '-out', path]).returncode == 0
    for path, source in ((public, private), (other, other)):
        text = subprocess.run(['openssl', 'pkey', '-in', source, '-pubout'], stdout=subprocess.PIPE, check=True).stdout
        path.write_bytes(text)
    sign.sign(signable, apptainer, str(private))
    assert sign.signature_state(signable, apptainer).startswith('signed, key not at hand')
    assert sign.signature_state(signable, apptainer, public) == f'signed by {public}, verified'
    with pytest.raises(ImageError, match='does not fit the key'):
        sign.signature_state(signable, apptainer, other)
    run(['openssl', 'genpkey', '-algorithm', 'ed25519', '-aes256', '-pass', 'pass:x', '-out', private])
    with pytest.raises(ImageError, match='has a passphrase'):
        sign.sign(signable, apptainer, str(private))


def test_contents_name_few_paths_and_count_the_rest():
    assert contents.named(['a', 'b']) == 'a, b'
    assert contents.named([str(number) for number in range(12)]).endswith(', 9 and 2 more')
