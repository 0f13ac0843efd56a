"""Where every file of an image comes from: a Debian package, a source of the recipe, or a step that made it.

explain() finds for each file and link one owner and the evidence for it, and fails where it finds none. The evidence
is as good as its source: Debian's is dpkg's own record in the image; that of a wheel or an archive is the file whose
sha256 versions.py has.
"""
import hashlib
import posixpath
import re
import tarfile
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from osu_container.places import PROJECT

from . import ImageError

# Kinds of evidence, best first: what summaries count
PACKAGED = 'as packaged'              # md5 as in dpkg's record
LISTED = 'listed by its package'      # dpkg names the path; it keeps no sum of links and of few files
CHANGED = 'changed'                   # md5 not as in dpkg's record, for a known reason
IN_WHEEL = 'as in the wheel'          # sha256 and name of a file in the wheel
IN_ARCHIVE = 'as in the archive'      # sha256 and name of a file in the source archive
IN_REPOSITORY = 'as in the repository'
BUILT = 'built'                       # compiled by the recipe; nothing to compare with
GENERATED = 'generated'               # made at installation, by the recipe or by the runtime, for a known reason
KINDS = (PACKAGED, LISTED, CHANGED, IN_WHEEL, IN_ARCHIVE, IN_REPOSITORY, BUILT, GENERATED)

# Files that belong to no package: (pattern of the whole path, who made it, why it is there)
PACKAGES, BASE, RECIPE, RUNTIME = 'packages', 'base', 'recipe', 'runtime'
MAKERS = {
    PACKAGES: 'made while Debian packages were installed',
    BASE: 'made with the base of the image',
    RECIPE: 'made by the recipe',
    RUNTIME: 'made by the container runtime',
}
_MADE = [(re.compile(pattern), maker, why) for pattern, maker, why in (
    (r'/\.singularity\.d/.+', RUNTIME, "definition, environment, labels and scripts of the runtime"),
    (r'/(\.exec|\.run|\.shell|\.test|environment|singularity)', RUNTIME, "link into /.singularity.d"),
    (r'/etc/(hosts|resolv\.conf)', BASE, "of the base; in a container the runtime shows the host's file there"),
    (r'/etc/ld\.so\.cache|/var/cache/ldconfig/aux-cache', RECIPE, "ldconfig: where libraries are"),
    (r'/etc/ld\.so\.conf\.d/[\w.-]+\.conf', RECIPE, "folders of the recipe in which the loader looks"),
    (r'/opt/[\w.-]+/share/dpkg/(status|info/.+)', RECIPE, "record of the packages that the recipe unpacked"),
    (r'/opt/libfabric/lib/libfabric\.so\.1', RECIPE, "link by which the loader finds libfabric"),
    (r'/etc/hostname', BASE, "name of the machine that made the base"),
    (r'/etc/(fstab|environment|networks|timezone|localtime|machine-id)', BASE, "set when the base was made"),
    (r'/etc/apt/(sources\.list(\.d/[\w.-]+)?|apt\.conf\.d/(docker|99mmdebstrap)[\w-]*)', BASE, "set-up of apt"),
    (r'/etc/dpkg/dpkg\.cfg\.d/[\w-]+', BASE, "set-up of dpkg: documentation that it leaves out"),
    (r'/(bin|sbin|lib|lib32|lib64|libx32)', BASE, "link of the merged /usr"),
    (r'/usr/sbin/policy-rc\.d|/\.dockerenv', BASE, "made for a base that is a container: no services are started"),
    (r'/var/log/(alternatives\.log|apt/.+|bootstrap\.log|btmp|dpkg\.log|faillog|lastlog|wtmp)', BASE, "log"),
    (r'/etc/(passwd|group|shadow|gshadow|subuid|subgid)-?|/etc/\.pwd\.lock', PACKAGES, "accounts"),
    (r'/etc/shells|/var/lib/shells\.state', PACKAGES, "update-shells: shells to log in with"),
    (r'/etc/(profile|motd|nsswitch\.conf|inputrc)|/root/\.(bashrc|profile)', PACKAGES,
     "copied from /usr/share by the script of base-files, libc-bin or readline-common"),
    (r'/etc/(pam\.d/common-[\w-]+|security/opasswd)|/var/lib/pam/[\w-]+', PACKAGES, "pam-auth-update: log-in"),
    (r'/etc/dpkg/origins/default', PACKAGES, "link to the name of the distribution"),
    (r'/etc/python3/debian_config|/var/lib/python/python3[\w.]*_installed', PACKAGES, "set-up of Debian's Python"),
    (r'/etc/rc[0-6S]\.d/[SK]\d\d[\w.-]+', PACKAGES, "update-rc.d: link to a service"),
    (r'/etc/systemd/system/[\w.-]+\.wants/[\w@.-]+|/var/lib/systemd/deb-systemd-helper-enabled/.+', PACKAGES,
     "deb-systemd-helper: service that is switched on"),
    (r'/etc/alternatives/.+|/var/lib/dpkg/alternatives/.+', PACKAGES, "update-alternatives"),
    (r'/etc/ssl/certs/.+|/etc/ca-certificates\.conf', PACKAGES, "update-ca-certificates: certificates by their names"),
    (r'/usr/local/man|/var/spool/mail|/usr/share/info/dir(\.old)?', PACKAGES, "made by the script of base-files or "
     "info"),
    (r'/var/lib/dpkg/(arch|arch-native|available|cmethopt|diversions|status|statoverride|lock|lock-frontend)(-old)?',
     PACKAGES, "dpkg's record"),
    (r'/var/lib/dpkg/(info|triggers|updates|parts)/.+', PACKAGES, "dpkg's record"),
    (r'/var/lib/(apt|ucf)/.+|/var/cache/apt/.+|/etc/apt/trusted\.gpg~?', PACKAGES, "apt's or ucf's record"),
    (r'/var/cache/debconf/[\w.-]+', PACKAGES, "debconf: answers to questions of packages"),
    (r'/var/cache/(fontconfig|man)/.+|/usr/share/mime/.+|/var/lib/(systemd|misc|xml-core|sgml-base)/.+', PACKAGES,
     "index made by a package's script"),
)]

