"""
Try pairs of MPI and libfabric for real, and put beside each what `osu-container check` says of it.

    stand-in/pairs                             all pairs; exit code 1 if one disagrees
    stand-in/pairs open-mpi hybrid             those whose names have all these words in them
    stand-in/pairs --list                      their names; nothing is made or run
    stand-in/pairs --trees [WORD...]           only make the host trees of these pairs, and print where they are
                                               (--sysroot of check)
    stand-in/pairs --record stand-in/pairs.json    also keep what happened, for docs/examination.md (then: make modules)

A pair is an image with an MPI, and a libfabric: that of a host tree by approach hybrid, or the image's own by pure. The
settings are those of the module that would be installed, failing ones included; two ranks on two nodes run osu_latency.
A pair runs if both print figures and their proofs show that libfabric. README.md says what a tree consists of.

Python 3.9 or newer, standard library only; needs the set-up of the workstation (make setup). Images that are not there
are built (`osu-container image build`). Images and trees are kept in .workstation.
"""
from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import namedtuple
from pathlib import Path

from osu_container import osu_output, record, why
from osu_container.core.deciding.facts import FactsError, find_runtime, read_facts
from osu_container.core.deciding.settings import approach_entry, settings_for
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.deciding.trial import Container
from osu_container.core.reading.closure import GLIBC_SONAMES
from osu_container.core.reading.elf import ElfError
from osu_container.core.reading.image import Image
from osu_container.core.reading.loader import load
from osu_container.core.reading.sif import ImageError
from osu_container.places import PROJECT, STATE
from osu_container.recipes.images import IMAGES
from osu_container.recipes.versions import DEBIAN, DEFAULT_DEBIAN, DEFAULT_MPICH, MPICH_LIBFABRIC
from osu_container.stand_in import tree as stand_in

StandInError, say = stand_in.StandInError, functools.partial(print, file=sys.stderr, flush=True)

SITE = site_entry('workstation')
LIBMPI, LIBFABRIC = (SITE['libraries'][name]['value'] for name in ('libmpi', 'libfabric'))
#: Where the trees and the images are kept; the latter also by tests/image/test_images_run.py
TREES, FOLDER = STATE / 'pairs', STATE / 'images-of-tests'
MARKER = '.stand-in.json'
#: Every tree has this MPI, that of the workstation. Approach hybrid does not use it.
HOST_MPI = 'mpich-5.0.2'

#: libfabric of a tree -> (what it is called, source: an image that has it from Debian, or the key of a wheel)
LIBFABRICS = {facts['libfabric']: (f"Debian {facts['number']}",
                                   f"osu-workstation-mpich-{DEFAULT_MPICH}-libfabric-{facts['libfabric']}")
              for facts in DEBIAN.values()}
LIBFABRICS.update((release, (f'wheel of MPICH {mpich}', f'mpich-{mpich}')) for mpich, release in
                  MPICH_LIBFABRIC.items())
LIBFABRICS = dict(sorted(LIBFABRICS.items(), key=lambda item: [int(part) for part in item[0].split('.')]))

#: s until a run counts as hanging; one takes about a second
LIMIT = 60
#: s that the proof of a rank may come after the end of the run
LATE = 5
LARGEST = 64
OPTIONS = ['H', 'H', '-m', str(LARGEST), '-i', '200', '-x', '2']

#: The proof of a short run may have the libraries only
NOT_SEEN = 'network not seen'
#: What srun says when Slurm, not the pair, is in the way
SLURM_FAILED = re.compile(r'^srun: (fatal: |.*(allocate resources:|slurm controller|Force Terminated job|[Nn]ode '
                          r'failure)).*', re.M)

#: name: str, for tests and for choosing; mpi: str, e.g. 'MPICH 4.2.3'; debian: number of the image's Debian (str);
#: image: name in the catalogue; libfabric: release (str) that ranks ought to load; owner: 'host' or 'image', whose it
#: is; approach: name (str)
Pair = namedtuple('Pair', 'name mpi debian image libfabric owner approach')

