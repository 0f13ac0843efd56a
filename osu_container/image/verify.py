"""Whether an image is what it says: its sum, its bill of materials, its labels and its signature, each by its own."""
import re
from pathlib import Path

from osu_container.core.installing.image_build import wanted_sha256
from osu_container.core.reading import libraries as versions
from osu_container.core.reading.image import MPI_FAMILIES, Image
from osu_container.core.writing import shell
from osu_container.core.writing.terminal import one_line

from . import ImageError, NoRoomError, sbom, sign
from .contents import named, sif_file

OK, NOT_CHECKED, WRONG = 'ok', 'not checked', 'wrong'

PREFIX = 'org.osu-container.'
#: Labels that every image of ours has (osu_container/recipes/common.py)
LABELS = ('mpi', 'libfabric', 'libcxi', 'gpu', 'osu', 'recipe-version')

#: Names of packages, sources or Debian's, that are an MPI library, and how labels call it
_MPI = ((r'mpich|libmpich12(t64)?', 'MPICH'), (r'openmpi|libopenmpi\d+(t64)?', 'Open MPI'), ('mvapich', 'MVAPICH'))


def verify(path, runtime, work=None, key=None):
    """Return [(check, 'ok', 'not checked' or 'wrong', text)] of an image.

    path: SIF. runtime: path of apptainer or singularity. work: folder for temporary files. key: public key (PEM) of a
    signature that was made with a key file. What cannot be read is wrong; NoRoomError is raised where nothing can be
    said of the image, as there is no room to look at it.
    """
    path = Path(path)
    found = [answer('sum', check_sum, path)]
    try:
        labels = sif_file.read_sif(str(path))[1]
    except sif_file.ImageError as err:
        return [*found, ('image', WRONG, str(err))]
    try:
        document = sbom.extract(path)
        contents = answer('contents', _contents, path, document, work)
    except ImageError as err:
        document, contents = None, ('contents', WRONG, str(err))
    return [*found, contents,
            answer('labels', _labels, labels, document),
            answer('libraries', _libraries, path, labels),
            answer('signature', check_signature, path, runtime, key)]


def print_report(path, checks, write=print):
    """Print what verify() found of an image, one check a line. write: function that takes a line."""
    write(f"{one_line(path)}:")
    for check, state, text in checks:
        first, *others = map(one_line, text.split('\n'))
        write(f"    {check:10} {state:12} {first}")
        for line in others:
            write(f"    {'':23} {line}")


def answer(check, function, *arguments):
    """Return (check, state, text) of a check; an ImageError is what is wrong."""
    try:
        return (check, *function(*arguments))
    except (NoRoomError, sif_file.NoRoomError) as err:  # it is not the image that is wrong
        raise NoRoomError(str(err)) from err
    except (ImageError, sif_file.ImageError) as err:
        return check, WRONG, one_line(err)


def _lines(texts):
    """Return texts (list of str) as lines: none of what an image says in them is taken for another line."""
    return '\n'.join(map(one_line, texts))


def check_sum(path):
    """Compare an image with the file beside it that has its sha256."""
    beside = Path(f'{path}.sha256')
    wanted = wanted_sha256(str(beside))
    if wanted is None and not beside.exists():
        return NOT_CHECKED, f"no {beside.name} beside it"
    if wanted is None:
        return WRONG, (f"{beside.name} is empty. To make it again: sha256sum {shell.path(path.name)} >"
                       f"{shell.path(beside.name)}")
    try:
        found = versions.sha256_of(path)
    except OSError as err:
        return WRONG, f"cannot read the image: {err.strerror}"
    if found != wanted:
        return WRONG, f"sha256 is {found}, {beside.name} says {wanted}. Copy or build the image again"
    return OK, f"sha256 {found}, as in {beside.name}"