# Files of packages that may differ from what dpkg recorded: (pattern of the whole path, why)
_MAY_CHANGE = [(re.compile(pattern), why) for pattern, why in (
    (r'/etc/(hosts|resolv\.conf|hostname)', "set when the base was made"),
    (r'/etc/apt/sources\.list\.d/[\w.-]+', "set-up of apt by the base"),
    (r'/etc/ca-certificates\.conf|/etc/login\.defs|/etc/default/[\w.-]+', "set by a package's script"),
    (r'/etc/shadow|/etc/passwd|/etc/group', "accounts"),
)]

NOT_UNPACKED = re.compile(r'/usr/share/(doc|man|info|locale|lintian|linda|groff)/|/usr/share/doc-base/')
_RECORD = re.compile(r'/opt/[\w.-]+/share/dpkg/status')
_BY_PIP = re.compile(r'.*\.dist-info/(INSTALLER|RECORD|REQUESTED|direct_url\.json)')
_BYTE_CODE = re.compile(r'(.*)/__pycache__/([^/]+?)\.(cpython|pypy)-?\d+(\.opt-[12])?\.pyc')


class Evidence(NamedTuple):
    """Why a file is there. kind: of KINDS. detail: the rest of the sentence, '' if there is none to say."""

    kind: str
    detail: str = ''

    def __str__(self):
        return f'{self.kind}: {self.detail}' if self.detail else self.kind


class Owner:
    """What files belong to.

    sort: 'debian', 'source', 'repository' or 'made'. facts: more about it, by sort (architecture, source, maintainer,
    status; file, sha256, url, licence). found: path -> Evidence. absent: paths that it should have brought.
    """

    def __init__(self, sort, key, name, version, facts):
        self.sort, self.key, self.name, self.version, self.facts = sort, key, name, version, facts
        self.found, self.absent = {}, []