#: happened: 'runs' or 'fails'; text: str, one line that says why, or over which network; output: str, all of it
Outcome = namedtuple('Outcome', 'happened text output')


# What is tried

def _mpi(image):
    """Return (what the MPI of an image (name) is called, release of its libfabric), both str."""
    found = re.match(r'osu-(?:workstation|abi)-([a-z-]+)-([\d.]+)-libfabric-([\d.]+)$', image)
    mpi, release, libfabric = found.groups()
    return f"{ {'mpich': 'MPICH', 'openmpi': 'Open MPI', 'intel-mpi': 'Intel MPI'}[mpi]} {release}", libfabric


def pairs():
    """
    Return all pairs (list of Pair).

    Over each tree: an image of every MPI on the older Debian; where the libfabric is of the newer Debian, whose C
    library it needs, an image on that as well. Alone: every image that has a libfabric of its own.
    """
    found = []
    images = [name for name, entry in IMAGES.items() if entry['family'] in ('workstation', 'abi')
              and not entry['unbuilt']]
    of_mpi = {}
    for image in images:
        release = IMAGES[image]['base']['debian']
        mpi, libfabric = _mpi(image)
        of_mpi.setdefault((mpi, release), image)  # that with the wheel's own libfabric comes first
        found.append(Pair(None, mpi, DEBIAN[release]['number'], image, libfabric, 'image',
                          'openmpi' if mpi.startswith('Open MPI') else 'pure'))
    over = []
    for (mpi, release), image in of_mpi.items():
        for libfabric in LIBFABRICS:
            if release == DEFAULT_DEBIAN or libfabric == DEBIAN[release]['libfabric']:
                over.append(Pair(None, mpi, DEBIAN[release]['number'], image, libfabric, 'host', 'hybrid'))
    return [pair._replace(name='-'.join([pair.mpi.lower().replace(' ', '-'), f'debian-{pair.debian}', pair.approach,
                                         f'libfabric-{pair.libfabric}'])) for pair in over + found]


def approach_of(pair):
    """Return the approach (dict) of a Pair. There is no hybrid for Open MPI in the product; here it is tried."""
    if pair.approach == 'hybrid' and pair.mpi.startswith('Open MPI'):
        hybrid = approach_entry('hybrid')
        return dict(approach_entry('openmpi'), name='hybrid',
                    **{key: hybrid[key] for key in ('title', 'inject', 'inject_if_known', 'comes_from', 'preload')})
    return approach_entry(pair.approach)


# Images and trees

@functools.cache
def sif_of(image):
    """Return the path (Path) of the SIF of an image of the catalogue (name), built if it is not there."""
    sif = FOLDER / f'{image}.sif'
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not sif.exists():
        say(f"==> building {image}")
    stand_in.run([sys.executable, '-B', PROJECT / 'bin' / 'osu-container', 'image', 'build', image, '--output', sif,
                  '--log', FOLDER / f'{image}.log'])
    return sif


