"""
The command osu-container try: what works on this system, with an image that lies there, before anything is installed.

In a job of two nodes (try.sbatch) it asks discover and check, starts latency and bandwidth by each approach as its
module would, with a proof of each rank, and writes all of it into one file (try_file.py). What fails is said, with what
`why` knows of it, and the rest goes on.

Python 3.6 and its standard library only: compute nodes have no other.
"""
import argparse
import contextlib
import glob
import io
import os
import re
import shutil
import subprocess
import tempfile
import time
import traceback

from osu_container import __version__
from osu_container.base import columns, outputs, streams
from osu_container.base.places import PROJECT, SCRIPTS
from osu_container.check import cli as check
from osu_container.check.site import SettingsError, this_site
from osu_container.check.try_ import staged
from osu_container.check.try_.try_file import SITE, Discretion, TryFile
from osu_container.discover.cli import found_now
from osu_container.discover.write import report_of, source_of
from osu_container.image.elf import ElfError
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.install.site_image import image_folders
from osu_container.proof import judging, proof_text
from osu_container.proof.cli import judged as proved
from osu_container.verdict import launching
from osu_container.verdict.facts import FactsError, facts_of, find_runtime
from osu_container.verdict.settings import approach_entry, settings_for
from osu_container.verdict.site_choice import site_entry
from osu_container.verdict.trial import Host, NoMpi
from osu_container.verdict.verdict import ask, judged, recommended, said
from osu_container.why.cli import main as why

#: (nodes, tasks a node), programs and buffers, in the order in which they run: what tells most comes first
PLACEMENTS, PROGRAMS, BUFFERS = ((2, 1), (1, 2)), ('osu_latency', 'osu_bw'), ('H H', 'D D')
#: Arguments where no fast network is: those of the tag demo of bench, with which a run takes some seconds
SLOW = {'osu_latency': '-m 65536 -i 200 -x 10', 'osu_bw': '-m 4194304 -i 10 -x 1'}
#: Seconds: of a job that does not say when it ends; that are kept for the last words; of one step at most, at least
WHOLE, LAST, STEP, LEAST = 600, 45, 90, 5
#: Lines and bytes of an output that are kept
TAIL, OUTPUT = 40, 3000
#: srun refuses options of the site's jobs that this job has nothing for (slurm_errno.c)
_NOT_HERE = re.compile(r'Invalid generic resource|Requested node configuration|More processors requested', re.I)


class TryError(Exception):
    """A step that did not end well; the text is for people."""


def add_arguments(parser):
    """Add the arguments of `osu-container try`."""
    parser.add_argument('image', nargs='?', metavar='IMAGE', help="SIF with osu_latency and osu_bw; default: those "
                        "that lie on this system, as its site names them, until one of them runs")
    parser.add_argument('--site', metavar='NAME', help="which system this is; default: by its host name, else as "
                        "discover finds it")
    parser.add_argument('--sysroot', metavar='DIR', help="folder that stands in for the host's /")
    parser.add_argument('-o', '--output', metavar='FILE', help="the file (default: osu-try-SITE-JOB.txt)")
    parser.epilog = "Submit it: sbatch try.sbatch. Outside of a job it looks and runs nothing."
    parser.set_defaults(function=main, prog='osu-container try', errors=(OSError,),
                        after_interrupt='the file holds what was known by then')


def main(options):
    """Try; return the exit code."""
    attempt = Attempt(options)
    with attempt.folder():
        attempt.run()
    print('\n%s' % attempt.summary())
    print("\nSend this file: %s" % attempt.file.path)
    return 1 if attempt.failed else 0


