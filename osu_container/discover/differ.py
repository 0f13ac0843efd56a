"""
How two looks differ: login and compute node, a file of earlier and today, an installed module and today's host.

What is injected comes first, because a module rests on it.
"""
import ast
import os
import re

from osu_container import try_file
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.facts import FactsError, checked
from osu_container.core.reading.files import parse_json, read_json, read_plain
from osu_container.core.reading.libraries import sha256_of

from .write import shown, wrapped

#: Facts in the order of their weight -> what to do where they differ
WHAT_TO_DO = [
    ('provider', "the modules are for one of the two networks: discover on the node that runs the jobs, and install "
                 "from that file"),
    ('pmi', "srun on one of the two starts ranks otherwise: discover again there, and install from that file"),
    ('cards', "expected where login nodes have no card; discover on a compute node, and install from that file"),
    ('rdma cards', "expected where login nodes have no card; discover on a compute node, and install from that file"),
    ('providers', "the two libfabric drive other networks: see libfabric"),
    ('mpi kinds', "a job started from one of the two lacks a kind of --mpi="),
    ('gpu.target', "expected where login nodes have no GPU; discover on a GPU node, and install from that file"),
    ('rocm', "the two have another ROCm: install from the file of the node that runs the jobs"),
    ('runtime', "a module names one runtime by its path: install where jobs can use it"),
    ('glibc', "libraries of the newer one may ask for what an image that fits the older one lacks: discover on the "
              "compute node, and look with osu-container check"),
    ('architecture', "images and libraries of one do not run on the other"),
    ('files.file_systems', "what one of the two lacks is not bound there, and programs in the container do not see it"),
    ('slurm.spool', "Cray PMI reads there: discover on the compute node"),
    ('slurm.tmpfs', "ranks of Open MPI meet there: discover on the compute node"),
    ('library_folders', "dependencies are looked for where eb runs: install on the node with the longer list"),
    ('files.cxi_state', "bound where it is there; nothing to do"),
    ('files.libdrm_ids', "bound where it is there; nothing to do"),
    ('files.kernel_config', "bound where it is there; nothing to do"),
    ('interfaces', "expected: nodes of another kind have other interfaces; RCCL's are in variables of the file"),
    ('os', "see glibc"),
    ('slurm.cluster', "these are not nodes of one cluster"),
    ('slurm.release', "nothing to do, unless --mpi= differs as well"),
    ('kernel', "nothing to do"),
]
#: Facts that a look keeps for comparing
COMPARED = [key for key, _ in WHAT_TO_DO]
#: The same where one node has changed; nothing is to be done for the others
CHANGED = {
    'provider': "the network is another, or a card is gone: look again, and install every module again",
    'pmi': "srun starts ranks otherwise: look again, and install every module again",
    'cards': "was the node drained, or is it another one? The provider follows from them",
    'providers': "see libfabric",
    'mpi kinds': "Slurm was built anew; modules need what pmi says",
    'gpu.target': "other GPUs, or another module craype-accel-...: images are made for one kind",
    'rocm': "bind injects it: see libhsa-runtime64 and libamdhip64",
    'runtime': "a module names the runtime by its path; a new release there needs nothing",
    'glibc': "the host's libraries may ask for more than the image's C library has: osu-container check",
    'architecture': "this is another machine",
    'files.file_systems': "look again, and install again, where programs need the new ones",
    'slurm.spool': "Cray PMI reads there: look again, and install bind again",
    'slurm.tmpfs': "ranks of Open MPI meet there: look again, and install openmpi again",
    'library_folders': "dependencies of injected libraries may be found elsewhere: look again",
}
AGAIN = "look again (osu-container discover -o FILE --force), then eb osu-container-%s.eb -r --rebuild " \
        "--try-amend=site=FILE"


class DifferError(Exception):
    """Something that cannot be compared; the text says what it is, what is wanted and what to do."""


def injected_by(name):
    """Return the approaches (list of str) that inject the library name of the site data."""
    return [approach for approach in APPROACHES
            if name in APPROACHES[approach]['inject'] + APPROACHES[approach]['inject_if_known']]