def _put(source, target):
    """Copy a library (str or Path) to target (Path)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755)


@functools.cache
def tree(libfabric):
    """Return the folder (Path) of the host tree with the libfabric of a release (str), made if it is not there."""
    target, source = TREES / f'libfabric-{libfabric}', LIBFABRICS[libfabric][1]
    sif = sif_of(source) if source in IMAGES else None
    made = {'made by': 'stand-in/pairs', 'libfabric': libfabric, 'from': source, 'mpi': HOST_MPI,
            'image': sif and sif.with_name(sif.name + '.sha256').read_text().split()[0]}
    try:
        if json.loads((target / MARKER).read_text()) == made:
            return target
    except (OSError, ValueError):
        pass  # not there, or not whole
    say(f"==> host tree with libfabric {libfabric} of {LIBFABRICS[libfabric][0]}")
    new = target.with_name(target.name + '.new')
    shutil.rmtree(new, ignore_errors=True)
    mpi, = stand_in.fetch(HOST_MPI)
    stand_in.unpack_wheel(mpi, new / str(Path(LIBMPI).parent.parent).lstrip('/'))
    if sif:
        _libfabric_of_image(sif, new)
    else:
        wheel, = stand_in.fetch(source)
        stand_in.unpack_wheel(wheel, new / str(Path(LIBFABRIC).parent).lstrip('/'), only='lib/mpich/libfabric.so.1')
    (new / MARKER).write_text(json.dumps(made, indent=2) + '\n')
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return target


def _libfabric_of_image(sif, root):
    """Put Debian's libfabric of an image (Path), and what it needs but the C library, into the tree at root (Path)."""
    usual = next(folder for folder in SITE['library_folders']['value'] if folder.startswith('/usr/'))
    with Image(str(sif), 'osu_') as image:
        for one in load(['libfabric.so.1'], Container(image, {}, {}), []).loaded:
            soname = one.facts.soname
            if soname not in GLIBC_SONAMES:
                path = LIBFABRIC if soname == Path(LIBFABRIC).name else f'{usual}/{soname}'
                _put(image.local_copy(one.path), root / path.lstrip('/'))


# Running a pair

@functools.cache
def _runtime():
    """Return the container runtime (dict, see find_runtime()), that of the set-up first."""
    os.environ['PATH'] = f"{STATE / 'bin'}:{os.environ['PATH']}"
    return find_runtime(SITE['runtime']['value'])


def _of_this_machine():
    """Return the environment (dict) that a run begins with: of the caller's, only what has nothing to do with MPI."""
    _runtime()  # sets PATH
    found = {name: value for name, value in os.environ.items() if name in ('HOME', 'PATH', 'SLURM_CONF', 'TMPDIR',
                                                                           'USER')}
    if (STATE / 'slurm' / 'slurm.conf').exists():
        found.setdefault('SLURM_CONF', str(STATE / 'slurm' / 'slurm.conf'))
    return dict(found, LC_ALL='C.UTF-8')


def _environment(settings):
    """Return the environment (dict) that the module with these Settings gives to srun, and nothing else of ours."""
    found = _of_this_machine()
    for variable in settings.variables:  # of several of one name the first that counts where no switch is set
        if '!=' in (variable.get('when') or '!='):
            found.setdefault(variable['name'], variable['value'])
    prefix = settings.env_prefix
    found.update((name, value) for name, value in (
        (f'{prefix}_BIND', ','.join(f'{path}:{inside}' for path, inside, _ in settings.binds)),
        (f'{prefix}ENV_LD_LIBRARY_PATH', ':'.join(settings.library_path)),
        (f'{prefix}ENV_LD_PRELOAD', ':'.join(settings.preload))) if value)
    return found


def _srun(command, environment):
    """
    Run srun with a command (list); return its output (str), which ends in a line of ours if it was ended after LIMIT.

    Raises StandInError if there is no srun, no node became free, or Slurm does not answer.
    """
    command = ['srun', '-N2', '-n2', '--kill-on-bad-exit=1', *(str(part) for part in command)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors='replace', env=environment)
    except FileNotFoundError:
        raise StandInError("no srun on PATH: `make setup` installs Slurm") from None
    try:
        output = process.communicate(timeout=LIMIT)[0]
        failed = SLURM_FAILED.search(output)
        if failed:
            raise StandInError(f"Slurm did not run the pair ({failed.group()}). Start it: workstation/slurm.sh start")
        return output
    except subprocess.TimeoutExpired:
        process.terminate()  # srun ends its step and its job
        try:
            output = process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
    except BaseException:  # Ctrl-C: no job is left behind
        process.terminate()
        process.wait()
        raise
    if 'waiting for resources' in output and 'allocated resources' not in output:
        raise StandInError(f"no two nodes became free within {LIMIT} s; `squeue` shows who has them")
    return f'{output}\nended after {LIMIT} s: it hangs\n'


