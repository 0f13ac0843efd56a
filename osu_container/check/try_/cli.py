"""
Define `osu-container try`: run every approach once, without installing anything.

In a job of two nodes (try.sbatch), the command first performs the steps of `osu-container discover`
and `osu-container check`. For each approach the command then runs the latency and bandwidth
benchmarks with the settings of the approach's module, and proves which libraries each rank has
loaded. All results are in one report file (try_file.py). If a step fails, the command records the
failure with the cause that `osu-container why` finds, and continues.

This module uses only Python 3.6 and its standard library, because compute nodes have no newer
Python.
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
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from osu_container import __version__
from osu_container.base import columns, files, outputs, streams
from osu_container.base.places import PROJECT, SCRIPTS
from osu_container.check import cli as check
from osu_container.check import start
from osu_container.check.site import SettingsError, find_site
from osu_container.check.try_.try_file import SITE_PART, Redactor, TryFile
from osu_container.discover.cli import discover_system
from osu_container.discover.host import find_root_problem
from osu_container.discover.write import format_survey_report, render_site_file
from osu_container.image.elf import ElfError
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.install.call_settings import create_module_folder
from osu_container.install.site_image import list_image_folders
from osu_container.proof import judging, patterns, proof_text
from osu_container.proof.cli import judge_steps
from osu_container.verdict import launching
from osu_container.verdict.facts import FactsError, collect_facts, find_runtime
from osu_container.verdict.settings import (
    Settings,
    build_settings,
    resolve_approach,
)
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem, NoMpiError
from osu_container.verdict.verdict import (
    Starter,
    Verdict,
    evaluate_approach,
    format_verdict,
    judge_approach,
    judge_remedies,
    recommend_approach,
)
from osu_container.why.search import search_file

#: (nodes, tasks per node), programs and buffers; the most informative runs come first
PLACEMENTS, PROGRAMS, BUFFERS = ((2, 1), (1, 2)), ('osu_latency', 'osu_bw'), ('H H', 'D D')
#: Arguments for a slow network, so that a run takes some seconds, as in bench --tag demo
SLOW_ARGUMENTS = {'osu_latency': '-m 65536 -i 200 -x 10', 'osu_bw': '-m 4194304 -i 10 -x 1'}
#: Seconds: length of a job without a known end, time reserved for the report, maximum and minimum
#: of a step
JOB_SECONDS, RESERVED_SECONDS, STEP_SECONDS, MINIMUM_SECONDS = 600, 45, 90, 5
#: Number of lines and bytes of an output that the report keeps
TAIL_LINES, OUTPUT_BYTES = 40, 3000
#: Messages of srun if the job lacks resources that the site's step options request (slurm_errno.c)
_UNAVAILABLE_RESOURCE = re.compile(
    r'Invalid generic resource|Requested node configuration|More processors requested', re.I
)


class TryError(Exception):
    """A step of `osu-container try` failed; the text of the error tells the user why."""


#: Errors whose text tells the user the problem
_EXPECTED = (
    TryError,
    SettingsError,
    FactsError,
    ImageError,
    ElfError,
    judging.ProofError,
    OSError,
)


class WorkFolderError(outputs.OutputFileError):
    """The work folder of `osu-container try` was replaced, so the command stops."""


class Stage(NamedTuple):
    """The settings with which the benchmarks of one approach run."""

    name: str
    settings: Optional[Settings]  #: settings of the approach's module, None for the host's programs
    folder: str  #: folder of the programs
    variables: Dict[str, str]  #: environment variables to set
    has_gpu: bool  #: whether the programs can use GPUs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container try` to the parser."""
    parser.add_argument(
        'image',
        nargs='?',
        metavar='IMAGE',
        help="SIF file with osu_latency and osu_bw; default: the images that the site names and "
        "that exist on this system, one after the other until a benchmark in an image "
        "succeeds",
    )
    parser.add_argument(
        '--site',
        metavar='SITE',
        help="name of the site, or path of a site file; default: the site to which the host name "
        "belongs, else the site that `osu-container discover` describes",
    )
    parser.add_argument('--sysroot', metavar='DIR', help=argparse.SUPPRESS)
    parser.add_argument(
        '-o', '--output', metavar='FILE', help="report file; default: osu-try-SITE-JOB.txt"
    )
    start.add_no_start_argument(parser)
    parser.epilog = (
        "Submit the command as a job: sbatch try.sbatch. Outside of a job the command inspects the "
        "system, and starts osu_latency, but only until MPI is loaded."
    )
    parser.set_defaults(
        function=main,
        prog='osu-container try',
        parser=parser,
        errors=(OSError,),
        after_interrupt='the report file contains all results up to now',
    )


