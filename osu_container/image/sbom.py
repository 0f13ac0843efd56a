"""
The bill of materials of an image: an SPDX 2.3 document (JSON) that names every file, its sums and where it comes from.

It is written from the finished image and then put into the SIF beside its squashfs, whose sha256 it has. What the SPDX
format has no field for stands in annotations of the packages, in the forms that _Notes writes and reads again:
symbolic links, sizes, what an image was built from. A document is a dict, as json.load gives it, with the names of
SPDX's JSON form (github.com/spdx/spdx-spec v2.3, schemas/spdx-schema.json); the tests have spdx-tools check it, which
Python 3.6 does not have.
"""
import contextlib
import datetime
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from subprocess import PIPE
from urllib.parse import quote

from osu_container.core.reading.files import parse_json

from . import ImageError, NoRoomError, licences, origins
from .contents import named, plain_hash, sif_file, unpack, unpacked

__all__ = ['embed', 'explain', 'extract', 'heaviest', 'make', 'problems', 'unpack']

ROOT = 'SPDXRef-Image'
TOOL = 'Tool: osu-container'


# ---- writing ---------------------------------------------------------------------------------------------------------

def make(sif, entry, sources, programs, inputs, folder, work=None, created=None):
    """Return the document (dict) of an image.

    entry: of the catalogue, with name, purpose, recipe, recipe_version and parts (path in the image -> keys of sources,
    or paths in this repository). sources: SOURCES of versions.py. programs: what the benchmark programs are, as in the
    label. inputs: what the image was built from (plain values); of it 'sources' (file name -> sha256). folder: with the
    sources. work: folder for temporary files, None for the system's. created: time of the document (UTC), now if None.
    Raises ImageError if nothing explains a file, or a source is not there.
    """
    created = (created or datetime.datetime.now(datetime.timezone.utc)).strftime('%Y-%m-%dT%H:%M:%SZ')
    with unpacked(sif, work) as tree:
        owners = origins.explain(tree, entry['parts'], sources, inputs, folder)
        return _Writer(tree, owners, created).document(entry, programs, inputs)