def read_look(path):
    """Return what a file of discover holds (dict: node, date, libraries, seen, ...). Raises DifferError."""
    wanted = "`osu-container discover -o FILE` and `osu-container discover --json >FILE` write what can be compared"
    try:
        text = read_plain(path, 'json').decode('utf-8', 'replace')
        if try_file.is_one(text):
            text = try_file.data_of(text)
        elif not path.endswith('.py') and not text.lstrip().startswith('{'):
            raise ValueError('it is neither Python (*.py) nor JSON')
        if path.endswith('.py'):
            # data only: nothing of the file is run
            values = dict((node.targets[0].id, node.value) for node in ast.parse(text).body
                          if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name))
            found = dict((ast.literal_eval(values['DISCOVERED']) if 'DISCOVERED' in values else {}),
                         root=ast.literal_eval(values['ROOT']) if 'ROOT' in values else '')
        else:
            found = parse_json(text)
    except SyntaxError as err:
        raise DifferError("%s is not valid Python: %s. %s" % (path, err, wanted))
    except (OSError, ValueError, TypeError, RecursionError, MemoryError) as err:  # the last two: nested too deep
        raise DifferError("%s cannot be read: %s. %s" % (path, getattr(err, 'strerror', None) or err, wanted))
    if not isinstance(found, dict) or not all(isinstance(found.get(key), dict) for key in ('libraries', 'seen')) or (
            not all(map(_is_kept, found['libraries'].values()))):
        raise DifferError("%s does not say what a system was like when it was written. %s" % (path, wanted))
    return found


def _is_kept(value):
    """Return whether value is what a look keeps of a library: a dict, or None where there is none."""
    return value is None or isinstance(value, dict) and type(value.get('size')) is int and all(
        isinstance(value.get(key), str) for key in ('path', 'sha256')) and all(
        isinstance(value.get(key), (str, type(None))) for key in ('family', 'release'))


def library_text(kept):
    """Return a library (dict) in a line."""
    if not kept:
        return 'not there'
    what = ' '.join(filter(None, [kept.get('family'), kept.get('release')]))
    return '%s%s, %d bytes, sha256 %s' % (kept['path'], ' (%s)' % what if what else '', kept['size'],
                                          kept['sha256'][:12])


def differences(one, other, then_and_now=False):
    """
    Return the differences of two looks (dict), what matters first: list of dict what, one, other (str), to_do.

    :param then_and_now: bool, both are of one node: the system has changed
    """
    found = []
    libraries = list(one['libraries']) + [name for name in other['libraries'] if name not in one['libraries']]
    for name in sorted(libraries, key=lambda name: not injected_by(name)):
        left, right = one['libraries'].get(name), other['libraries'].get(name)
        if left and right and left['sha256'] == right['sha256'] and left['path'] == right['path']:
            continue
        users = injected_by(name)
        if not users:
            to_do = "no approach injects it: nothing to do"
        elif left and right and left['sha256'] == right['sha256']:
            to_do = "%s: the same file in two places; a module binds the path that was there when it was installed" % (
                ', '.join(users))
        elif then_and_now:
            to_do = "the system has changed, and modules of %s were made for what it was: " % ', '.join(
                users) + AGAIN % ('APPROACH' if len(users) > 1 else users[0])
        else:
            to_do = "%s inject%s it: install from the file of the node that runs the jobs" % (
                ', '.join(users), '' if len(users) > 1 else 's')
        found.append({'what': name, 'one': library_text(left), 'other': library_text(right), 'to_do': to_do})
    for key, to_do in WHAT_TO_DO:
        left, right = one['seen'].get(key), other['seen'].get(key)
        if left != right:
            found.append({'what': key, 'one': 'not there' if left is None else shown(left),
                          'other': 'not there' if right is None else shown(right),
                          'to_do': CHANGED.get(key, "nothing to do") if then_and_now else to_do})
    return found


# installed modules