def main(options: argparse.Namespace) -> int:
    """Run all steps of `osu-container try`, print the summary and return the exit code."""
    problem = find_root_problem(options.sysroot) if options.sysroot else None
    if problem:
        options.parser.error(problem)
    attempt = TryRun(options)
    with attempt.open_work_folder():
        attempt.run()
    print('\n%s' % attempt.format_summary())
    print("\nTo report the results, attach this file to an issue: %s" % attempt.file.path)
    return 1 if attempt.failed else 0


def _create_work_folder() -> str:
    """
    Create a marked folder in the user's cache folder, or else in /tmp; return the path.

    All nodes of a job see the cache folder, which is in the user's home. Other users cannot
    rename or replace the new folder. Raises OSError if the folder cannot be created.
    """
    cache = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    parents = [os.path.join(cache, 'osu-container'), '/tmp']
    for parent in filter(os.path.isabs, parents):
        try:
            os.makedirs(parent, 0o700, exist_ok=True)
            folder = outputs.make_work_folder(parent)
            files.require_own_folder(folder)
            break
        except OSError:
            if parent == parents[-1]:
                raise
    return folder


def _explain_failure(text: str) -> str:
    """Return the causes and the remedies that `osu-container why` knows for the text of an error."""
    messages = search_file(io.BytesIO(text.encode('utf-8', 'replace'))).list_messages()
    causes = ['%s\nremedy: %s' % (message['cause'], message['remedy']) for message in messages]
    return 'why: ' + '\n'.join(causes or ['no known cause'])