class _Writer:
    """Makes the SPDX document of the owners of an image's files."""

    def __init__(self, tree, owners, created):
        """tree: contents.Tree. owners: list of origins.Owner. created: str, UTC as SPDX writes it."""
        self.tree, self.owners, self.created = tree, owners, created
        release = tree.text('/etc/os-release') or tree.text('/usr/lib/os-release')
        self.release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release, re.M))
        self.references, self.relationships = {}, []
        self.numbers = {path: f'SPDXRef-File-{number}' for number, path in enumerate(
            (path for path, item in tree.items.items() if item.target is None), 1)}

    def document(self, entry, programs, inputs):
        """Return the whole document (dict)."""
        total = partition_sha256(self.tree.sif)
        packages = [self.root(entry, programs, inputs, total), *map(self.package, self.owners)]
        files = [self.file(path, owner.found[path]) for path, owner in sorted(
            ((path, owner) for owner in self.owners for path in owner.found if path in self.numbers),
            key=lambda pair: pair[0])]
        self.relate('SPDXRef-DOCUMENT', 'DESCRIBES', ROOT)
        document = {
            'SPDXID': 'SPDXRef-DOCUMENT', 'creationInfo': {'created': self.created, 'creators': [TOOL]},
            'dataLicense': 'CC0-1.0', 'name': entry['name'], 'spdxVersion': 'SPDX-2.3',
            'documentNamespace': f"https://spdx.org/spdxdocs/{entry['name']}-{total}",
            'packages': packages, 'files': files, 'relationships': self.relationships}
        if self.references:
            document['hasExtractedLicensingInfos'] = [_reference(*item) for item in sorted(self.references.items())]
        return document

    def root(self, entry, programs, inputs, total):
        """Return the package that is the image itself; its sha256 is that of the squashfs."""
        return _filled({
            'SPDXID': ROOT, 'annotations': [self.note(_Notes.programs(programs)), self.note(_Notes.inputs(inputs))],
            'checksums': [_sum('SHA256', total)], 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
            'name': entry['name'], 'primaryPackagePurpose': 'CONTAINER', 'summary': entry['purpose'],
            'comment': f"The sha256 is that of the squashfs partition of the SIF. Recipe: {entry['recipe']}",
            'versionInfo': entry.get('recipe_version')})

    def package(self, owner):
        """Return the package of an owner, and note its relationships."""
        name = 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.]+', lambda found: found.group(0).replace('+', 'p').replace(
            '_', '-').replace('/', '-').replace(':', '-'), f'{owner.sort}-{owner.key}')
        self.relate(ROOT, 'CONTAINS', name)
        inside = [path for path in sorted(owner.found) if path in self.numbers]
        for path in inside:
            self.relate(name, 'CONTAINS', self.numbers[path])
        items = [self.tree.items[path] for path in owner.found]
        notes = [_Notes.size(sum(item.size for item in items), len(inside), len(items) - len(inside))]
        links = {}
        for path, evidence in sorted(owner.found.items()):
            if path not in self.numbers:
                links.setdefault(str(evidence), []).append((path, self.tree.items[path].target))
        notes += [_Notes.links(evidence, pairs) for evidence, pairs in sorted(links.items())]
        notes += filter(None, [_absent(owner)])
        # SPDX 2.3, 7.9: sha1 of the sums, in order
        code = plain_hash('sha1')
        code.update(''.join(sorted(self.tree.items[path].sha1 for path in inside)).encode())
        return _filled({
            'SPDXID': name, 'annotations': [self.note(text) for text in notes], 'filesAnalyzed': bool(inside),
            'name': owner.name, 'versionInfo': owner.version,
            'packageVerificationCode': {'packageVerificationCodeValue': code.hexdigest()} if inside else None,
            **getattr(self, '_' + owner.sort)(owner)})

    def _debian(self, owner):
        """Return the fields (dict) of a Debian package."""
        facts = owner.facts
        expression, references = licences.declared(self.tree.text(f'/usr/share/doc/{owner.name}/copyright'),
                                                   licences.KNOWN)
        for reference in references:
            self.references.setdefault(reference, (references[reference], set()))[1].add(owner.name)
        supplier = re.match(r'([^<]+?) *(?:<(.*)>)?$', facts['maintainer'])
        distribution = self.release.get('ID', 'debian')
        url = (f"pkg:deb/{distribution}/{quote(owner.name)}@{quote(owner.version, safe='.-~')}"
               f"?arch={facts['architecture']}&distro={distribution}-{self.release.get('VERSION_ID', '')}")
        return {
            'downloadLocation': 'NOASSERTION', 'licenseDeclared': expression or 'NOASSERTION',
            'primaryPackagePurpose': 'LIBRARY' if owner.name.startswith('lib') else 'APPLICATION',
            'supplier': supplier and f"Organization: {supplier.group(1)}" + (
                f" ({supplier.group(2)})" if supplier.group(2) else ''),
            'sourceInfo': f"source package {facts['source']}; status in dpkg: {facts['status']}",
            'externalRefs': [_package_url(url)]}

    def _source(self, owner):
        """Return the fields (dict) of a source of the recipe."""
        facts = owner.facts
        pypi = facts['url'] == 'PyPI'
        # The sum is in a comment: as the package's checksum it would be taken for that of the files in the image.
        return {
            'downloadLocation': 'NOASSERTION' if pypi else facts['url'],  # of PyPI the purl says it
            'packageFileName': facts['file'], 'licenseDeclared': facts['licence'] or 'NOASSERTION',
            'primaryPackagePurpose': 'LIBRARY', 'checksums': [_sum('SHA256', facts['sha256'])],
            'externalRefs': [_package_url(f"pkg:pypi/{quote(owner.name)}@{owner.version}"
                                          f"?file_name={quote(facts['file'])}")] if pypi else None,
            'comment': f"The sha256 is that of {facts['file']}, from which the files were taken or built"}

    def _repository(self, owner):
        """Return the fields (dict) of a file of this repository."""
        return {'downloadLocation': 'NOASSERTION', 'packageFileName': owner.facts['file'],
                'licenseDeclared': owner.facts['licence'], 'checksums': [_sum('SHA256', owner.facts['sha256'])],
                'comment': f"The file {owner.facts['file']} of the repository of the recipe"}

    def _made(self, owner):
        """Return the fields (dict) of a group of files that belong to no package."""
        return {'downloadLocation': 'NONE', 'primaryPackagePurpose': 'OTHER',
                'comment': "Files of no package; each says why it is there"}

    def file(self, path, evidence):
        """Return the SPDX file of a path."""
        item = self.tree.items[path]
        return {'SPDXID': self.numbers[path], 'fileName': f'.{path}', 'comment': str(evidence),
                'checksums': [_sum('SHA1', item.sha1), _sum('SHA256', item.sha256)]}

    def relate(self, one, how, other):
        """Add a relationship."""
        self.relationships.append({'spdxElementId': one, 'relatedSpdxElement': other, 'relationshipType': how})

    def note(self, text):
        """Return an annotation."""
        return {'annotationDate': self.created, 'annotationType': 'OTHER', 'annotator': TOOL, 'comment': text}