def _contents(path, document, work):
    """Compare every file of an image with its bill of materials."""
    if document is None:
        return NOT_CHECKED, f"no bill of materials in it ({sif_file.SBOM_NAME}); our builds put one in"
    found = sbom.problems(path, document, work)
    if found:
        more = [f"and {len(found) - 10} more"] if len(found) > 10 else []
        return WRONG, _lines([f"{len(found)} differences to its bill of materials:", *found[:10], *more])
    created = one_line(document['creationInfo']['created'])
    return OK, (f"{len(document['files'])} files and {len(sbom.links_of(document))} links are as in the bill of "
                f"materials of {created}")


def _labels(labels, document):
    """Compare the labels of an image with its bill of materials."""
    missing = [PREFIX + name for name in LABELS if PREFIX + name not in labels]
    if len(missing) == len(LABELS):
        return NOT_CHECKED, f"no label {PREFIX}*: not built by our recipes"
    if missing:
        return WRONG, f"labels missing: {named(missing)}"
    said = one_line(', '.join(f"{name} {labels[PREFIX + name]}" for name in ('mpi', 'libfabric', 'osu')))
    if document is None:
        return NOT_CHECKED, f"{said}; no bill of materials to compare with"
    wrong = [f"{PREFIX}{name} says {labels[PREFIX + name]}, the bill of materials {', '.join(sorted(inside))}"
             for name, inside in _versions(document).items()
             if inside and not any(_same(labels[PREFIX + name], version) for version in inside)]
    if wrong:
        return WRONG, _lines(wrong)
    return OK, said


def _versions(document):
    """Return label -> set of what the bill of materials says is inside, empty where it does not know."""
    found = {'mpi': set(), 'libfabric': set(), 'recipe-version': set(), 'osu': set()}
    for package in document['packages']:
        name, version, sort = package['name'], package.get('versionInfo', ''), package['SPDXID'].split('-')[1]
        if package['SPDXID'] == sbom.ROOT:
            found['recipe-version'].add(version)
            found['osu'].update(note['comment'].partition(': ')[2] for note in package.get('annotations', [])
                                if note['comment'].startswith('benchmark programs: '))
            continue
        if sort == 'debian':  # without Debian's own parts: epoch, revision
            version = re.sub(r'^\d+:|[+~-].*$', '', version)
        mpi = next((family for pattern, family in _MPI if re.fullmatch(pattern, name)), None)
        if mpi:
            found['mpi'].add(f'{mpi} {version}')
        elif name in ('libfabric', 'libfabric1'):
            found['libfabric'].add(version)
    return found


def _same(label, version):
    """Return whether a label says a version: the same, or the version with something behind it."""
    return re.match(re.escape(version) + r'(?![\w.])', label) is not None


def _libraries(path, labels):
    """Compare the labels of MPI and libfabric with what the libraries of the image say of themselves."""
    wanted = {name: labels.get(PREFIX + name, 'none') for name in ('mpi', 'libfabric')}
    good, wrong = [], []
    with Image(str(path), 'osu_') as image:
        mpi = next((soname for soname in MPI_FAMILIES if soname in image.libraries), None)
        for name, soname in (('mpi', mpi), ('libfabric', 'libfabric.so.1')):
            if wanted[name] == 'none' or soname not in image.libraries:
                continue
            try:
                found = versions.read_library(image.local_copy(image.libraries[soname]))[0]
            except (OSError, ValueError) as err:
                wrong.append(f"{image.libraries[soname]} cannot be read: {err}")
                continue
            inside = f"{found.family} {found.release}" if name == 'mpi' else found.release
            if found.release is None:
                continue
            if _same(wanted[name], inside):
                good.append(f"{soname} is {found.family} {found.release}")
            else:
                wrong.append(f"{image.libraries[soname]} is {found.family} {found.release}, label {PREFIX}{name} says "
                             f"{wanted[name]}. Build the image again")
    if wrong:
        return WRONG, _lines(wrong)
    return (OK, ', '.join(good)) if good else (NOT_CHECKED, "no label, or no library that says its release")


def check_signature(path, runtime, key):
    """Say what the signature of an image is worth."""
    state = sign.signature_state(path, runtime, key)
    return (OK if state.endswith('verified') else NOT_CHECKED), one_line(state)