def _proofs(folder):
    """Return what both ranks had loaded (list of dict, by rank), as osu_container/rank-proof wrote it, at most two."""
    end = time.monotonic() + LATE
    while True:
        found = []
        for path in sorted(folder.glob('rank-*.json')):
            try:
                found.append(json.loads(path.read_text()))
            except ValueError:  # being written
                continue
        if (len(found) == 2 and all(proof['complete'] for proof in found)) or time.monotonic() > end:
            return found
        time.sleep(0.05)


def _message(output):
    """Return what output says of why a run failed (str): the first two messages that are known, else a line."""
    known = [message['line'] for message in why.explain(output) if not message['line'].startswith('srun: ')][:2]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return '; '.join(known) or next((line for line in lines if not re.match(r'#|srun: |\d+ +[\d.]+$', line)),
                                    'no word of why')


def _happened(pair, output, proofs):
    """Return the Outcome of a run of pair by its output (str) and proofs (list of dict)."""
    try:
        table = osu_output.parse(output, benchmark='osu_latency', source='srun', largest=LARGEST)
    except osu_output.OutputError as err:
        hangs = [line for line in output.splitlines() if line.endswith('it hangs')]
        alone = osu_output.ALONE in str(err)
        return Outcome('fails', hangs[0] if hangs else str(err) if alone else _message(output), output)
    found = _seen_networks(proofs)
    networks = ' and '.join(sorted(' '.join(filter(None, one)) for one in found)) or NOT_SEEN
    problem = (('figures of 0' if table.zeros else None) or _unproved(proofs) or _other_library(pair, proofs)
               or _one_node(proofs))
    if not problem and found - {('libfabric', SITE['provider']['value']), ('libfabric', None)}:
        problem = f'went over {networks}'
    return Outcome('fails', problem, output) if problem else Outcome('runs', networks, output)


def _seen_networks(proofs):
    """Return {(layer, provider or None)} of the networks that proofs (list of dict) show."""
    return {(proof['network']['layer'], proof['network']['provider']) for proof in proofs
            if proof.get('network') and proof['network']['layer']}  # None: it cannot be told


def _unproved(proofs):
    """Return why proofs (list of dict) do not show what both ranks ran (str), None if they do."""
    if len(proofs) >= 2 and all(proof['found'] for proof in proofs):
        return None
    reasons = [proof.get('reason') for proof in proofs if not proof['found']]
    return f"figures without a proof: {'; '.join(filter(None, reasons)) or 'no file'}"


def _other_library(pair, proofs):
    """Return which library the ranks ran with that is not the one of pair (str), None if all are."""
    meant = [('libfabric', pair.owner, pair.libfabric), ('libmpi', approach_of(pair)['comes_from']['libmpi'], None)]
    for proof in proofs:
        for name, owner, release in meant:
            one = proof['libraries'].get(name) or {'where': 'nobody', 'release': 'none', 'path': None}
            if one['where'] != owner or (release and one['release'] != release):
                return f"ran with {name} {one['release']} of the {one['where']}, {one['path']}"
    return None


def _one_node(proofs):
    """Return that both ranks ran on one node (str), None if on two."""
    if len({proof['node'] for proof in proofs}) >= 2:
        return None
    return f"both ranks ran on {proofs[0]['node']}"


#: Rule of a failing verdict -> function: its reason (str) -> regular expressions, one of which a run must have printed
SAME_CAUSE = {
    'symbol version': lambda reason: [f"version `{re.escape(name)}' not found" for name in re.search(
        r' needs (.*?) of ', reason).group(1).split(', ')],
    'missing library': lambda reason: [re.escape(re.search(r'needs ([^\s,]+)', reason).group(1))
                                       + ': cannot open shared object file'],
    'undefined symbol': lambda reason: ['undefined symbol: ' + re.escape(name.partition('@')[0]) for name in re.search(
        r' needs (.*?),? which ', reason).group(1).split(', ')],
    'injection defeated': lambda reason: [r'ran with lib\w+ .* of the image'],
    'libfabric API': lambda reason: ['Requested version is newer than library'],
    'no provider': lambda reason: ['No data available', r'getinfo\(?\)? failed', 'no such provider'],
    'PMI': lambda reason: [re.escape(osu_output.ALONE), 'requires exactly two'],
}