def _filled(fields):
    """Return the fields (dict) that have a value; SPDX leaves the others out."""
    return {name: value for name, value in fields.items() if value not in (None, '', [])}


def _sum(algorithm, value):
    """Return a checksum."""
    return {'algorithm': algorithm, 'checksumValue': value}


def _package_url(url):
    """Return the reference to a package in a registry, by its purl."""
    return {'referenceCategory': 'PACKAGE_MANAGER', 'referenceLocator': url, 'referenceType': 'purl'}


def _reference(reference, found):
    """Return the entry of a licence that SPDX does not list. found: (Debian's name, names of packages)."""
    name, packages = found
    return {'licenseId': reference, 'name': name,
            'extractedText': f"Licence that Debian calls {name!r}; its text in the image: " + ', '.join(
                f'/usr/share/doc/{package}/copyright' for package in sorted(packages))}


def _absent(owner):
    """Return the note about files of an owner that are not in the image, '' if there are none."""
    left_out = [path for path in owner.absent if origins.NOT_UNPACKED.match(path)]
    others = [path for path in owner.absent if path not in left_out]
    texts = [f"{len(left_out)} files of documentation and translations"] if left_out else []
    return "not in the image: " + ', '.join(texts + others) if owner.absent else ''


class _Notes:
    """Texts of annotations, and what they say when read again."""

    @staticmethod
    def size(total, files, links):
        """What a package weighs: bytes (unpacked), number of files and links."""
        return f'size: {total} bytes in {files} files and {links} links'

    @staticmethod
    def links(evidence, pairs):
        """Links of a package, for which SPDX has no element: pairs of (path, target)."""
        odd = [path for pair in pairs for path in pair if '\n' in path or ' -> ' in path]
        if odd:
            raise ImageError(f"links whose names cannot be written down, with ' -> ' or a line end: {named(odd)}")
        return '\n'.join([f'symbolic links, {evidence}', *(f'.{path} -> {target}' for path, target in pairs)])

    @staticmethod
    def programs(label):
        """Which benchmark programs are inside, as in the label."""
        return f'benchmark programs: {label}'

    @staticmethod
    def inputs(inputs):
        """What the image was built from."""
        return 'built from: ' + json.dumps(inputs, sort_keys=True)

    @staticmethod
    def read_size(text):
        """Return (bytes, files, links), None if the text is another note."""
        found = re.fullmatch(r'size: (\d{1,18}) bytes in (\d{1,18}) files and (\d{1,18}) links', text)
        return tuple(map(int, found.groups())) if found else None

    @staticmethod
    def read_links(text):
        """Return (evidence, path -> target), None if the text is another note."""
        first, *lines = text.split('\n')
        if not first.startswith('symbolic links, '):
            return None
        return first.partition(', ')[2], {line.partition(' -> ')[0][1:]: line.partition(' -> ')[2] for line in lines}


# ---- in the SIF ------------------------------------------------------------------------------------------------------

def partition_sha256(sif):
    """Return the sha256 (hex) of the squashfs partition of a SIF. Raises ImageError."""
    try:
        return sif_file.partition_sha256(str(sif))
    except sif_file.ImageError as err:
        raise ImageError(str(err)) from err


def extract(sif):
    """Return the document (dict) in a SIF, None if there is none. Raises ImageError if it is no JSON."""
    try:
        raw = sif_file.sbom_of(str(sif))
    except sif_file.ImageError as err:
        raise ImageError(str(err)) from err
    if raw is None:
        return None
    try:
        document = parse_json(raw)
        problem = _misfit(document, FORM, 'it')
    except ValueError as err:
        problem = str(err)
    if problem:
        raise ImageError(f"the bill of materials in {sif} is damaged, or no SPDX document: {problem}. Copy or build "
                         "the image again")
    return document