class TryRun:
    """One run of `osu-container try`: its results, its failures and its report file."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.begin = options, time.time()
        end = os.environ.get('SLURM_JOB_END_TIME', '')
        self.end = (int(end) if end.isdigit() else self.begin + JOB_SECONDS) - RESERVED_SECONDS
        self.failed: List[str] = []
        self.skipped: List[str] = []
        #: {approach: (verdict, {run: figure})}
        self.table: Dict[str, Tuple[str, Dict[str, str]]] = {}
        self.discovered_system: Optional[Dict[str, Any]] = None
        self.site: Any = None
        self.image: Optional[str] = None
        self.work: Any = None
        self.runtime: Optional[Dict[str, Any]] = None
        self.root = (options.sysroot or '').rstrip('/')
        self.sites: List[Tuple[Dict[str, Any], str]] = []
        #: {approach: patterns that do not work}, and the bits of sums with an approach
        self.patterns: Dict[str, List[patterns.Outcome]] = {}
        self.bits: Optional[Tuple[str, str]] = None
        self.run_count = self.success_count = 0
        self.step_options: Optional[List[str]] = None
        self.starter: Optional[Starter] = None
        self.file: Any = None

    @contextlib.contextmanager
    def open_work_folder(self) -> Iterator[None]:
        """
        Create the report file and a work folder, and remove the work folder at the end.

        Raises OSError if the report or the work folder cannot be written.
        """
        try:
            self.site, self.root = find_site(self.options.site, self.options.sysroot)
            self.sites = [(self.site, self.root)]
        except SettingsError as err:
            self.skipped.append('site: %s' % err)
        name = 'osu-try-%s-%s' % (
            self.site['name'] if self.site else 'unknown',
            os.environ.get('SLURM_JOB_ID') or time.strftime('%Y%m%dT%H%M%SZ', time.gmtime()),
        )
        path = self.options.output or name + '.txt'
        if os.path.lexists(path):
            raise outputs.OutputFileError(
                path, 'the file already exists and is not replaced. Choose another name: -o FILE'
            )
        outputs.require_writable(path)
        self.work = _create_work_folder()
        try:
            self.file = TryFile(
                path, Redactor(os.environ, [(self.work, 'WORK'), (str(PROJECT), 'CLONE')])
            )
            yield
        finally:
            for _ in range(50):  # Samplers of the ranks may still write into the folder.
                outputs.remove_folder(self.work)
                if not os.path.exists(self.work):
                    break
                time.sleep(0.1)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def run_step(self, title: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """
        Call `function` and return its result, None if the function fails.

        A failure is recorded in the report with the cause that `osu-container why` finds. Raises
        WorkFolderError if another process has replaced the work folder.
        """
        if not outputs.is_marked_folder(self.work):
            raise WorkFolderError(
                self.work,
                "somebody has replaced the work folder of osu-container try, so the command stops "
                "before it runs a file of the folder. Find out who may write to the parent folder",
            )
        print('[%4.0f s] %s' % (time.time() - self.begin, title), flush=True)
        try:
            return function(*arguments)
        except Exception as err:  # The next steps can still run after an unexpected error.
            text = (str(err) if isinstance(err, _EXPECTED) else traceback.format_exc()).strip()
            self.failed.append(title)
            print('          failed: %s' % text.split('\n')[-1][:200], flush=True)
            self.file.add('errors', '* %s\n%s\n%s' % (title, text, _explain_failure(text)))
        finally:
            self.save()
        return None

    def save(self) -> None:
        """Write the report in its present state, because a job may be terminated at any moment."""
        self.file.parts['summary'] = []
        self.file.add('summary', self.format_summary())
        outputs.replace_file(self.file.path, self.file.render())

    def run(self) -> None:
        """Run all steps of `osu-container try`, and save the report after each step."""
        self.discovered_system = self.run_step(
            'inspect this node with osu-container discover', discover_system, self.root
        )
        if self.discovered_system:
            self.file.add('facts', format_survey_report(self.discovered_system))
            self.file.add(SITE_PART, render_site_file(self.discovered_system))
            self.run_step('add the site that discover found', self.add_discovered_site)
        for path in self.run_step('find images on this system', self.find_images) or []:
            if self.compute_remaining_seconds() < 2 * MINIMUM_SECONDS:
                self.failed.append('no time left for %s' % path)
                break
            self.run_step('image %s' % path, self.try_image, path)
            if self.success_count:
                break
        self.save()

    def compute_remaining_seconds(self) -> float:
        return self.end - time.time()

    def add_discovered_site(self) -> None:
        """
        Add the site that `osu-container discover` found to the sites of this run.

        `osu-container discover` may find libraries that the site data of this project do not list.
        """
        system: Any = self.discovered_system
        name = system['name']
        site = resolve_site(name, {name: system['site']})
        if self.site:  # discover cannot find these facts.
            site = dict(
                site,
                gpu_binding=self.site['gpu_binding'],
                jobs=self.site['jobs'],
                name='%s as discovered' % self.site['name'],
            )
        self.sites.append((site, system['root']))
        self.site, self.root = self.sites[0]

    def find_images(self) -> List[str]:
        """Return the paths of the images to try. Raises TryError if no image is found."""
        if self.options.image:
            return [self.options.image]
        if not self.site:
            raise TryError(
                "no image given, and no known site names an image for this system. Give an image: "
                "sbatch try.sbatch IMAGE.sif"
            )
        patterns = [
            self.root + path for path in self.site.get('images_there', {'value': []})['value']
        ]
        named = list(self.site['images']['value'].values())
        names = sorted(
            set(named), key=lambda name: ('mpi4py' in name, -named.count(name), name)
        )  # Images for many approaches come first.
        folders = [str(PROJECT / 'sources')] + list_image_folders(self.site, self.root, os.environ)
        patterns += [os.path.join(folder, name) for name in names for folder in folders]
        paths = [path for pattern in patterns for path in sorted(glob.glob(pattern), reverse=True)]
        if not paths:
            raise TryError(
                "this system has no image of site %s (searched for %s). Give an image: sbatch try.sbatch "
                "IMAGE.sif" % (self.site['name'], ', '.join(patterns[:6]))
            )
        return sorted(set(paths), key=paths.index)

    # ---- an image ----------------------------------------------------------------------------------------------------

    def try_image(self, path: str) -> None:
        """
        Judge an image, then run the benchmarks with each approach that may work.

        Raises TryError, and ImageError or ElfError if the image cannot be read.
        """
        self.image = path
        runtime = self.runtime = self.runtime or self.run_step(
            'find the container runtime', self.find_runtime
        )
        with Image(path, 'osu_') as image:
            lacking = [name for name in PROGRAMS if name not in image.programs]
            if lacking:
                raise TryError(
                    "%s has no %s, only %d other programs with names osu_*. Use an image with "
                    "osu_latency and osu_bw" % (path, ' and no '.join(lacking), len(image.programs))
                )
            if runtime and not self.options.no_start:
                program = image.programs[PROGRAMS[0]] + '/' + PROGRAMS[0]
                self.starter = start.announce_start(image.path, [program])
            ready = self.judge_approaches(image, runtime)
        stages: List[Stage] = []
        for name, settings, gpu in ready:
            folder = tempfile.mkdtemp(prefix=name + '-', dir=self.work)
            variables = self.run_step(
                'write the commands of module %s' % name,
                create_module_folder,
                folder,
                settings,
                path,
                runtime['command'],
            )
            if variables is not None:
                stages.append(Stage(name, settings, os.path.join(folder, 'bin'), variables, gpu))
        if not launching.find_job(os.environ)[0]:
            self.skipped.append(
                'all runs are left out, because the command does not run in a job. Submit a job: '
                'sbatch try.sbatch'
            )
            return
        stages += self.find_host_programs()
        for nodes, tasks in PLACEMENTS:
            job_nodes = launching.count_job_nodes(os.environ) or 1
            if nodes > job_nodes:
                self.skipped.append(
                    'runs on %d nodes are not possible, because the number of nodes in the job is '
                    '%d' % (nodes, job_nodes)
                )
                continue
            for stage in stages:
                self.measure_approach(nodes, tasks, stage)
        for stage in sorted(stages, key=lambda stage: stage.settings is not None):
            if self.table[stage.name][1]:  # A benchmark has succeeded.
                self.run_step(
                    '%s: MPI communication patterns' % stage.name, self.run_patterns, stage
                )

    def find_host_programs(self) -> List[Stage]:
        """
        Return a list with one Stage: the settings for running the host's benchmarks.

        The list is empty if PATH has no benchmarks of the host. A loaded module may add the host's
        benchmarks to PATH.
        """
        paths = [shutil.which(name) or '' for name in PROGRAMS]
        folder = os.path.dirname(paths[0])
        if not all(paths) or os.path.basename(os.path.realpath(paths[0])) == 'run-in-container':
            self.skipped.append(
                'native runs are not possible, because PATH has no osu_latency and osu_bw of the '
                'host. To measure without a container, load a module that provides these programs '
                'and submit the job again'
            )
            return []
        self.table['native'] = 'programs of the host in %s' % folder, {}
        return [Stage('native', None, folder, {}, bool(self.site['gpu']['value']))]

    def find_runtime(self) -> Dict[str, Any]:
        """Return the container runtime of the site. Raises TryError if there is no runtime."""
        try:
            return find_runtime(self.site['runtime']['value'])
        except FactsError as err:
            if 'engine' not in self.site:
                raise
            raise TryError(
                '%s. This system starts containers with %s, which `osu-container try` does not '
                'support. Read docs/other-systems.md' % (err, self.site['engine']['value'])
            )

    def judge_approaches(
        self, image: Image, runtime: Optional[Dict[str, Any]]
    ) -> List[Tuple[str, Settings, bool]]:
        """
        Judge all approaches and return the approaches that may work, the best first.

        The result is a list of (approach, Settings, whether the approach can use GPUs).
        """
        verdicts: List[Verdict] = []
        ready: List[Tuple[str, Settings, bool]] = []
        for name in check.list_applicable_approaches(image):
            verdict, settings, gpu = self.run_step(
                'check: %s' % name, self.select_site_verdict, name, image, runtime
            ) or (None, None, False)
            if verdict:
                verdicts.append(verdict)
                other = settings and settings.site != self.site['name']
                self.table[name] = (
                    format_verdict(verdict) + (', with the discovered site' if other else ''),
                    {},
                )
            if settings:
                ready.append((name, settings, gpu))
            else:
                reason = 'check predicts that it fails' if runtime else 'no container runtime'
                self.skipped.append('%s: %s' % (name, reason))
        host = HostFileSystem(self.root)
        verdicts = judge_remedies(verdicts, self.site, image, host, None, runtime)
        best = recommend_approach(verdicts, self.site)
        self.file.add(
            'verdict',
            check.format_check_report(
                check.summarize_image(image, len(image.programs)),
                self.site,
                host,
                verdicts,
                best,
                ((), ()),
            ),
        )
        return sorted(ready, key=lambda item: item[0] != best)

    def select_site_verdict(
        self, name: str, image: Image, runtime: Optional[Dict[str, Any]]
    ) -> Optional[Tuple[Verdict, Optional[Settings], bool]]:
        """
        Judge an approach on each site, and return the result of the first usable site.

        The result is (verdict, Settings, whether GPUs can be used). A site is usable if the
        verdict is not 'fails' and if a container runtime exists. Without a usable site, the
        verdict is that of the first site, and Settings is None.
        """
        first = None
        for site, root in self.sites:
            approach, trial = resolve_approach(name), None
            try:
                trial, verdict = evaluate_approach(
                    approach,
                    site,
                    image,
                    HostFileSystem(root),
                    runtime=runtime,
                    dry_run=bool(runtime),
                    starter=self.starter,
                )
            except (NoMpiError, SettingsError):
                verdict = judge_approach(
                    approach, site, image, HostFileSystem(root), runtime=runtime
                )
            if trial and runtime and verdict.level != 'fails':
                facts = collect_facts(trial, verdict, runtime)
                has_gpu = bool(site['gpu']['value'] and facts['image']['gpu'])
                return verdict, build_settings(trial.approach, site, facts), has_gpu
            first = first or (verdict, None, False)
        return first

    # ---- runs --------------------------------------------------------------------------------------------------------

    def measure_approach(self, nodes: int, tasks: int, stage: Stage) -> None:
        """Run the benchmarks of an approach on `nodes` nodes with `tasks` tasks on each node."""
        for buffers in BUFFERS:
            for program in PROGRAMS:
                title = '%s %s on %d node%s' % (program, buffers, nodes, 's' * (nodes > 1))
                if buffers == 'D D' and not stage.has_gpu:
                    self.skipped.append(
                        'runs with buffers in GPU memory (%s) are not possible, because the site '
                        'or the image has no GPU support' % buffers
                    )
                elif self.compute_remaining_seconds() < MINIMUM_SECONDS:
                    self.failed.append('%s: %s: no time left' % (stage.name, title))
                else:
                    self.run_count += 1
                    self.success_count += bool(
                        self.run_step(
                            '%s: %s' % (stage.name, title),
                            self.run_program,
                            nodes,
                            tasks,
                            stage,
                            program,
                            buffers,
                            title,
                        )
                    )

    def run_program(
        self, nodes: int, tasks: int, stage: Stage, program: str, buffers: str, title: str
    ) -> bool:
        """
        Run one benchmark, and record the libraries of its ranks and the measured figures.

        The result is always True, because run_step() returns None after a failure. title: see
        record_figure(). Raises TryError if the run fails, or if the proof contradicts the approach.
        """
        name, settings = stage.name, stage.settings
        proofs = os.path.join(self.work, 'proof-%d' % self.run_count)
        launch_command, binding, env = self.build_launch(nodes, tasks, stage)
        slow = self.site['provider']['value'] == 'tcp'
        words = (SLOW_ARGUMENTS[program].split() if slow else []) + buffers.split()
        prover = [] if settings else [os.path.join(SCRIPTS, 'rank-proof'), '--asked']
        code, out, err = self.run_command(
            launch_command
            + [os.path.join(stage.folder, word) for word in binding]
            + prover
            + [os.path.join(stage.folder, program)]
            + words,
            dict(env, OSU_PROOF=proofs),
        )
        step = self.site['jobs']['value']['step']
        if code and step and self.step_options is None and _UNAVAILABLE_RESOURCE.search(err):
            self.step_options = []
            self.skipped.append(
                'the runs do not use the options %s of %s, because the job lacks the resources '
                'that these options request' % (' '.join(step), launch_command[0])
            )
            return self.run_program(nodes, tasks, stage, program, buffers, title)
        line = ' '.join(launch_command + binding + [program] + words)
        problems = self.record_proof(line, name, None if settings else name, proofs)
        if code:
            raise TryError(
                '%s\n%s: %s'
                % (line, code, '\n'.join((out + err).strip().split('\n')[-TAIL_LINES:]))
            )
        self.file.add('figures', '$ %s\n%s' % (line, out[:OUTPUT_BYTES]), series=name)
        self.record_figure(name, title, out)
        if problems:
            raise TryError(
                '%s\nthe proof contradicts the expectation: %s' % (line, '; '.join(problems))
            )
        return True

    def build_launch(
        self, nodes: int, tasks: int, stage: Stage
    ) -> Tuple[List[str], List[str], Dict[str, str]]:
        """Return the launch command, the GPU binding command and the environment of a benchmark."""
        settings = stage.settings
        step = (
            self.site['jobs']['value']['step'] if self.step_options is None else self.step_options
        )
        launcher, kind = launching.select_launcher(self.site), settings and settings.stack.pmi
        binding = ['osu-gpu-bind'] if settings and settings.environment.gpu_map and step else []
        launch_command = launching.build_launch_command(
            launcher,
            nodes,
            nodes * tasks,
            unbound=bool(binding),
            step_options=launching.list_pmi_options(launcher, kind, True) + step,
        )
        env = dict(os.environ, SLURM_EXPORT_ENV='ALL', **stage.variables)
        env['PATH'] = stage.folder + os.pathsep + env.get('PATH', os.defpath)
        return launch_command, binding, env

    def run_patterns(self, stage: Stage) -> None:
        """
        Run communication patterns of applications on two ranks, and record the outcomes.

        Raises TryError if a pattern hangs, fails or computes a wrong value. Also raises TryError if
        a sum differs in any bit from the sum of the first approach that ran (native if possible).
        """
        nodes = min(2, launching.count_job_nodes(os.environ) or 1)
        command, binding, env = self.build_launch(nodes, 2 // nodes, stage)
        command += binding + ['osu-exec', 'python3'] if stage.settings else ['/usr/bin/python3']

        def start(arguments: List[str]) -> Tuple[str, str]:
            if self.compute_remaining_seconds() < MINIMUM_SECONDS:
                return 'no time left', ''
            problem, out, err = self.run_command(command + arguments, patterns.add_bind(env))
            return '%s: %s' % (problem, err.strip()[-OUTPUT_BYTES:]), out

        outcomes = self.patterns[stage.name] = []
        line = '%s patterns.py' % ' '.join(command)
        self.file.add('patterns', '$ %s   (%s)' % (line, stage.name))
        for outcome in patterns.run_patterns(start):
            if (outcome.pattern, outcome.state) == ('reduction', 'works'):
                bits = outcome.details[0].split()[-1]
                self.bits = self.bits or (bits, stage.name)
                if bits != self.bits[0]:
                    details = ['bits %s, but %s with %s' % (bits, *self.bits)]
                    outcome = outcome._replace(state='differs', details=details)
            self.file.add('patterns', str(outcome))
            outcomes += [outcome] * (outcome.state != 'works')
        bad = [str(outcome) for outcome in outcomes if outcome.is_bad]
        if bad:
            raise TryError('\n'.join([line] + bad))

    def run_command(self, command: List[str], env: Dict[str, str]) -> Tuple[str, str, str]:
        """
        Run a command within the time limit and return (problem, stdout, stderr) as texts.

        The problem is '' if the command succeeds.
        """
        with open(os.path.join(self.work, 'out'), 'w+b') as out, open(
            os.path.join(self.work, 'err'), 'w+b'
        ) as err:
            limit = max(MINIMUM_SECONDS, min(STEP_SECONDS, self.compute_remaining_seconds()))
            with streams.start_process_group(command, env=env, stdout=out, stderr=err) as child:
                try:
                    code = child.wait(limit)
                    problem = 'exit code %d' % code if code else ''
                except subprocess.TimeoutExpired:
                    streams.terminate_process_group(child)
                    problem = 'terminated after %d s' % limit
            texts = []
            for handle in (out, err):
                handle.seek(0)
                texts.append(handle.read(1 << 20).decode('utf-8', 'replace'))
        return problem, texts[0], texts[1]

    def record_proof(self, line: str, name: str, expected: Optional[str], folder: str) -> List[str]:
        """
        Add the proof of a run's ranks to the report and return the contradictions as texts.

        expected: the approach with which to compare the proof, None if the ranks have recorded
        their approach.
        """
        try:
            steps = judging.list_step_folders(folder) if os.path.isdir(folder) else []
            for step in steps:
                judging.wait_for_files(step)
            judgements = judge_steps(steps, argparse.Namespace(approach=expected, expect=None))
        except judging.ProofError as err:
            judgements, steps = [], [str(err)]
        text = '\n'.join(
            proof_text.format_report('step', *judgement[1:]) for judgement in judgements
        )
        self.file.add(
            'proof',
            '$ %s   (%s)\n%s' % (line, name, text or 'no rank left a file: %s' % ' '.join(steps)),
        )
        return [problem for judgement in judgements for problem in judgement[3]]

    def record_figure(self, name: str, title: str, out: str) -> None:
        """
        Record the latency at 8 bytes or the bandwidth at the largest message size of a run.

        title: the benchmark, the buffers and the nodes. This method does not use
        results/osu_output.py, because compute nodes may have an older Python than
        results/osu_output.py needs.
        """
        self.table[name][1].update(
            (title, value)
            for size, value in re.findall(r'^\s*(\d+)\s+(\d+\.\d+)\s*$', out, re.M)
            if size == '8' or title.startswith('osu_bw')
        )

    # ---- summary ------------------------------

    def format_summary(self) -> str:
        """Return the text of the summary, which is the first part of the report."""
        site, system = self.site, self.discovered_system or {}
        lines = [
            'version: %s' % __version__,
            'site: %s' % (site['name'] if site else 'unknown'),
            'began: %s' % time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.begin)),
            'seconds: %d' % (time.time() - self.begin),
            'node: %s (%s)' % (system.get('node'), system.get('kind')),
            'image: %s' % self.image,
            'runs: %d of %d succeeded' % (self.success_count, self.run_count),
            '',
        ]
        measured = {name: row for name, (_, row) in self.table.items() if row}
        if measured:
            rows = [['', *measured, '']] + [
                [title, *(row.get(title, '-') for row in measured.values()), '']
                for title in dict.fromkeys(title for row in measured.values() for title in row)
            ]
            lines += columns.format_table(rows, range(1, len(measured) + 1))
            lines += ['(osu_latency in us at 8 B; osu_bw in MB/s at the largest message size)', '']
        patterns = [
            (name, ', '.join('%s (%s)' % each[:2] for each in row) or 'none')
            for name, row in self.patterns.items()
        ]
        verdicts = [(name, level) for name, (level, _) in self.table.items()]
        for title, table in (
            ('MPI communication patterns that failed or could not run:', patterns),
            ('Verdicts of check:', verdicts),
        ):
            if table:
                lines += [title, *columns.format_table(table, indent='  '), '']
        lines += ['failed: %s' % title for title in self.failed or ['nothing']]
        return '\n'.join(lines + ['left out: ' + reason for reason in dict.fromkeys(self.skipped)])