class Attempt(object):
    """One run: what it found, what failed, and the file."""

    def __init__(self, options):
        """options: of add_arguments(). Raises OSError where no file can be written."""
        self.options, self.begin = options, time.time()
        end = os.environ.get('SLURM_JOB_END_TIME', '')
        self.end = (int(end) if end.isdigit() else self.begin + WHOLE) - LAST
        #: sentences; {approach: (what check says, {run: figure})}
        self.failed, self.left, self.table = [], [], {}
        self.found = self.site = self.image = self.work = self.runtime = None
        self.root, self.sites, self.ran, self.done = (options.sysroot or '').rstrip('/'), [], 0, 0
        self.step_options = None
        self.file = None

    @contextlib.contextmanager
    def folder(self):
        """Give the run a folder that all nodes see, in the current one, and take it away at the end."""
        try:
            self.site, self.root = this_site(self.options.site, self.options.sysroot)
            self.sites = [(self.site, self.root)]
        except SettingsError as err:
            self.left.append('no site of this project is recognised: %s' % err)
        name = 'osu-try-%s-%s' % (self.site['name'] if self.site else 'unknown', os.environ.get(
            'SLURM_JOB_ID') or time.strftime('%Y%m%dT%H%M%SZ', time.gmtime()))
        path = self.options.output or name + '.txt'
        if os.path.lexists(path):
            raise outputs.OutputError(path, 'it is there already, and stays as it is. Choose another name: -o FILE')
        outputs.check(path)
        self.work = tempfile.mkdtemp(prefix='osu-try-', dir=os.getcwd())
        try:
            self.file = TryFile(path, Discretion(os.environ, [(self.work, 'WORK'), (str(PROJECT), 'CLONE')]))
            yield
        finally:
            shutil.rmtree(self.work, ignore_errors=True)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def step(self, title, function, *arguments):
        """Call function; return what it returns, None where it failed, which is kept with what `why` knows of it."""
        print('[%4.0f s] %s' % (time.time() - self.begin, title), flush=True)
        text = None
        try:
            return function(*arguments)
        except (TryError, SettingsError, FactsError, ImageError, ElfError, judging.ProofError, OSError) as err:
            text = str(err)
        except Exception:  # whatever it is, the steps that follow say more than none
            text = traceback.format_exc()
        finally:
            if text is not None:
                self.failed.append(title)
                print('          failed: %s' % text.strip().split('\n')[-1][:200], flush=True)
                self.file.add('errors', '* %s\n%s\n%s' % (title, text.strip(), self.explained(text)))
            self.save()
        return None

    def explained(self, text):
        """Return what `osu-container why` says of a text (str)."""
        path = os.path.join(self.work, 'output')
        with open(path, 'w', encoding='utf-8', errors='replace') as handle:
            handle.write(text)
        said_of_it = io.StringIO()
        with contextlib.redirect_stdout(said_of_it):
            known = why(argparse.Namespace(log=[path], json=False)) == 0
        return 'why:\n' + said_of_it.getvalue() if known else 'why: no cause is known'

    def save(self):
        """Write the file as far as it is known: a job may be ended at any moment."""
        self.file.parts['summary'] = []
        self.file.add('summary', self.summary())
        outputs.replace(self.file.path, self.file.text())

    def run(self):
        """Do all steps."""
        self.found = self.step('facts of this node (discover)', found_now, self.root)
        if self.found:
            self.file.add('facts', report_of(self.found))
            self.file.add(SITE, source_of(self.found))
            self.step('the site that discover found', self.add_found_site)
        for path in self.step('images that lie here', self.images) or []:
            if self.left_time() < 2 * LEAST:
                self.failed.append('no time was left for %s' % path)
                break
            self.step('image %s' % path, self.try_image, path)
            if self.done:
                break
        self.save()

    def left_time(self):
        """Return how many seconds (float) are left."""
        return self.end - time.time()

    def add_found_site(self):
        """Take the site that discover found for what the known one does not have, or has wrong."""
        name = self.found['name']
        own = site_entry(name, {name: self.found['site']})
        if self.site:  # what no command tells
            own = dict(own, gpu_binding=self.site['gpu_binding'], jobs=self.site['jobs'],
                       name='%s as discover sees it' % self.site['name'])
        self.sites.append((own, self.found['root']))
        self.site, self.root = self.sites[0]

    def images(self):
        """Return the paths (list of str) of images to try. Raises TryError without one."""
        if self.options.image:
            return [self.options.image]
        if not self.site:
            raise TryError("no system is known here, so no image is: sbatch try.sbatch IMAGE.sif")
        patterns = [self.root + path for path in self.site.get('images_there', {'value': []})['value']]
        named = list(self.site['images']['value'].values())
        names = sorted(set(named), key=lambda name: ('mpi4py' in name, -named.count(name), name))  # of most approaches
        folders = [str(PROJECT / 'sources'), os.getcwd()] + image_folders(self.site, self.root, os.environ)
        patterns += [os.path.join(folder, name) for name in names for folder in folders]
        found = [path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True)]
        if not found:
            raise TryError("none of the images of %s is here; looked for %s. Name one: sbatch try.sbatch IMAGE.sif"
                           % (self.site['name'], ', '.join(patterns[:6])))
        return sorted(set(found), key=found.index)

    # ---- an image ----------------------------------------------------------------------------------------------------

    def try_image(self, path):
        """Judge an image (str, path) and run what may work. Raises TryError and what reading it raises."""
        self.image = path
        runtime = self.runtime = self.runtime or self.step('container runtime', self.find_runtime)
        with Image(path, 'osu_') as image:
            lacking = [name for name in PROGRAMS if name not in image.programs]
            if lacking:
                raise TryError("%s has no %s: it holds %d programs osu_*. Nothing of it can be measured here" % (
                    path, ' and no '.join(lacking), len(image.programs)))
            ready = self.judge(image, runtime)
        stages = []
        for name, (settings, gpu) in ready:
            place = tempfile.mkdtemp(prefix=name + '-', dir=self.work)
            made = self.step('what the module %s would have' % name, staged.make, place, settings, path,
                             runtime['command'])
            if made is not None:
                stages.append((name, settings, os.path.join(place, 'bin'), made, gpu))
        if not launching.job_of(os.environ)[0]:
            self.left.append('all runs: this is no job. To run: sbatch try.sbatch')
            return
        stages += self.host_programs()
        for nodes, tasks in PLACEMENTS:
            there = launching.nodes_of(os.environ) or 1
            if nodes > there:
                self.left.append('%d nodes: the job has %d' % (nodes, there))
                continue
            for stage in stages:
                self.measure(nodes, tasks, *stage)

    def host_programs(self):
        """Return the stage (as for measure()) of programs of the host on PATH, which a module may bring, as a list."""
        found = [shutil.which(name) or '' for name in PROGRAMS]
        place = os.path.dirname(found[0])
        if not all(found) or os.path.basename(os.path.realpath(found[0])) == 'run-in-container':
            self.left.append('native: no osu_latency and osu_bw of the host on PATH. To compare with them, submit this '
                             'with a module loaded that has them')
            return []
        self.table['native'] = 'not asked: programs of the host, %s' % place, {}
        return [('native', None, place, {}, bool(self.site['gpu']['value']))]

    def find_runtime(self):
        """Return the container runtime (dict). Raises TryError."""
        try:
            return find_runtime(self.site['runtime']['value'])
        except FactsError as err:
            engine = self.site.get('engine', {'value': None})['value']
            raise TryError('%s%s' % (err, engine and '. The containers of this system are started by %s, for which '
                                     'docs/other-systems.md has files: this command cannot do that' % engine or ''))

    def judge(self, image, runtime):
        """Ask check of an open Image; return [(approach, (Settings, whether GPUs can be used))] of what may work."""
        names = [name for name in check.CONTAINERS if not approach_entry(name).get('entrypoint') or image.entrypoint()]
        verdicts, ready = [], {}
        for name in names:
            verdict, settings, gpu = self.step('check: %s' % name, self.ask, name, image, runtime) or (None,) * 3
            if verdict:
                verdicts.append(verdict)
                other = settings and settings.site != self.site['name']
                self.table[name] = (said(verdict) + (', by what discover found' if other else ''), {})
            if settings:
                ready[name] = settings, gpu
        best = recommended(verdicts, self.site)
        self.file.add('verdict', check.page(check.image_facts(image, len(image.programs)), self.site, Host(self.root),
                                            verdicts, best, False))
        self.left += ['%s: %s' % (name, 'check says that it fails' if runtime else 'no container runtime')
                      for name in names if name not in ready]
        return sorted(ready.items(), key=lambda item: item[0] != best)

    def ask(self, name, image, runtime):
        """Return (Verdict, Settings or None, whether it uses GPUs) of an approach (str), by the first fitting site."""
        first = None
        for site, root in self.sites:
            approach = approach_entry(name)
            try:
                trial, verdict = judged(approach, site, image, Host(root), runtime=runtime, dry=bool(runtime))
            except (NoMpi, SettingsError):
                first = first or (ask(approach, site, image, Host(root), runtime=runtime), None, False)
                continue
            if verdict.level != 'fails' and runtime:
                facts = facts_of(trial, verdict, runtime)
                return verdict, settings_for(trial.approach, site, facts), bool(site['gpu']['value']
                                                                                and facts['image']['gpu'])
            first = first or (verdict, None, False)
            if not runtime or 'host path missing' not in [finding.rule for finding in verdict.findings]:
                break
        return first

    # ---- runs --------------------------------------------------------------------------------------------------------

    def measure(self, nodes, tasks, name, settings, place, variables, gpu):
        """
        Run the programs of an approach (str) on so many nodes (int), with so many tasks (int) on each.

        :param settings: Settings, None of the host's programs; place: str, their folder
        :param variables: dict, what is set for them; gpu: bool, whether they use GPUs
        """
        for buffers in BUFFERS:
            for program in PROGRAMS:
                what = '%s: %s %s on %d node%s' % (name, program, buffers, nodes, 's' * (nodes > 1))
                if buffers == 'D D' and not gpu:
                    self.left.append('%s: site or image has no GPU' % buffers)
                elif self.left_time() < LEAST:
                    self.failed.append(what + ': no time was left')
                else:
                    self.ran += 1
                    self.done += bool(self.step(what, self.one_run, (nodes, tasks), name, settings, place, variables,
                                                (program, buffers)))

    def one_run(self, placement, name, settings, place, variables, called):
        """Run one program with a proof, and keep its figures; return True. Raises TryError where something is wrong."""
        nodes, tasks = placement
        step = self.site['jobs']['value']['step'] if self.step_options is None else self.step_options
        proofs = os.path.join(self.work, 'proof-%d' % self.ran)
        launcher, kind = launching.launcher_name(self.site), settings and settings.stack.pmi
        bound = ['osu-gpu-bind'] if settings and settings.sets.gpu_map and step else []
        typed = launching.typed(launcher, nodes, nodes * tasks, unbound=bool(bound),
                                step=launching.pmi_words(launcher, kind, True) + step)
        slow = self.site['provider']['value'] == 'tcp'
        program = [called[0]] + (SLOW[called[0]].split() if slow else []) + called[1].split()
        env = dict(os.environ, OSU_PROOF=proofs, SLURM_EXPORT_ENV='ALL', **variables)
        env['PATH'] = place + os.pathsep + env.get('PATH', os.defpath)
        prover = [] if settings else [os.path.join(SCRIPTS, 'rank-proof'), '--asked']
        code, out, err = self.start(typed + [os.path.join(place, word) for word in bound] + prover
                                    + [os.path.join(place, program[0])] + program[1:], env)
        if code and step and self.step_options is None and _NOT_HERE.search(err):
            self.step_options = []
            self.left.append('%s of %s: the job has nothing for it' % (' '.join(step), typed[0]))
            return self.one_run(placement, name, settings, place, variables, called)
        line = ' '.join(typed + bound + program)
        problems = self.prove(line, name, None if settings else name, proofs)
        if code:
            raise TryError('%s\n%s: %s' % (line, code, '\n'.join((out + err).strip().split('\n')[-TAIL:])))
        self.file.add('figures', '$ %s\n%s' % (line, out[:OUTPUT]), series=name)
        self.keep_figure(name, nodes, called, out)
        if problems:
            raise TryError('%s\nthe proof contradicts the promise: %s' % (line, '; '.join(problems)))
        return True

    def start(self, command, env):
        """Run a command (list of str) as long as there is time; return (what is wrong (str), stdout, stderr)."""
        with open(os.path.join(self.work, 'out'), 'w+b') as out, open(os.path.join(self.work, 'err'), 'w+b') as err:
            limit = max(LEAST, min(STEP, self.left_time()))
            with streams.started(command, env=env, stdout=out, stderr=err) as child:
                try:
                    code = child.wait(limit)
                    wrong = 'exit code %d' % code if code else ''
                except subprocess.TimeoutExpired:
                    streams.end_group(child)
                    wrong = 'ended after %d s' % limit
            texts = []
            for handle in (out, err):
                handle.seek(0)
                texts.append(handle.read(1 << 20).decode('utf-8', 'replace'))
        return (wrong,) + tuple(texts)

    def prove(self, line, name, promise, folder):
        """
        Add what the ranks of a run left in a folder (str) to the file; return contradictions (list of str).

        :param promise: str, approach that should have happened where no settings tell it to the ranks, else None
        """
        try:
            steps = judging.runs_in(folder) if os.path.isdir(folder) else []
            for step in steps:
                judging.wait_for(step)
            found = proved(steps, argparse.Namespace(approach=promise, expect=None))
        except judging.ProofError as err:
            found, steps = [], [str(err)]
        text = '\n'.join(proof_text.text('step', *each[1:]) for each in found)
        self.file.add('proof', '$ %s   (%s)\n%s' % (line, name, text or 'no rank left a file: %s' % ' '.join(steps)))
        return [problem for each in found for problem in each[3]]

    def keep_figure(self, name, nodes, called, out):
        """
        Keep one figure of a run for the table: the latency of 8 bytes, the bandwidth of the largest message.

        results/osu_output.py, which reads all that programs print, wants a newer Python than compute nodes have.
        """
        rows = re.findall(r'^\s*(\d+)\s+(\d+\.\d+)\s*$', out, re.M)
        wanted = [value for size, value in rows if size == '8'] if called[0] == 'osu_latency' else \
            [value for _, value in rows[-1:]]
        if wanted:
            self.table[name][1]['%s %s %d' % (called + (nodes,))] = wanted[0]

    # ---- words -------------------------------------------------------------------------------------------------------

    def summary(self):
        """Return the first lines of the file (str)."""
        site, found = self.site, self.found or {}
        lines = ['version: %s' % __version__, 'site: %s' % (site['name'] if site else 'not known'),
                 'began: %s' % time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.begin)),
                 'seconds: %d' % (time.time() - self.begin), 'node: %s (%s)' % (found.get('node'), found.get('kind')),
                 'image: %s' % self.image, 'runs: %d of %d ended well' % (self.done, self.ran), '']
        if self.table:
            measured = {name: row for name, (_, row) in self.table.items() if row}
            rows = [['%s %s, %d node%s' % (program[4:], buffers, nodes, 's' * (nodes > 1))] + [
                row.get('%s %s %d' % (program, buffers, nodes), '-') for row in measured.values()] + ['']
                for nodes, _ in PLACEMENTS for buffers in BUFFERS for program in PROGRAMS]
            if measured:
                rows = [row for row in rows if set(row[1:-1]) != {'-'}]
                lines += columns.table([['', *measured, '']] + rows, range(1, len(measured) + 1))
                lines += ['(osu_latency: us at 8 B; osu_bw: MB/s at the largest message)', '']
            lines += ['What check says:'] + columns.table(
                [(name, level) for name, (level, _) in self.table.items()], indent='  ') + ['']
        lines += ['failed: %s' % title for title in self.failed] or ['failed: nothing']
        return '\n'.join(lines + ['left out: %s' % one for one in sorted(set(self.left), key=self.left.index)])