def explain(tree, parts, sources, inputs, folder):
    """Return the owners (list of Owner) of all files and links of an image.

    tree: contents.Tree. parts: path in the image -> keys of sources, or paths in this repository. sources: SOURCES of
    versions.py. inputs: what the image was built from; of it 'sources', file name -> sha256. folder: with the sources.
    Raises ImageError for a file that nothing explains, or a source that is not there.
    """
    owners = debian_packages(tree)
    reasons = {}
    found = _by_dpkg(tree, owners, reasons)
    of_recipe = {}
    # a folder without sources holds packages, which have a record of their own
    prefixes = [Part(prefix, keys, sources, inputs, folder, of_recipe)
                for prefix, keys in sorted(parts.items()) if keys]
    for part in prefixes:
        part.take(tree, found, reasons)
    owners += of_recipe.values()
    made = {maker: Owner('made', maker, text, '', {}) for maker, text in MAKERS.items()}
    _by_table(tree, found, made)
    _derived(tree, found, made[PACKAGES])
    owners += made.values()
    left = [path for path in tree.items if path not in found]
    if left:
        lines = [f"    {path}{' -> ' + tree.items[path].target if tree.items[path].target else ''}"
                 f"{': ' + reasons[path] if path in reasons else ''}" for path in left[:10]]
        more = f"\n    and {len(left) - 10} more" if len(left) > 10 else ''
        raise ImageError(f"{tree.sif.name}: nothing explains {len(left)} of its {len(tree.items)} files and links:\n"
                         + '\n'.join(lines) + more + "\nTake them out in the recipe, name their source in parts of "
                         "osu_container/recipes/images.py, or add the path with its reason to "
                         "osu_container/image/origins.py")
    for path, (owner, evidence) in sorted(found.items()):
        owner.found[path] = evidence
    for part in prefixes:
        part.note_absent()
    return [owner for owner in owners if owner.found or owner.sort != 'made']


# ---- Debian ----------------------------------------------------------------------------------------------------------

def dpkg_records(tree):
    """Return the folders with a record of dpkg: the image's own, and those of packages that a recipe unpacked."""
    return ['/var/lib/dpkg', *sorted(path[:-len('/status')] for path in tree.items if _RECORD.fullmatch(path))]


def debian_packages(tree):
    """Return the Debian packages (list of Owner) of an image, by the records of dpkg; [] if it has none."""
    return [owner for record in dpkg_records(tree) for owner in _packages_of(tree, record)]


def _packages_of(tree, record):
    """Return the packages (list of Owner) of one record of dpkg (folder in the image)."""
    owners = []
    for paragraph in tree.text(f'{record}/status').split('\n\n'):
        fields = _fields(paragraph)
        # Of a removed package, files of its set-up stay: 'deinstall ok config-files'.
        if 'Package' not in fields or fields.get('Status', '').split()[-1:] not in (['installed'], ['config-files']):
            continue
        name, architecture = fields['Package'], fields.get('Architecture', '')
        conffiles = dict(line.split()[:2] for line in fields.get('Conffiles', '').splitlines() if len(line.split()) > 1)
        owners.append(Owner('debian', f'{name}-{architecture}', name, fields.get('Version', ''), {
            'architecture': architecture, 'source': fields.get('Source', name), 'conffiles': conffiles,
            'maintainer': fields.get('Maintainer', ''), 'status': fields['Status'], 'record': record}))
    return owners


def _fields(paragraph):
    """Return the fields (dict) of a paragraph of a Debian control file; lines that continue keep their line ends."""
    fields, name = {}, None
    for line in paragraph.splitlines():
        if line[:1] in (' ', '\t'):
            if name:
                fields[name] += '\n' + line
        elif ':' in line:
            name, _, value = line.partition(':')
            fields[name] = value.strip()
    return fields


def _by_dpkg(tree, owners, reasons):
    """Return path -> (Owner, Evidence) of all files that dpkg names and that are what it recorded.

    reasons: path -> why a file that dpkg names is left out, filled here.
    """
    claims = defaultdict(list)
    diversions = _diversions(tree)
    for owner in owners:
        listed, sums = _dpkg_record(tree, owner)
        for path in listed:
            # A diversion by another package moves a file; usrmerge moves whole folders.
            other, place = diversions.get(path, (owner.name, path))
            claims[tree.canonical(path if other == owner.name else place)].append((owner, sums.get(path)))
    found = {}
    for path, item in tree.items.items():
        answers = [(owner, _dpkg_evidence(item, total)) for owner, total in claims.pop(path, [])]
        good = [answer for answer in answers if answer[1]]
        if good:  # a file of two packages (Replaces, Multi-Arch: same) belongs to the one with its sum
            found[path] = min(good, key=lambda answer: KINDS.index(answer[1].kind))
        elif answers:
            reasons[path] = f"differs from what dpkg recorded for {answers[0][0].name}"
    for path, wanted in claims.items():
        real = tree.squashfs.entries.get(path)
        if real is None or real[0] != 'd':
            for owner, _ in wanted:
                owner.absent.append(path)
    return found


def _diversions(tree):
    """Return path -> (package that diverts it, path to which other packages' file goes)."""
    lines = tree.text('/var/lib/dpkg/diversions').splitlines()
    return {lines[n]: (lines[n + 2], lines[n + 1]) for n in range(0, len(lines) - 2, 3)}


