"""
osu-container stage: the image on the nodes of a job, so that thousands of starts do not read one file at once.

sbcast hands the file from node to node, so the file system is read once. The copy gets its name, which is the image's
sha256, only after each node has found that sum; so what has the name is whole, and bin/run-in-container takes it.

Python 3.6 and its standard library only: it runs in job scripts.
"""
import os
import re
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from osu_container.core.deciding.settings import STAGE_FOLDERS
from osu_container.core.installing.image_build import wanted_sha256
from osu_container.core.reading.libraries import sha256_of
from osu_container.core.reading.sif import ImageError
from osu_container.core.writing import shell
from osu_container.core.writing.call_settings import NAME as CALL_SETTINGS
from osu_container.proof.text import count

#: path (str) of the image, sha256 (str), folders (list of str) where a copy may lie; {NAME} is a variable
Image = namedtuple('Image', 'path sha256 folders')
#: Nodes that a message names, of thousands that may have the same trouble
NAMED = 3

# What runs on each node. "$1" is the folder, "$2" the sha256, "$3" the size in KiB. A node prints "NAME: problem".
PREPARE = r"""
say() { echo "${SLURMD_NODENAME:-$(uname -n)}: $1"; exit 0; }
mkdir -m 700 "$1" 2>/dev/null
[ -d "$1" ] && [ -O "$1" ] || say "$1 cannot be made, or is somebody else's"
[ -f "$1/$2.sif" ] && say 'has it'
free=$(df -Pk "$1" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$3" ] || say "$1 has $((free / 1024)) MB free, $(($3 / 1024 + 1)) MB are needed"
"""
COPY = r"""
cat -- "$2" >"$1" || { rm -f "$1"; echo "${SLURMD_NODENAME:-$(uname -n)}: the copy ended early"; }
"""
FINISH = r"""
say() { rm -f "$1/$2.sif.part"; echo "${SLURMD_NODENAME:-$(uname -n)}: $3"; exit 0; }
[ -f "$1/$2.sif" ] && exit 0
found=$(sha256sum "$1/$2.sif.part" 2>&1)
# nodes that are one machine have one folder, and the other one was faster
[ "${found%% *}" = "$2" ] || [ -f "$1/$2.sif" ] || say "$1" "$2" "the copy has another sum ($found)"
mv "$1/$2.sif.part" "$1/$2.sif" 2>/dev/null || [ -f "$1/$2.sif" ] || say "$1" "$2" "$1/$2.sif cannot be written"
"""
REMOVE = r"""
rm -f "$1"/*.sif "$1"/*.sif.part; rmdir "$1" 2>/dev/null
[ ! -e "$1" ] || echo "${SLURMD_NODENAME:-$(uname -n)}: $1 is still there"
"""


class StageError(Exception):
    """It cannot be staged; the text says why and what to do."""


def add_arguments(parser):
    """Describe the command line of `osu-container stage` (parser: argparse.ArgumentParser)."""
    parser.description = ("Copy an image to the nodes of this job with Slurm's sbcast. Commands of modules with that "
                          "image take the copy from then on; without it they take the file that they took before.")
    parser.add_argument('what', nargs='?', metavar='IMAGE|MODULE',
                        help="a SIF file or a module (default: the module that is loaded)")
    parser.add_argument('--folder', help="folder of the nodes (default: the site's; commands look only there)")
    parser.add_argument('--remove', action='store_true', help="remove staged images from the nodes of this job")
    parser.set_defaults(function=run, prog='osu-container stage', errors=(StageError, OSError),
                        after_interrupt='a copy that is not whole is not used; --remove takes all away')


def run(options):
    """Stage or remove; return 0. Raises StageError and OSError."""
    nodes = os.environ.get('SLURM_JOB_NUM_NODES')
    if not nodes or not os.environ.get('SLURM_JOB_ID'):
        raise StageError("this is no job: SLURM_JOB_ID and SLURM_JOB_NUM_NODES are not set. Call it in a job script "
                         "or under salloc, before srun")
    if not re.match('[1-9][0-9]{0,8}$', nodes):
        raise StageError("SLURM_JOB_NUM_NODES is '%s', wanted the number of nodes of the job, as Slurm sets it. Was "
                         "it exported by hand? Unset it and call this in a job" % nodes)
    nodes = int(nodes)
    folders = [options.folder] if options.folder else None
    image = image_of(options.what, folders) if options.what or not options.remove else Image(
        '', '', folders or _loaded_folders())
    candidates = [filled for filled in map(expanded, image.folders) if filled]
    if options.remove:
        for folder in candidates:
            _refuse(on_nodes(REMOVE, nodes, [staging_folder(folder)]), "not removed")
        print('removed from %s' % count(nodes, 'node'))
    else:
        print(staged(image, candidates, nodes))
    return 0