def confirmation(verdict, text):
    """Return the line (str) of text that names a cause which the verdict (dict: findings) has foreseen, or None."""
    for finding in verdict['findings']:
        for pattern in SAME_CAUSE.get(finding['rule'], lambda reason: [])(finding['reason']):
            found = re.search(f'.*{pattern}.*', text) if finding['level'] == 'fails' else None
            if found:
                return found.group().strip()
    return None


def agreement(verdict, outcome):
    """
    Return 'yes', 'no', or 'no claim' where the verdict (dict: word, findings) is that it is unknown.

    A failure agrees if the run names the same cause as one of the rules that foresaw it.
    """
    if verdict['level'] == 'unknown':
        return 'no claim'
    if verdict['level'] == 'fails' and outcome.happened == 'fails':
        return 'yes' if confirmation(verdict, f'{outcome.text}\n{outcome.output}') else 'no'
    return 'yes' if (verdict['level'] == 'fails') == (outcome.happened == 'fails') else 'no'


def _run(pair, sif, settings, program, more=()):
    """Return the Outcome of running a Pair; more: arguments (list of str) of the runtime."""
    for _ in range(2):  # a proof may be missed on a machine that has much to do
        folder = Path(tempfile.mkdtemp(prefix='osu-pairs-'))
        try:
            output = _srun([f'--mpi={settings.pmi}', PROJECT / 'osu_container' / 'rank-proof', folder,
                            _runtime()['command'], 'exec', *more, sif, program, *OPTIONS], _environment(settings))
            outcome = _happened(pair, output, _proofs(folder) if '# ' in output else [])
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # a sampler that is late may still write into it
        if 'without a proof' not in outcome.text and outcome.text != NOT_SEEN:
            break
    return outcome


def tried(pair):
    """
    Return what check says of a Pair and what happened (dict of plain data, without paths of this machine).

    Raises StandInError and what reading image and host raises.
    """
    approach, sif = approach_of(pair), sif_of(pair.image)
    root = tree(pair.libfabric) if pair.owner == 'host' else None
    facts = read_facts(approach, SITE, str(sif), str(root or ''), _runtime(), 'osu_', force=True)
    verdict, settings = facts['verdict'], settings_for(approach, SITE, facts)
    program = facts['image']['programs']['osu_latency'] + '/osu_latency'
    begin = time.monotonic()
    outcome = _run(pair, sif, settings, program)
    if (verdict['level'], outcome.happened, agreement(verdict, outcome)) == ('fails', 'fails', 'no'):
        # Intel MPI keeps for itself what dlopen() said. The loader can be asked.
        asked = _run(pair, sif, settings, program, ['--env', 'LD_DEBUG=versions'])
        line = confirmation(verdict, asked.output)
        if asked.happened == 'fails' and line:
            line = re.sub(r'^\d+:\s+', '', line)
            outcome = outcome._replace(text=f'{outcome.text} With LD_DEBUG=versions: {line}', output=asked.output)
    elif outcome.happened == 'fails':
        outcome = outcome._replace(text=confirmation(verdict, outcome.output) or outcome.text)

    def plain(text):
        for path in filter(None, (root, sif, PROJECT)):
            text = text.replace(f'{path}/', '/').replace(str(path), path.name)
        return text

    return {**pair._asdict(), 'mpi_type': settings.pmi, 'verdict': verdict['level'],
            'because': [plain(finding['reason']) for finding in verdict['findings']
                        if finding['level'] == verdict['level']],
            'happened': outcome.happened, 'text': plain(outcome.text), 'agrees': agreement(verdict, outcome),
            'seconds': round(time.monotonic() - begin, 1), 'output': plain(outcome.output)}


# What the command does