def _dpkg_record(tree, owner):
    """Return (paths, path -> md5) that dpkg recorded for a package."""
    for name in (f"{owner.name}:{owner.facts['architecture']}", owner.name):
        listed = tree.text(f"{owner.facts['record']}/info/{name}.list").splitlines()
        if listed:
            sums = tree.text(f"{owner.facts['record']}/info/{name}.md5sums").splitlines()
            md5 = {f'/{path}': total for total, path in (line.split(None, 1) for line in sums if ' ' in line)}
            md5.update(owner.facts['conffiles'])
            return [path for path in listed if path not in ('', '/.')], md5
    return [], {}


def _dpkg_evidence(item, total):
    """Return the Evidence for a file of a package, None if it changed for no known reason.

    total: md5 (hex) in dpkg's record, None if it has none.
    """
    if item.target is not None or total is None:
        return Evidence(LISTED)
    if item.md5 == total:
        return Evidence(PACKAGED)
    return next((Evidence(CHANGED, why) for pattern, why in _MAY_CHANGE if pattern.fullmatch(item.path)), None)


# ---- sources of the recipe -------------------------------------------------------------------------------------------

class Part:
    """A folder of the image that the recipe filled from sources.

    Of a wheel and of an archive, every file is known. What is left is taken as compiled, if an archive is there that
    is compiled: any but one whose project is there as a wheel, too, as mpi4py, of which the recipe takes the
    benchmarks from the archive and the library from the wheel.
    """

    def __init__(self, prefix, keys, sources, inputs, folder, known):
        """prefix: path in the image. known: key -> Owner of other parts, added to. The rest: see explain().

        Raises ImageError for a source that is not there.
        """
        self.prefix, self.owners, self.members = prefix.rstrip('/'), [], {}
        wheels = {sources[key]['name'] for key in keys if key in sources and sources[key]['file'].endswith('.whl')}
        self.built = []
        # the wheel first: an archive has many of its files, too
        for key in sorted(keys, key=lambda key: not sources.get(key, {}).get('file', '').endswith('.whl')):
            if key not in sources:
                owner, evidence = known.setdefault(key, repository_file(key)), IN_REPOSITORY
                members = {(posixpath.basename(key), owner.facts['sha256']): key}
            else:
                owner = known.setdefault(key, source(key, sources, inputs))
                wheel = owner.facts['file'].endswith('.whl')
                evidence = IN_WHEEL if wheel else IN_ARCHIVE
                compiled = not wheel and owner.name not in wheels
                members = _members(Path(folder) / owner.facts['file'], owner.facts['sha256'], may_lack=compiled)
                if compiled:
                    self.built.append(owner)
            self.owners.append(owner)
            for name_and_sum in members:
                self.members.setdefault(name_and_sum, (owner, evidence, members[name_and_sum]))

    def take(self, tree, found, reasons):
        """Add to found (path -> (Owner, Evidence)) what is below the prefix and known; to reasons why a file is not."""
        below = [item for path, item in tree.items.items() if path.startswith(self.prefix + '/') and path not in found]
        for item in below:
            if item.target is None:
                known = self.members.get((posixpath.basename(item.path), item.sha256))
                if known:
                    found[item.path] = known[0], Evidence(known[1])
                elif _BY_PIP.fullmatch(item.path):
                    found[item.path] = self.owners[0], Evidence(GENERATED, "pip's record of the installation")
                elif self.built and not _BYTE_CODE.fullmatch(item.path):
                    names = ', '.join(f"{owner.facts['file']} (sha256 {owner.facts['sha256']})" for owner in self.built)
                    found[item.path] = self.built[0], Evidence(BUILT, f"from {names} by the recipe")
                else:
                    names = ', '.join(owner.facts['file'] for owner in self.owners)
                    reasons[item.path] = f"not as in {names}"
        for item in below:
            if item.target is not None:
                self._link(item, tree, found, reasons)

    def _link(self, item, tree, found, reasons):
        """Add a link to found: it belongs to what it leads to."""
        target = tree.target_of(item.path)
        if target in found:
            found[item.path] = found[target][0], Evidence(GENERATED, "link made by the recipe")
        elif self.built:
            found[item.path] = self.built[0], Evidence(BUILT, "link made by the recipe")
        else:
            reasons[item.path] = "leads to nothing that is explained"

    def note_absent(self):
        """Note which files of the wheels are not in the image: a recipe may leave some out."""
        for owner in self.owners:
            if owner.facts['file'].endswith('.whl'):
                have = {posixpath.basename(path) for path in owner.found}
                owner.absent = sorted(member for (name, _), (of, _, member) in self.members.items()
                                      if of is owner and name not in have)


