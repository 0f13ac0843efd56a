"""
The command osu-container try: what works on this system, with an image that lies there, before
anything is installed.

In a job of two nodes (try.sbatch) it asks discover and check, starts latency and bandwidth by each
approach as its module would, with a proof of each rank, and writes all of it into one file
(try_file.py). What fails is said, with what `why` knows of it, and the rest goes on.

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
from osu_container.check.site import SettingsError, find_site
from osu_container.check.try_ import staged
from osu_container.check.try_.try_file import SITE_PART, Redactor, TryFile
from osu_container.discover.cli import discover_system
from osu_container.discover.write import format_survey_report, render_site_file
from osu_container.image.elf import ElfError
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.install.site_image import list_image_folders
from osu_container.proof import judging, proof_text
from osu_container.proof.cli import judge_steps as proved
from osu_container.verdict import launching
from osu_container.verdict.facts import FactsError, collect_facts, find_runtime
from osu_container.verdict.settings import build_settings, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem, NoMpiError
from osu_container.verdict.verdict import (
    evaluate_approach,
    format_verdict,
    judge_approach,
    recommend_approach,
)
from osu_container.why.cli import main as why

#: (nodes, tasks a node), programs and buffers, in the order in which they run: what tells most
#: comes first
PLACEMENTS, PROGRAMS, BUFFERS = ((2, 1), (1, 2)), ('osu_latency', 'osu_bw'), ('H H', 'D D')
#: Arguments where no fast network is: those of the tag demo of bench, with which a run takes some
#: seconds
SLOW_ARGUMENTS = {'osu_latency': '-m 65536 -i 200 -x 10', 'osu_bw': '-m 4194304 -i 10 -x 1'}
#: Seconds: of a job that does not say when it ends; that are kept for the last words; of one step
#: at most, at least
JOB_SECONDS, RESERVED_SECONDS, STEP_SECONDS, MINIMUM_SECONDS = 600, 45, 90, 5
#: Lines and bytes of an output that are kept
TAIL_LINES, OUTPUT_BYTES = 40, 3000
#: srun refuses options of the site's jobs that this job has nothing for (slurm_errno.c)
_UNAVAILABLE_RESOURCE = re.compile(
    r'Invalid generic resource|Requested node configuration|More processors requested', re.I
)


class TryError(Exception):
    """A step that did not end well; the text is for people."""


def add_arguments(parser):
    """Add the arguments of `osu-container try`."""
    parser.add_argument(
        'image',
        nargs='?',
        metavar='IMAGE',
        help="SIF with osu_latency and osu_bw; default: those "
        "that lie on this system, as its site names them, until one of them runs",
    )
    parser.add_argument(
        '--site',
        metavar='NAME',
        help="which system this is; default: by its host name, else as discover finds it",
    )
    parser.add_argument('--sysroot', metavar='DIR', help="folder that stands in for the host's /")
    parser.add_argument(
        '-o', '--output', metavar='FILE', help="the file (default: osu-try-SITE-JOB.txt)"
    )
    parser.epilog = "Submit it: sbatch try.sbatch. Outside of a job it looks and runs nothing."
    parser.set_defaults(
        function=main,
        prog='osu-container try',
        errors=(OSError,),
        after_interrupt='the file holds what was known by then',
    )


def main(options):
    """Try; return the exit code."""
    attempt = TryRun(options)
    with attempt.open_work_folder():
        attempt.run()
    print('\n%s' % attempt.format_summary())
    print("\nSend this file: %s" % attempt.file.path)
    return 1 if attempt.failed else 0


class TryRun(object):
    """One run: what it found, what failed, and the file."""

    def __init__(self, options):
        """options: of add_arguments(). Raises OSError where no file can be written."""
        self.options, self.begin = options, time.time()
        end = os.environ.get('SLURM_JOB_END_TIME', '')
        self.end = (int(end) if end.isdigit() else self.begin + JOB_SECONDS) - RESERVED_SECONDS
        #: sentences; {approach: (what check says, {run: figure})}
        self.failed, self.skipped, self.table = [], [], {}
        self.discovered_system = self.site = self.image = self.work = self.runtime = None
        self.root, self.sites, self.run_count, self.success_count = (
            (options.sysroot or '').rstrip('/'),
            [],
            0,
            0,
        )
        self.step_options = None
        self.file = None

    @contextlib.contextmanager
    def open_work_folder(self):
        """
        Give the run a folder that all nodes see, in the current one, and take it away at the
        end.
        """
        try:
            self.site, self.root = find_site(self.options.site, self.options.sysroot)
            self.sites = [(self.site, self.root)]
        except SettingsError as err:
            self.skipped.append('no site of this project is recognised: %s' % err)
        name = 'osu-try-%s-%s' % (
            self.site['name'] if self.site else 'unknown',
            os.environ.get('SLURM_JOB_ID') or time.strftime('%Y%m%dT%H%M%SZ', time.gmtime()),
        )
        path = self.options.output or name + '.txt'
        if os.path.lexists(path):
            raise outputs.OutputFileError(
                path, 'it is there already, and stays as it is. Choose another name: -o FILE'
            )
        outputs.require_writable(path)
        self.work = tempfile.mkdtemp(prefix='osu-try-', dir=os.getcwd())
        try:
            self.file = TryFile(
                path, Redactor(os.environ, [(self.work, 'WORK'), (str(PROJECT), 'CLONE')])
            )
            yield
        finally:
            shutil.rmtree(self.work, ignore_errors=True)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def run_step(self, title, function, *arguments):
        """
        Call function; return what it returns, None where it failed, which is kept with what
        `why` knows of it.
        """
        print('[%4.0f s] %s' % (time.time() - self.begin, title), flush=True)
        text = None
        try:
            return function(*arguments)
        except (
            TryError,
            SettingsError,
            FactsError,
            ImageError,
            ElfError,
            judging.ProofError,
            OSError,
        ) as err:
            text = str(err)
        except Exception:  # whatever it is, the steps that follow say more than none
            text = traceback.format_exc()
        finally:
            if text is not None:
                self.failed.append(title)
                print('          failed: %s' % text.strip().split('\n')[-1][:200], flush=True)
                self.file.add(
                    'errors', '* %s\n%s\n%s' % (title, text.strip(), self.explain_failure(text))
                )
            self.save()
        return None

    def explain_failure(self, text):
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
        self.file.add('summary', self.format_summary())
        outputs.replace_file(self.file.path, self.file.render())

    def run(self):
        """Do all steps."""
        self.discovered_system = self.run_step(
            'facts of this node (discover)', discover_system, self.root
        )
        if self.discovered_system:
            self.file.add('facts', format_survey_report(self.discovered_system))
            self.file.add(SITE_PART, render_site_file(self.discovered_system))
            self.run_step('the site that discover found', self.add_discovered_site)
        for path in self.run_step('images that lie here', self.find_images) or []:
            if self.compute_remaining_seconds() < 2 * MINIMUM_SECONDS:
                self.failed.append('no time was left for %s' % path)
                break
            self.run_step('image %s' % path, self.try_image, path)
            if self.success_count:
                break
        self.save()

    def compute_remaining_seconds(self):
        """Return how many seconds (float) are left."""
        return self.end - time.time()

    def add_discovered_site(self):
        """Take the site that discover found for what the known one does not have, or has wrong."""
        name = self.discovered_system['name']
        own = resolve_site(name, {name: self.discovered_system['site']})
        if self.site:  # what no command tells
            own = dict(
                own,
                gpu_binding=self.site['gpu_binding'],
                jobs=self.site['jobs'],
                name='%s as discover sees it' % self.site['name'],
            )
        self.sites.append((own, self.discovered_system['root']))
        self.site, self.root = self.sites[0]

    def find_images(self):
        """Return the paths (list of str) of images to try. Raises TryError without one."""
        if self.options.image:
            return [self.options.image]
        if not self.site:
            raise TryError("no system is known here, so no image is: sbatch try.sbatch IMAGE.sif")
        patterns = [
            self.root + path for path in self.site.get('images_there', {'value': []})['value']
        ]
        named = list(self.site['images']['value'].values())
        names = sorted(
            set(named), key=lambda name: ('mpi4py' in name, -named.count(name), name)
        )  # of most approaches
        folders = [str(PROJECT / 'sources'), os.getcwd()] + list_image_folders(
            self.site, self.root, os.environ
        )
        patterns += [os.path.join(folder, name) for name in names for folder in folders]
        found = [path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True)]
        if not found:
            raise TryError(
                "none of the images of %s is here; looked for %s. Name one: sbatch try.sbatch IMAGE.sif"
                % (self.site['name'], ', '.join(patterns[:6]))
            )
        return sorted(set(found), key=found.index)

    # ---- an image ----------------------------------------------------------------------------------------------------

    def try_image(self, path):
        """
        Judge an image (str, path) and run what may work. Raises TryError and what reading it
        raises.
        """
        self.image = path
        runtime = self.runtime = self.runtime or self.run_step(
            'container runtime', self.find_runtime
        )
        with Image(path, 'osu_') as image:
            lacking = [name for name in PROGRAMS if name not in image.programs]
            if lacking:
                raise TryError(
                    "%s has no %s: it holds %d programs osu_*. Nothing of it can be measured here"
                    % (path, ' and no '.join(lacking), len(image.programs))
                )
            ready = self.judge_approaches(image, runtime)
        stages = []
        for name, (settings, gpu) in ready:
            place = tempfile.mkdtemp(prefix=name + '-', dir=self.work)
            made = self.run_step(
                'what the module %s would have' % name,
                staged.create_module_folder,
                place,
                settings,
                path,
                runtime['command'],
            )
            if made is not None:
                stages.append((name, settings, os.path.join(place, 'bin'), made, gpu))
        if not launching.find_job(os.environ)[0]:
            self.skipped.append('all runs: this is no job. To run: sbatch try.sbatch')
            return
        stages += self.find_host_programs()
        for nodes, tasks in PLACEMENTS:
            there = launching.count_job_nodes(os.environ) or 1
            if nodes > there:
                self.skipped.append('%d nodes: the job has %d' % (nodes, there))
                continue
            for stage in stages:
                self.measure_approach(nodes, tasks, *stage)

    def find_host_programs(self):
        """
        Return the stage (as for measure_approach()) of programs of the host on PATH, which a
        module may bring, as a list.
        """
        found = [shutil.which(name) or '' for name in PROGRAMS]
        place = os.path.dirname(found[0])
        if not all(found) or os.path.basename(os.path.realpath(found[0])) == 'run-in-container':
            self.skipped.append(
                'native: no osu_latency and osu_bw of the host on PATH. To compare with them, submit this '
                'with a module loaded that has them'
            )
            return []
        self.table['native'] = 'not asked: programs of the host, %s' % place, {}
        return [('native', None, place, {}, bool(self.site['gpu']['value']))]

    def find_runtime(self):
        """Return the container runtime (dict). Raises TryError."""
        try:
            return find_runtime(self.site['runtime']['value'])
        except FactsError as err:
            engine = self.site.get('engine', {'value': None})['value']
            raise TryError(
                '%s%s'
                % (
                    err,
                    engine
                    and '. The containers of this system are started by %s, for which '
                    'docs/other-systems.md has files: this command cannot do that'
                    % engine
                    or '',
                )
            )

    def judge_approaches(self, image, runtime):
        """
        Ask check of an open Image; return [(approach, (Settings, whether GPUs can be used))] of
        what may work.
        """
        names = [
            name
            for name in check.CONTAINER_APPROACHES
            if not resolve_approach(name).get('entrypoint') or image.read_entrypoint()
        ]
        verdicts, ready = [], {}
        for name in names:
            verdict, settings, gpu = (
                self.run_step('check: %s' % name, self.select_site_verdict, name, image, runtime)
                or (None,) * 3
            )
            if verdict:
                verdicts.append(verdict)
                other = settings and settings.site != self.site['name']
                self.table[name] = (
                    format_verdict(verdict) + (', by what discover found' if other else ''),
                    {},
                )
            if settings:
                ready[name] = settings, gpu
        best = recommend_approach(verdicts, self.site)
        self.file.add(
            'verdict',
            check.format_check_report(
                check.summarize_image(image, len(image.programs)),
                self.site,
                HostFileSystem(self.root),
                verdicts,
                best,
                False,
            ),
        )
        self.skipped += [
            '%s: %s' % (name, 'check says that it fails' if runtime else 'no container runtime')
            for name in names
            if name not in ready
        ]
        return sorted(ready.items(), key=lambda item: item[0] != best)

    def select_site_verdict(self, name, image, runtime):
        """
        Return (Verdict, Settings or None, whether it uses GPUs) of an approach (str), by the
        first fitting site.
        """
        first = None
        for site, root in self.sites:
            approach = resolve_approach(name)
            try:
                trial, verdict = evaluate_approach(
                    approach,
                    site,
                    image,
                    HostFileSystem(root),
                    runtime=runtime,
                    dry_run=bool(runtime),
                )
            except (NoMpiError, SettingsError):
                first = first or (
                    judge_approach(approach, site, image, HostFileSystem(root), runtime=runtime),
                    None,
                    False,
                )
                continue
            if verdict.level != 'fails' and runtime:
                facts = collect_facts(trial, verdict, runtime)
                return (
                    verdict,
                    build_settings(trial.approach, site, facts),
                    bool(site['gpu']['value'] and facts['image']['gpu']),
                )
            first = first or (verdict, None, False)
            if not runtime or 'host path missing' not in [
                finding.rule for finding in verdict.findings
            ]:
                break
        return first

    # ---- runs --------------------------------------------------------------------------------------------------------

    def measure_approach(self, nodes, tasks, name, settings, place, variables, gpu):
        """
        Run the programs of an approach (str) on so many nodes (int), with so many tasks (int) on
        each.

        :param settings: Settings, None of the host's programs; place: str, their folder
        :param variables: dict, what is set for them; gpu: bool, whether they use GPUs
        """
        for buffers in BUFFERS:
            for program in PROGRAMS:
                what = '%s: %s %s on %d node%s' % (name, program, buffers, nodes, 's' * (nodes > 1))
                if buffers == 'D D' and not gpu:
                    self.skipped.append('%s: site or image has no GPU' % buffers)
                elif self.compute_remaining_seconds() < MINIMUM_SECONDS:
                    self.failed.append(what + ': no time was left')
                else:
                    self.run_count += 1
                    self.success_count += bool(
                        self.run_step(
                            what,
                            self.run_program,
                            (nodes, tasks),
                            name,
                            settings,
                            place,
                            variables,
                            (program, buffers),
                        )
                    )

    def run_program(self, placement, name, settings, place, variables, called):
        """
        Run one program with a proof, and keep its figures; return True. Raises TryError where
        something is wrong.
        """
        nodes, tasks = placement
        step = (
            self.site['jobs']['value']['step'] if self.step_options is None else self.step_options
        )
        proofs = os.path.join(self.work, 'proof-%d' % self.run_count)
        launcher, kind = launching.select_launcher(self.site), settings and settings.stack.pmi
        bound = ['osu-gpu-bind'] if settings and settings.environment.gpu_map and step else []
        typed = launching.build_launch_command(
            launcher,
            nodes,
            nodes * tasks,
            unbound=bool(bound),
            step_options=launching.list_pmi_options(launcher, kind, True) + step,
        )
        slow = self.site['provider']['value'] == 'tcp'
        program = (
            [called[0]] + (SLOW_ARGUMENTS[called[0]].split() if slow else []) + called[1].split()
        )
        env = dict(os.environ, OSU_PROOF=proofs, SLURM_EXPORT_ENV='ALL', **variables)
        env['PATH'] = place + os.pathsep + env.get('PATH', os.defpath)
        prover = [] if settings else [os.path.join(SCRIPTS, 'rank-proof'), '--asked']
        code, out, err = self.run_command(
            typed
            + [os.path.join(place, word) for word in bound]
            + prover
            + [os.path.join(place, program[0])]
            + program[1:],
            env,
        )
        if code and step and self.step_options is None and _UNAVAILABLE_RESOURCE.search(err):
            self.step_options = []
            self.skipped.append('%s of %s: the job has nothing for it' % (' '.join(step), typed[0]))
            return self.run_program(placement, name, settings, place, variables, called)
        line = ' '.join(typed + bound + program)
        problems = self.record_proof(line, name, None if settings else name, proofs)
        if code:
            raise TryError(
                '%s\n%s: %s'
                % (line, code, '\n'.join((out + err).strip().split('\n')[-TAIL_LINES:]))
            )
        self.file.add('figures', '$ %s\n%s' % (line, out[:OUTPUT_BYTES]), series=name)
        self.record_figure(name, nodes, called, out)
        if problems:
            raise TryError(
                '%s\nthe proof contradicts the promise: %s' % (line, '; '.join(problems))
            )
        return True

    def run_command(self, command, env):
        """
        Run a command (list of str) as long as there is time; return (what is wrong (str),
        stdout, stderr).
        """
        with open(os.path.join(self.work, 'out'), 'w+b') as out, open(
            os.path.join(self.work, 'err'), 'w+b'
        ) as err:
            limit = max(MINIMUM_SECONDS, min(STEP_SECONDS, self.compute_remaining_seconds()))
            with streams.start_process_group(command, env=env, stdout=out, stderr=err) as child:
                try:
                    code = child.wait(limit)
                    wrong = 'exit code %d' % code if code else ''
                except subprocess.TimeoutExpired:
                    streams.terminate_process_group(child)
                    wrong = 'ended after %d s' % limit
            texts = []
            for handle in (out, err):
                handle.seek(0)
                texts.append(handle.read(1 << 20).decode('utf-8', 'replace'))
        return (wrong,) + tuple(texts)

    def record_proof(self, line, name, promise, folder):
        """
        Add what the ranks of a run left in a folder (str) to the file; return contradictions (list
        of str).

        :param promise: str, approach that should have happened where no settings tell it to the
            ranks, else None
        """
        try:
            steps = judging.list_step_folders(folder) if os.path.isdir(folder) else []
            for step in steps:
                judging.wait_for_files(step)
            found = proved(steps, argparse.Namespace(approach=promise, expect=None))
        except judging.ProofError as err:
            found, steps = [], [str(err)]
        text = '\n'.join(proof_text.format_report('step', *each[1:]) for each in found)
        self.file.add(
            'proof',
            '$ %s   (%s)\n%s' % (line, name, text or 'no rank left a file: %s' % ' '.join(steps)),
        )
        return [problem for each in found for problem in each[3]]

    def record_figure(self, name, nodes, called, out):
        """
        Keep one figure of a run for the table: the latency of 8 bytes, the bandwidth of the largest
        message.

        results/osu_output.py, which reads all that programs print, wants a newer Python than
        compute nodes have.
        """
        rows = re.findall(r'^\s*(\d+)\s+(\d+\.\d+)\s*$', out, re.M)
        wanted = (
            [value for size, value in rows if size == '8']
            if called[0] == 'osu_latency'
            else [value for _, value in rows[-1:]]
        )
        if wanted:
            self.table[name][1]['%s %s %d' % (called + (nodes,))] = wanted[0]

    # ---- words -------------------------------------------------------------------------------------------------------

    def format_summary(self):
        """Return the first lines of the file (str)."""
        site, found = self.site, self.discovered_system or {}
        lines = [
            'version: %s' % __version__,
            'site: %s' % (site['name'] if site else 'not known'),
            'began: %s' % time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.begin)),
            'seconds: %d' % (time.time() - self.begin),
            'node: %s (%s)' % (found.get('node'), found.get('kind')),
            'image: %s' % self.image,
            'runs: %d of %d ended well' % (self.success_count, self.run_count),
            '',
        ]
        if self.table:
            measured = {name: row for name, (_, row) in self.table.items() if row}
            rows = [
                ['%s %s, %d node%s' % (program[4:], buffers, nodes, 's' * (nodes > 1))]
                + [
                    row.get('%s %s %d' % (program, buffers, nodes), '-')
                    for row in measured.values()
                ]
                + ['']
                for nodes, _ in PLACEMENTS
                for buffers in BUFFERS
                for program in PROGRAMS
            ]
            if measured:
                rows = [row for row in rows if set(row[1:-1]) != {'-'}]
                lines += columns.format_table(
                    [['', *measured, '']] + rows, range(1, len(measured) + 1)
                )
                lines += ['(osu_latency: us at 8 B; osu_bw: MB/s at the largest message)', '']
            lines += (
                ['What check says:']
                + columns.format_table(
                    [(name, level) for name, (level, _) in self.table.items()], indent='  '
                )
                + ['']
            )
        lines += ['failed: %s' % title for title in self.failed] or ['failed: nothing']
        return '\n'.join(
            lines
            + ['left out: %s' % one for one in sorted(set(self.skipped), key=self.skipped.index)]
        )