def installation(wanted, environment):
    """
    Return the folder (str) of an installed module by its name or folder. Raises DifferError.

    :param environment: dict, for MODULEPATH
    """
    if os.path.isdir(wanted):
        if not os.path.isfile(os.path.join(wanted, 'facts.json')):
            raise DifferError("%s is no installation of these modules: it has no facts.json. Give the folder that "
                              "module show names as root, or the module's name" % wanted)
        return wanted
    folders = [folder for folder in environment.get('MODULEPATH', '').split(':') if folder]
    for folder in folders:
        path = os.path.join(folder, wanted + '.lua')
        if os.path.isfile(path):
            root = root_of(path)
            if root and os.path.isfile(os.path.join(root, 'facts.json')):
                return root
            raise DifferError("the module %s (%s) is none of this project's: its installation has no facts.json. Name "
                              "one such as osu-container/hybrid" % (wanted, path))
    beside = sorted(name[:-4] for folder in folders for name in _names(os.path.join(folder, wanted))
                    if name.endswith('.lua'))
    raise DifferError("%s is neither a file, nor a folder, nor a module in MODULEPATH (%s). %s" % (
        wanted, ':'.join(folders) or 'not set', 'There are: ' + ', '.join(wanted + '/' + name for name in beside)
        if beside else 'Write a file by osu-container discover -o FILE'))


def root_of(path):
    """Return the folder (str) of the installation that a module file (path) of EasyBuild is for, None if it is none."""
    try:
        text = read_plain(str(path), 'text').decode('utf-8', 'replace')
    except OSError:
        return None
    root = re.search(r'^local root = "(.*)"', text, re.M)
    return root.group(1) if root else None


def _names(folder):
    """Return the names in a folder, [] where it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def recorded(folder):
    """Return the facts (dict) that an installation holds. Raises DifferError."""
    path = os.path.join(folder, 'facts.json')
    try:
        return checked(read_json(path))
    except FactsError as err:
        raise DifferError("%s is damaged: %s. Install the module again: eb --rebuild" % (path, err))
    except (OSError, ValueError) as err:
        raise DifferError("%s cannot be read: %s. Install the module again" % (path, err))


def changes(facts, today, approach):
    """
    Return how today's host differs from the recorded facts (dict) of an installed approach; as differences().

    :param today: dict, what discover finds now below the same root
    """
    root, found = facts['host'].get('root', ''), []
    again = AGAIN % approach
    for then in facts['host'].get('injected', []):
        path, name = then['path'], then.get('name')
        inside = path[len(root):] if root and path.startswith(root + '/') else path
        now = today['libraries'].get(name) if name else None
        was = '%s (%s), %d bytes, sha256 %s' % (inside, then['what'], then['size'], then['sha256'][:12])
        problem = _problem(path, then)
        if problem:
            text = problem + ('; today there is ' + library_text(now) if now and now['path'] != inside else '')
            found.append((0 if name else 1, {'what': name or then['soname'], 'one': was, 'other': text,
                                             'to_do': 'the module injects it: ' + again}))
        elif now and now['sha256'] != then['sha256']:
            found.append((2, {'what': name, 'one': was, 'other': 'unchanged; discover would choose '
                              + library_text(now), 'to_do': 'the module still runs; to change over: ' + again}))
    runtime = facts['host'].get('runtime') or {}
    if runtime.get('command') and not os.access(runtime['command'], os.X_OK):
        found.append((1, {'what': 'runtime', 'one': runtime['command'], 'other': 'not there; now: '
                          + shown(today['seen'].get('runtime')), 'to_do': again}))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def _problem(path, then):
    """Return how the file path differs from what was recorded (dict), None if it does not."""
    try:
        stat = os.stat(path)
    except OSError as err:
        return 'gone' if isinstance(err, FileNotFoundError) else 'cannot be read (%s)' % err.strerror
    if (stat.st_size, int(stat.st_mtime)) == (then['size'], then['mtime']):
        return None
    try:
        now = sha256_of(path)
    except OSError as err:
        return 'cannot be read (%s)' % err.strerror
    return None if now == then['sha256'] else 'changed: %d bytes, sha256 %s' % (stat.st_size, now[:12])


def table(entries, one, other):
    """Return the differences as text; one, other: str, what the two sides are."""
    width = max(len('one'), *(len(entry['what']) for entry in entries)) if entries else 0
    lines = ['A: ' + one, 'B: ' + other, '']
    for entry in entries:
        lines.append(wrapped('A  ' + entry['one'], '%-*s  ' % (width, entry['what']), width + 5))
        lines.append(wrapped('B  ' + entry['other'], ' ' * (width + 2), width + 5))
        lines.append(wrapped('-> ' + entry['to_do'], ' ' * (width + 2), width + 5))
    lines.append('%d difference%s' % (len(entries), '' if len(entries) == 1 else 's') if entries else 'No difference.')
    return '\n'.join(lines) + '\n'