def image_of(what, folders):
    """
    Return the Image of what (str: a file or a module; None: the loaded module).

    :param folders: list of str that take the place of the site's, or None
    """
    if what and (os.path.isfile(what) or what.endswith('.sif')):
        if not os.access(what, os.R_OK):
            raise StageError("the image %s is missing or cannot be read. Name a SIF file, or a module" % what)
        return Image(what, recorded_sum(what) or sha256_of(what), folders or list(STAGE_FOLDERS))
    if what:
        from osu_container.bench import BenchError, modules  # a newer Python than 3.6
        try:
            environment = modules.load(what).environment
        except BenchError as err:
            raise StageError(str(err))
    else:
        environment = os.environ
    root = environment.get('OSU_MODULE_ROOT')
    if not root:
        raise StageError("no module with a container is loaded. Name a module or a SIF file")
    rows = settings_of(root)
    path = environment.get('MPI_CONTAINER_IMAGE') or os.path.join(root, rows['image'])
    if not os.access(path, os.R_OK):
        raise StageError("the image %s is missing or cannot be read" % path)
    return Image(path, recorded_sum(os.path.join(root, rows['image'])) or sha256_of(path),
                 folders or rows.get('stage', '').split())


def settings_of(root):
    """Return {key: value} of the single settings in the file call-settings of the installation root (str)."""
    try:
        lines = (Path(root) / CALL_SETTINGS).read_text().splitlines()
    except OSError as err:
        raise StageError("%s: it is no container, or was installed by an older version. Install it again: eb ... "
                         "--rebuild" % err)
    return dict(line.split(' ', 1) for line in lines if ' ' in line and not line.startswith('#'))


def _loaded_folders():
    """Return the folders (list of str) of the loaded module, else those of any site."""
    root = os.environ.get('OSU_MODULE_ROOT')
    return settings_of(root).get('stage', '').split() if root else list(STAGE_FOLDERS)


def recorded_sum(path):
    """Return the sha256 (str) in the file beside path (str), None if there is none. Raises StageError."""
    try:
        return wanted_sha256(path + '.sha256')
    except ImageError as err:
        raise StageError(str(err))


def expanded(folder):
    """Return folder (str) with {NAME} replaced by the variable NAME, None where one is not set."""
    try:
        return folder.format(**os.environ)
    except KeyError:
        return None


def staging_folder(folder):
    """Return the folder (str) below folder (str) for images of this user, as bin/run-in-container knows it."""
    return '%s/run-in-container-images-%d' % (folder.rstrip('/'), os.getuid())


def staged(image, candidates, nodes):
    """Stage image (Image) into the first of the folders (list of str) that all nodes have; return what to say (str)."""
    size, problems = os.path.getsize(image.path), []
    for folder in map(staging_folder, candidates):
        said = on_nodes(PREPARE, nodes, [folder, image.sha256, str((size >> 10) + 1)])
        have = [line for line in said if line.endswith(': has it')]
        if len(have) == nodes:
            return '%s is on all %s already: %s' % (image.path, count(nodes, 'node'), target_of(folder, image))
        if len(have) == len(said):
            break
        problems += [line for line in said if line not in have]
    else:
        _refuse(problems or ["none: the site names no folder"], "no folder of the nodes takes the image")
    start = time.monotonic()
    part = target_of(folder, image) + '.part'
    try:
        how = copied_by(image, part, nodes)
        copied = time.monotonic()
        _refuse(on_nodes(FINISH, nodes, [folder, image.sha256]), "not staged on every node; the others use it")
    except BaseException:
        on_nodes('rm -f "$1"', nodes, [part], check=False)  # sbcast may leave half of a file
        raise
    return '%s (%d MB) is on %s: %s. %s took %.1f s, its sum fits (%.1f s)' % (
        image.path, size >> 20, count(nodes, 'node'), target_of(folder, image), how, copied - start,
        time.monotonic() - copied)


def copied_by(image, part, nodes):
    """
    Copy image (Image) to part (str, path) on the job's nodes (int); return by what (str).

    Where sbcast is not allowed (a slurmd that is not root's cannot write a file as the user), every node reads the file
    by itself, in one piece at least. Raises StageError.
    """
    sbcast = shutil.which('sbcast')
    if sbcast:
        done = subprocess.run([sbcast, '--force', image.path, part], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        if not done.returncode:
            return 'sbcast'
        print('osu-container stage: sbcast ended with exit code %d: %s. So each node copies the file by itself' % (
            done.returncode, done.stdout.strip()[-300:]), file=sys.stderr)
    path = os.path.abspath(image.path)
    _refuse(on_nodes(COPY, nodes, [part, path]), "nothing is staged; commands take %s" % path)
    return 'a copy by each node'


def target_of(folder, image):
    """Return the path (str) of the copy of image (Image) in the folder (str)."""
    return '%s/%s.sif' % (folder, image.sha256)


def _refuse(problems, what):
    """Raise StageError with the first of the problems (list of str, 'NODE: ...'), if there are any."""
    if problems:
        more = '; and %d more' % (len(problems) - NAMED) if len(problems) > NAMED else ''
        raise StageError('%s. %s%s' % (what, '; '.join(sorted(problems)[:NAMED]), more))


def on_nodes(script, nodes, arguments, check=True):
    """
    Run script (str, sh) with arguments (list of str) once on each of the job's nodes (int); return its lines (list).

    Raises StageError if srun fails, unless check is False.
    """
    command = ['srun', '-N%d' % nodes, '-n%d' % nodes, '--ntasks-per-node=1', '--overlap', '--mpi=none', '--quiet',
               '--input=none', 'sh', '-c', script, 'stage'] + arguments
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode and check:
        raise StageError("%s ... ended with exit code %d: %s" % (
            shell.line(command[:8]), done.returncode, done.stderr.strip()[-300:]))
    return done.stdout.splitlines()