def as_table(results):
    """Return the table (str) of results (list of dict from tried()), a line a pair and its reasons below it."""
    lines = [f"{'MPI':20}{'image':11}{'libfabric':17}{'approach':10}{'verdict':14}{'really':8}agrees"]
    for one in results:
        lines.append(f"{one['mpi']:20}{'Debian ' + one['debian']:11}{one['libfabric'] + ' of ' + one['owner']:17}"
                     f"{one['approach']:10}{one['verdict']:14}{one['happened']:8}{one['agrees']}")
        texts = [f'check: {reason}' for reason in one['because']] + [f"run: {one['text']}"]
        for text in texts if one['happened'] == 'fails' or one['agrees'] == 'no' else []:
            lines += textwrap.wrap(text, 116, initial_indent='    ', subsequent_indent=' ' * 11,
                                   break_on_hyphens=False, break_long_words=False)
    counts = {word: sum(one['agrees'] == word for one in results) for word in ('yes', 'no claim', 'no')}
    return '\n'.join([*lines, '', f"{counts['yes']} agree, {counts['no claim']} without a claim, {counts['no']} "
                                  "disagree"])


def as_record(results):
    """Return what is kept of results (dict of plain data): date, machine, pairs."""
    machine, versions = record.machine(), record.versions(_of_this_machine())
    return {
        'date': record.now()[:10],
        'machine': {**{key: machine[key] for key in ('system', 'kernel', 'architecture', 'cpu', 'cores')},
                    'runtime': versions['runtime'], 'slurm': versions['slurm'],
                    'network': 'tcp, two nodes of a Slurm on one machine'},
        'libfabrics': {release: title for release, (title, _) in LIBFABRICS.items()},
        'pairs': [{key: value for key, value in one.items() if key not in ('output', 'seconds')} for one in results],
    }


def parse(arguments):
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser(prog='stand-in/pairs', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('words', nargs='*', metavar='WORD', help="only the pairs whose names have all words in them")
    what = parser.add_mutually_exclusive_group()
    what.add_argument('--list', action='store_true', help="print the names of the pairs")
    what.add_argument('--trees', action='store_true', help="make the host trees of these pairs and print their folders")
    what.add_argument('--json', action='store_true', help="the same for programs, the output of each run included")
    what.add_argument('--record', type=Path, metavar='FILE', help="write what happened, without paths of this machine")
    options = parser.parse_args(arguments)
    if options.record and options.words:
        parser.error("--record keeps all pairs, so it takes no words")
    return options


def main():
    """Try the pairs; turn an expected failure into a message and exit code 2."""
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    chosen = [pair for pair in pairs() if all(word in pair.name for word in options.words)]
    results = []
    try:
        if options.list:
            print('\n'.join(pair.name for pair in chosen))
            return 0
        if not chosen:
            raise StandInError(f"no pair has {' and '.join(options.words)} in its name; --list prints them")
        if options.trees:
            wanted = {pair.libfabric for pair in chosen if pair.owner == 'host'}
            print('\n'.join(str(tree(libfabric)) for libfabric in LIBFABRICS if libfabric in wanted))
            return 0
        stand_in.run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
        for number, pair in enumerate(chosen, 1):
            results.append(tried(pair))
            one = results[-1]
            say(f"{number} of {len(chosen)}: {pair.name}: {one['verdict']}, {one['happened']}"
                f"{'' if one['agrees'] != 'no' else ': they DISAGREE'}")
        if options.record:
            options.record.write_text(json.dumps(as_record(results), indent=1) + '\n')
    except (StandInError, FactsError, SettingsError, ImageError, ElfError, OSError) as err:
        print(f"stand-in/pairs: error: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stand-in/pairs: interrupted; repeat it", file=sys.stderr)
        return 130
    print(json.dumps(results, indent=1) if options.json else as_table(results))
    return 1 if any(one['agrees'] == 'no' for one in results) else 0


if __name__ == '__main__':
    sys.exit(main())