#: What is read of a document, and of which type it is: SPDX 2.3, schemas/spdx-schema.json. A key with ? may be missing
_SUMS = [{'algorithm': str, 'checksumValue': str}]
FORM = {
    'name': str, 'creationInfo': {'created': str},
    'packages': [{'SPDXID': re.compile('[^-]+-.'), 'name': str, 'versionInfo?': str, 'checksums?': _SUMS,
                  'annotations?': [{'comment': str}]}],
    'files': [{'fileName': str, 'comment?': str, 'checksums': _SUMS}],
    'relationships': [{'spdxElementId': str, 'relationshipType': str, 'relatedSpdxElement': str}],
}


def _misfit(value, form, where):
    """Return what of value (as of json.loads) is not as a form like FORM wants it (str), None if all is."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return f"{where} is no object"
        for key, inside in form.items():
            name = key.rstrip('?')
            if name not in value and name != key:
                continue
            if name not in value:
                return f"{where} has no {name}"
            found = _misfit(value[name], inside, name)
            if found:
                return found
        return None
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{where} is no list"
        return next(filter(None, (_misfit(one, form[0], f'an entry of {where}') for one in value)), None)
    if not isinstance(value, str):
        return f"{where} is no text"
    return f"{where} is {value[:80]!r}" if form is not str and not form.match(value) else None


def embed(sif, document, runtime):
    """Put a document (dict) into a SIF, in group 1 beside its squashfs, so that a signature covers both.

    runtime: path of apptainer or singularity. The SIF changes in one step, or not at all. Raises ImageError if it has
    a document or a signature already, or the runtime cannot.
    """
    sif = Path(sif)
    objects = sif_objects(sif)
    if any(item.kind == sif_file.DATA_SIGNATURE for item in objects):
        raise ImageError(f"{sif} is signed; a bill of materials that is put in now would break the signature. Build "
                         "the image again, or remove the signature (apptainer sif list, apptainer sif del)")
    if sif_file.sbom_of(str(sif)) is not None:
        raise ImageError(f"{sif} has a bill of materials already. Build the image again, or remove it (apptainer sif "
                         "list, apptainer sif del)")
    labels = sif_file.read_sif(str(sif))[1]
    with changed(sif) as new, tempfile.TemporaryDirectory(prefix='sbom-') as temporary:
        path = Path(temporary) / sif_file.SBOM_NAME
        path.write_text(json.dumps(document, separators=(',', ':')) + '\n')
        command = [str(runtime), 'sif', 'add', '--datatype', '9', '--sbomformat', 'spdx-json', '--groupid', '1',
                   '--filename', sif_file.SBOM_NAME, str(new), str(path)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=PIPE, universal_newlines=True)
        if done.returncode:
            raise ImageError(f"{runtime} sif add ended with exit code {done.returncode}: {done.stderr.strip()[-500:]}. "
                             "It must be Apptainer 1.0, SingularityCE 3.10 or newer")
        if extract(new) != document or sif_file.read_sif(str(new))[1] != labels:
            raise ImageError(f"{runtime} sif add wrote an image that does not read back. Is the disk full?")


def sif_objects(sif):
    """Return what a SIF holds (list of SifObject). Raises ImageError."""
    try:
        return sif_file.data_objects(str(sif))
    except sif_file.ImageError as err:
        raise ImageError(str(err)) from err


@contextlib.contextmanager
def changed(sif):
    """Give the path of a copy of a file that takes its place when the with statement ends without an error."""
    new = sif.with_name(f'.{sif.name}.{os.getpid()}')
    try:
        shutil.copy2(sif, new)
        yield new
        os.replace(new, sif)
    except OSError as err:
        raise ImageError(f"cannot change {sif}: {err.strerror}") from err
    finally:
        with contextlib.suppress(FileNotFoundError):
            new.unlink()


# ---- reading ---------------------------------------------------------------------------------------------------------

def sizes(document):
    """Return [(package (dict), bytes, files, links)] of all packages that have files or links, as in the document."""
    found = []
    for package in document['packages']:
        for note in package.get('annotations', []):
            size = _Notes.read_size(note['comment'])
            if size:
                found.append((package, *size))
    return found


def heaviest(document, count=10):
    """Return [(name, version, bytes)] of the packages that take most room unpacked, the largest first."""
    largest = sorted(sizes(document), key=lambda item: (-item[1], item[0]['name']))[:count]
    return [(package['name'], package.get('versionInfo', ''), size) for package, size, _, _ in largest]


def links_of(document):
    """Return path -> (target, evidence) of all symbolic links that the document names."""
    found = {}
    for package in document['packages']:
        for note in package.get('annotations', []):
            evidence, links = _Notes.read_links(note['comment']) or ('', {})
            found.update({path: (target, evidence) for path, target in links.items()})
    return found


def evidence_of(document):
    """Return kind of evidence -> number of files and links that have it."""
    texts = [item.get('comment', '') for item in document['files']]
    texts += [evidence for _, evidence in links_of(document).values()]
    return Counter(text.partition(':')[0] for text in texts)


_GROUPS = {'debian': 'Debian packages', 'source': 'sources of the recipe', 'repository': 'files of the repository',
           'made': 'belongs to no package'}


def explain(document):
    """Return a summary (str, a few lines): what an image consists of, how sure that is, and what is heaviest."""
    rows, found = {}, sizes(document)
    for package, size, files, links in found:
        sort = package['SPDXID'].split('-')[1]
        number, *numbers = rows.get(sort, (0, 0, 0, 0))
        rows[sort] = (number + 1, *(a + b for a, b in zip(numbers, (size, files, links))))
    total = [sum(column) for column in zip(*(item[1:] for item in found))] or [0, 0, 0]
    lines = [f"{document['name']}: {total[1]} files and {total[2]} links, all explained; "
             f"{total[0] / 1e6:.1f} MB unpacked",
             f"    {'':26}{'number':>7}{'files':>7}{'links':>7}{'MB':>8}"]
    for sort, title in _GROUPS.items():
        if sort in rows:
            number, size, files, links = rows[sort]
            lines.append(f"    {title:26}{number:7}{files:7}{links:7}{size / 1e6:8.1f}")
    counted = evidence_of(document)
    lines.append("    evidence: " + ', '.join(f"{counted[kind]} {kind}" for kind in origins.KINDS if counted[kind]))
    lines.append("    heaviest: " + ', '.join(f"{' '.join(filter(None, (name, version)))} {size / 1e6:.1f} MB"
                                              for name, version, size in heaviest(document, 6)))
    return '\n'.join(lines)


def problems(sif, document, work=None):
    """Return what of an image is not as its document says (list of str), [] if all is.

    Every file and link of the squashfs is compared, and the sum of the squashfs. work: folder for temporary files.
    """
    found = []
    root = next((package for package in document['packages'] if package['SPDXID'] == ROOT), {})
    wanted = [item['checksumValue'] for item in root.get('checksums', []) if item['algorithm'] == 'SHA256']
    try:
        total = partition_sha256(sif)
        if wanted != [total]:
            found.append(f"sha256 of the squashfs is {total}, in the bill of materials {', '.join(wanted) or 'none'}")
        with unpacked(sif, work) as tree:
            items = tree.items
    except NoRoomError:
        raise
    except ImageError as err:
        return [*found, str(err)]
    sums = {item['fileName'][1:]: next((each['checksumValue'] for each in item['checksums']
                                        if each['algorithm'] == 'SHA256'), None) for item in document['files']}
    links = {path: target for path, (target, _) in links_of(document).items()}
    differences = (_difference(path, items.get(path), sums, links) for path in sorted({*items, *sums, *links}))
    return found + [text for text in differences if text]


def _difference(path, item, sums, links):
    """
    Return how a path (str) of an image is not as its document says (str), None if it is.

    :param item: what is there, None if nothing is; sums: {path: sha256} and links: {path: target} of the document
    """
    if item is None:
        return f"missing: {path}"
    if path not in sums and path not in links:
        return f"additional: {path}"
    if item.target != links.get(path):
        return (f"link: {path} leads to {item.target or 'nothing, it is a file'}, "
                f"wanted {links.get(path) or 'a file'}")
    if item.target is None and item.sha256 != sums[path]:
        return f"changed: {path}, sha256 {item.sha256}, wanted {sums[path]}"
    return None