def source(key, sources, inputs):
    """Return the Owner that a key of SOURCES is, with the sum of the file that was really used."""
    entry, sums = sources[key], inputs.get('sources', {})
    file, total = entry['file'], entry['sha256']
    known = {each['file'] for each in sources.values()}
    others = [name for name in sums if name not in known and name.endswith(('.gz', '.bz2', '.xz', '.zip'))]
    if file in sums:
        total = sums[file]
    elif len(others) == 1:  # an archive that the user gave in the place of this one
        file, total = others[0], sums[others[0]]
    version = entry['version'] if total == entry['sha256'] else f'archive {total[:12]}'
    return Owner('source', key, entry['name'], version, {
        'file': file, 'sha256': total, 'url': entry['url'], 'licence': entry['licence']})


def repository_file(path):
    """Return the Owner that a file of this repository is. Raises ImageError if it is not there."""
    try:
        content = (PROJECT / path).read_bytes()
    except OSError as err:
        raise ImageError(f"{path} is neither a key of SOURCES in osu_container/recipes/versions.py nor a file of this "
                         "repository. Correct parts in osu_container/recipes/images.py") from err
    return Owner('repository', path, posixpath.basename(path), '', {
        'file': path, 'sha256': hashlib.sha256(content).hexdigest(), 'licence': 'MIT'})


def _members(path, total, may_lack):
    """Return (base name, sha256) -> name of the files in a wheel or archive.

    total: sha256 that it must have. may_lack: give {} if it is not there: for an archive that is compiled, of which few
    files go into an image unchanged. Raises ImageError.
    """
    if may_lack and not path.is_file():
        return {}
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as err:
        raise ImageError(f"cannot read {path} ({err.strerror}), with which the image is compared. Get it: "
                         "osu-container image fetch") from err
    if found != total:
        raise ImageError(f"{path} is not the file that the image was made from:\n    sha256 found   {found}\n"
                         f"    sha256 wanted  {total}\nMove it away and get it again: osu-container image fetch")
    members = {}
    if path.suffix in ('.whl', '.zip'):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith('/'):
                    members[posixpath.basename(name), hashlib.sha256(archive.read(name)).hexdigest()] = name
    else:
        with tarfile.open(path) as archive:
            for item in archive:
                if item.isfile():
                    content = archive.extractfile(item).read()
                    members[posixpath.basename(item.name), hashlib.sha256(content).hexdigest()] = item.name
    return members


# ---- what is made on the way -----------------------------------------------------------------------------------------

def _by_table(tree, found, made):
    """Add to found what is in the table of files that belong to no package."""
    for path in tree.items:
        if path not in found:
            for pattern, maker, why in _MADE:
                if pattern.fullmatch(path):
                    found[path] = made[maker], Evidence(GENERATED, why)
                    break


def _derived(tree, found, packages):
    """Add to found what follows from a file that is explained: its byte code, and links of two programs."""
    for path, item in tree.items.items():
        if path in found:
            continue
        code = _BYTE_CODE.fullmatch(path)
        if item.target is not None:
            if item.target.startswith('/etc/alternatives/'):
                found[path] = packages, Evidence(GENERATED, "update-alternatives")
            # ldconfig makes them in folders of libraries: libx.so.1 -> libx.so.1.2, beside it
            elif '/' not in item.target and item.target.startswith(posixpath.basename(path) + '.'):
                target = found.get(tree.target_of(path))
                if target:
                    found[path] = target[0], Evidence(GENERATED, "link made by ldconfig")
        elif code:
            text = f'{code.group(1)}/{code.group(2)}.py'
            real = tree.target_of(text)  # it may be a link, as sitecustomize.py is
            if text in found and real and is_byte_code(tree.place(path), tree.items[real].size):
                found[path] = found[text][0], Evidence(GENERATED, f"byte code of {posixpath.basename(text)}")


def is_byte_code(path, size):
    """Return whether a .pyc file (Path) says that it was made of a text of this size (bytes), or names a hash of it."""
    header = path.read_bytes()[:16]  # PEP 552: magic number, flags, then modification time and size, or a hash
    return len(header) == 16 and (header[4:8] != bytes(4) or int.from_bytes(header[12:], 'little') == size & 0xffffffff)
