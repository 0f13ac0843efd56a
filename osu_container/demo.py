#!/usr/bin/env python3
"""
Make the main job end to end: Slurm, image, host MPI, five modules by EasyBuild, their runs, the table, the report.

`make demo` calls this after the prerequisites are there. Every step first looks whether its result is already there and
still fits what it is made from; so the same command after a failure goes on where it stopped.

The runs, the table and the report are those of `osu-container bench` and `report`, with the tag demo.
"""
from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from osu_container import demo_table, record
from osu_container.arguments import seconds
from osu_container.bench import BenchError
from osu_container.bench import modules as bench_modules
from osu_container.children import end_group, signals_held
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.libraries import sha256_of
from osu_container.places import PROJECT
from osu_container.recipes.versions import SOURCES
from osu_container.results import files

#: (approach, easyconfig, module) in the order of the table
MODULES = [('native', 'osu-native.eb', 'osu-native')] + [
    (name, f'osu-container-{name}.eb', f'osu-container/{name}') for name in ('pure', 'bind', 'hybrid', 'opensource')]
#: The tag of `osu-container bench`
TAG = 'demo'
#: Lines of a log that a failing step shows
TAIL = 15


class StepError(Exception):
    """A step that failed: the text says why. log: Path of its log or None."""

    def __init__(self, text, log=None):
        super().__init__(text)
        self.log = log


class Terminal:
    """What the user sees. A terminal gets one line that is rewritten; a file or CI log gets a line now and then."""

    EVERY = 10.0  # seconds between two lines in a CI log

    def __init__(self):
        self.live = sys.stdout.isatty()
        self.width = shutil.get_terminal_size().columns
        self.last = time.monotonic()

    def line(self, text=''):
        """Print a line that stays."""
        self._clear()
        print(text, flush=True)
        self.last = time.monotonic()

    def progress(self, text):
        """Show text as the state of a long step."""
        if self.live:
            self._clear()
            sys.stdout.write('    ' + text[:self.width - 5])
            sys.stdout.flush()
        elif time.monotonic() - self.last >= self.EVERY:
            print('    ' + text[:120], flush=True)
            self.last = time.monotonic()

    def _clear(self):
        """Wipe the line that progress() rewrites."""
        if self.live:
            sys.stdout.write('\r\033[K')


def duration(seconds):
    """Return seconds as text: '4 s', '2 min 05 s'."""
    seconds = int(round(seconds))
    return f'{seconds} s' if seconds < 60 else f'{seconds // 60} min {seconds % 60:02d} s'


class Children:
    """Starts commands in process groups of their own and ends the one that runs when the demo is interrupted."""

    def __init__(self):
        self.running = None

    def start(self, command, **options):
        """Start command (list of str) in a session of its own: Ctrl-C reaches the demo alone, which calls end()."""
        with signals_held() as release:
            self.running = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                            preexec_fn=release, **options)
        return self.running

    def end(self):
        """End the running command with all it started."""
        child, self.running = self.running, None
        if child is not None and child.poll() is None:
            end_group(child)


class Demo:
    """The steps and what they share."""

    def __init__(self, project=PROJECT, work=None, *, terminal=None, repeats=5, budget=240.0, rerun=False):
        """
        :param project: Path, root of the repository; work: Path, where everything is made
        :param repeats: int, how often each benchmark is measured; budget: seconds after which no new repeat starts
        :param rerun: bool, measure although fitting results are there
        """
        self.project, self.work = Path(project), Path(work or Path(project) / '.workstation')
        self.osu_container = [str(self.project / 'bin/osu-container')]
        self.terminal = terminal or Terminal()
        self.repeats, self.budget, self.rerun = repeats, budget, rerun
        self.children = Children()
        self.result = None  # Path of the run that belongs to what is installed

    STEPS = [
        ('slurm', 'Slurm with two nodes'),
        ('image', 'container image'),
        ('host-mpi', "the host's MPI"),
        ('install', 'five modules, installed by EasyBuild'),
        ('run', 'benchmarks on two nodes'),
        ('table', 'table'),
        ('report', 'report'),
    ]

    # ---- running things ----------------------------------------------------------------------------------------------

    def shell(self, command, module=None):
        """Return the command line (list of str) that runs command in a shell after `. ./env.sh` and `module load`."""
        load = f'module load {shlex.quote(module)}; ' if module else ''
        return ['bash', '--norc', '-c', f'set -e; . {shlex.quote(str(self.project / "env.sh"))}; {load}exec {command}']

    def run(self, step, command, *, what, echo=False, env=None):
        """
        Run command (list of str) with its output appended to the log of step; show its last line meanwhile.

        :param what: str, what is running, for progress and messages
        :param echo: bool, show all its output: it is written for the user
        Raises StepError if it fails.
        """
        log = self.work / 'log' / f'{step}.log'
        log.parent.mkdir(parents=True, exist_ok=True)
        start, state, shown = time.monotonic(), what, 0
        # The child writes into the log itself: a daemon that it leaves behind would keep a pipe open for ever.
        with open(log, 'a', encoding='utf-8') as out, open(log, encoding='utf-8', errors='replace') as reader:
            out.write(f'--- {record.now()} {shlex.join(command)}\n')
            out.flush()
            reader.seek(0, os.SEEK_END)
            child = self.children.start(command, cwd=self.project, stdout=out, stderr=subprocess.STDOUT, env=env)
            ended = False
            while not ended:
                try:
                    code = child.wait(timeout=0.2)
                    ended = True
                except subprocess.TimeoutExpired:
                    pass
                for line in reader.read().splitlines():
                    if line.strip():
                        state = f'{what}: {line.strip()}'
                    if echo:
                        self.terminal.line('    ' + line)
                shown = self.show_progress(start, shown, state)
        if code:
            how = f'exit code {code}' if code > 0 else f'ended by signal {-code}'
            raise StepError(f'{what} failed ({how})', log)

    def show_progress(self, start, shown, state):
        """Show state (str) once a second, with the time since start; return the second, the next call's shown."""
        second = int(time.monotonic() - start)
        if second > shown:
            self.terminal.progress(f'{duration(second)}: {state}')
        return second

    def go(self, first=None):
        """
        Make all steps, or those from the step first (its name) on; return the exit code for the shell.

        A failing step says which, why (the end of its log), and how to go on.
        """
        names = [name for name, _ in self.STEPS]
        start = names.index(first) if first else 0
        begin = time.monotonic()
        for number, (name, title) in enumerate(self.STEPS, 1):
            if number <= start:
                continue
            self.terminal.line(f'[{number}/{len(self.STEPS)}] {title}')
            step_begin = time.monotonic()
            log = self.work / 'log' / f'{name}.log'
            log.unlink(missing_ok=True)
            try:
                note = getattr(self, 'step_' + name.replace('-', '_'))()
            except (StepError, BenchError, files.ResultsError, demo_table.TableError, OSError) as err:
                self.failed(number, name, err, getattr(err, 'log', None) or (log if log.exists() else None))
                return 1
            self.terminal.line(f'      {note}, {duration(time.monotonic() - step_begin)}')
        self.terminal.line(f'All done in {duration(time.monotonic() - begin)}.')
        return 0

    def failed(self, number, name, err, log):
        """Say on stderr which step failed, why, and how to go on."""
        self.terminal.line()
        lines = [f'demo: step {number}/{len(self.STEPS)} ({name}) failed: {err}']
        if log:
            try:
                tail = log.read_text(errors='replace').splitlines()[-TAIL:]
            except OSError as problem:
                tail = [f'(the log cannot be read: {problem.strerror})']
            lines += [f'Last lines of {log}:'] + ['    ' + line for line in tail]
        lines += ['To go on: `make demo` again (what is done is skipped), or from this step on: '
                  f'`make demo FROM={name}`.']
        print('\n'.join(lines), file=sys.stderr, flush=True)

    # ---- facts that decide whether a step is done --------------------------------------------------------------------

    def newer(self, made, inputs):
        """Return the first of inputs (list of Path) that is newer than the file made (Path), None if none is."""
        time_made = made.stat().st_mtime
        return next((path for path in inputs if path.exists() and path.stat().st_mtime > time_made), None)

    def image(self):
        """Return the path of the image file that the easyconfigs take (Path). Raises StepError if data name several."""
        images = site_entry('workstation')['images']['value']
        names = {images[approach] for approach, _, _ in MODULES if approach in images}
        if len(names) != 1:
            raise StepError(f"the approaches of site workstation use {len(names)} images ({', '.join(sorted(names))}); "
                            "this step builds one")
        return self.project / 'sources' / names.pop()

    def image_problem(self):
        """Return what is wrong with the image (str), None if it is there and has its sha256."""
        image, wanted = self.image(), Path(f'{self.image()}.sha256')
        for path in (image, wanted):
            if not path.is_file():
                return f'{path.name} is missing'
        if sha256_of(image) != (wanted.read_text().split() or [''])[0]:
            return f'{image.name} does not have the sha256 in {wanted.name}'
        return None

    def module_file(self, module, module_path):
        """Return the file (Path) of module on module_path (str, folders by colons), None if there is none."""
        for folder in module_path.split(':'):
            base = Path(folder) / module
            for path in [base.with_name(base.name + '.lua')] + sorted(base.glob('*.lua')):
                if folder and path.is_file():
                    return path
        return None

    def install_inputs(self, easyconfig):
        """Return the files (list of Path) that the module of an easyconfig is made from."""
        package = self.project / 'osu_container'
        code = [*(self.project / 'easyblocks' / 'generic').glob('*.py'), package / 'easyblock.py',
                *(package / 'core').rglob('*.py')]
        found = sorted(code) + sorted((self.project / 'easyconfigs').glob(f'o/*/{easyconfig}'))
        if easyconfig.startswith('osu-container'):
            return found + [self.project / 'easyconfigs/o/osu-container/run-in-container', self.image()]
        return found + [self.project / 'easyconfigs/o/osu-native/osu-port',
                        self.project / 'sources' / SOURCES['osu']['file']]

    def environment(self, module=None):
        """Return the environment (dict) of a shell after `. ./env.sh` and `module load`. Raises StepError."""
        done = subprocess.run(self.shell('env -0', module), capture_output=True, text=True, errors='replace',
                              cwd=self.project, stdin=subprocess.DEVNULL)
        if done.returncode:
            what = f'`module load {module}`' if module else '`. ./env.sh`'
            raise StepError(f'{what} failed: {done.stderr.strip() or done.stdout.strip() or "no message"}')
        # A module may print something of its own before.
        pairs = (item.rpartition('\n')[2] if n == 0 else item for n, item in enumerate(done.stdout.split('\0')))
        return dict(item.split('=', 1) for item in pairs if '=' in item)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def step_slurm(self):
        """Start the private Slurm, or find that there is one already: the script decides."""
        self.run('slurm', [str(self.project / 'workstation/slurm.sh'), 'start'], what='slurm.sh start', echo=True)
        return 'ready'

    def step_image(self):
        """Build the image unless it is there and made from the same inputs: the script compares their sums."""
        before = self.image().stat().st_mtime_ns if self.image().exists() else None
        self.run('image', [*self.osu_container, 'image', 'build', self.image().stem],
                 what='osu-container image build', echo=True)
        problem = self.image_problem()
        if problem:
            raise StepError(f'the build ended without an error, but {problem}', self.work / 'log' / 'image.log')
        done = 'skipped' if self.image().stat().st_mtime_ns == before else 'built'
        return f'{done}: {self.image().name} ({self.image().stat().st_size / 1e6:.0f} MB)'

    def step_host_mpi(self):
        """Unpack the host's MPI unless it is there: the script looks whether it works."""
        self.run('host-mpi', [str(self.project / 'workstation/host_mpi.sh')], what='host_mpi.sh', echo=True)
        return 'ready'

    def step_install(self):
        """Install the modules that are missing or older than what they are made from."""
        module_path = self.environment().get('MODULEPATH', '')
        installed = 0
        for _, easyconfig, module in MODULES:
            path = self.module_file(module, module_path)
            newer = path and self.newer(path, self.install_inputs(easyconfig))
            if path and not newer:
                self.terminal.line(f'      {module}: skipped, {path} is there')
                continue
            # eb does nothing when the module file exists, so a stale one is made anew.
            command = ['eb', easyconfig, '-r'] + (['--rebuild'] if newer else [])
            why = f' because {newer.relative_to(self.project)} is newer' if newer else ''
            begin = time.monotonic()
            self.run('install', self.shell(shlex.join(command)), what=shlex.join(command))
            if self.module_file(module, self.environment().get('MODULEPATH', '')) is None:
                raise StepError(f'`{shlex.join(command)}` ended without an error, but there is no module {module} on '
                                'MODULEPATH', self.work / 'log' / 'install.log')
            self.terminal.line(f'      {shlex.join(command)}{why}: {duration(time.monotonic() - begin)}')
            installed += 1
        return f'{installed} installed, {len(MODULES) - installed} skipped'

    def inputs(self):
        """Return {name: sha256} of everything that the numbers depend on: modules, images, host libraries."""
        base, found = self.environment(), {}
        for _, _, module in MODULES:
            found.update(bench_modules.load(module, base).inputs())
        return found

    def stored(self):
        """Return the newest complete run (Path of its folder) with the tag of the demo, None if there is none."""
        for path in sorted(self.work.glob(f'results/*/{files.NAME}'), reverse=True):
            try:
                entries, _ = files.lines(path)
            except files.ResultsError as err:
                self.terminal.line(f'      left out: {err}')
                continue
            if entries[0][1].get('tag') == TAG and entries[-1][1]['kind'] == 'end' and not entries[-1][1]['failed']:
                return path.parent
        return None

    def step_run(self):
        """Measure, unless the newest results are those of the modules, images and host libraries that are here now."""
        inputs, newest = self.inputs(), self.stored()
        if newest and not self.rerun:
            old = files.lines(newest)[0][0][1]['inputs']
            changed = sorted(name for name in set(inputs) | set(old) if inputs.get(name) != old.get(name))
            if not changed:
                self.result = newest
                return f'skipped: {newest.name} measured exactly this (`make demo RERUN=1` measures again)'
            self.terminal.line(f"      measuring again, because these changed: {', '.join(changed)}")
        folder = self.work / 'results' / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
        command = [*self.osu_container, 'bench', '--tag', TAG, '--output', str(folder),
                   '--repeats', str(self.repeats), '--budget', str(self.budget)]
        command += [word for _, _, module in MODULES for word in ('--module', module)]
        self.run('run', self.shell(shlex.join(command)), what='osu-container bench')
        self.result = folder
        counts = files.lines(folder)[0][-1][1]
        return f"{counts['ok']} runs of {len(MODULES)} modules, kept in {folder}"

    def step_table(self):
        """Print the table of the results that belong to what is installed."""
        self.result = self.result or self.stored()
        if self.result is None:
            raise StepError(f"there are no results in {self.work / 'results'}; begin with the step run")
        run = files.read(self.result)
        text = demo_table.plain(run)
        (self.result / 'table.txt').write_text(text)
        (self.result / 'table.md').write_text(demo_table.markdown(run))
        self.terminal.line()
        for line in text.splitlines():
            self.terminal.line(line)
        self.terminal.line()
        self.terminal.line(f"Measured {run.facts['started']}. Measure again: `make demo RERUN=1`.")
        self.terminal.line(f'Raw output, what each rank loaded, and all that is needed to repeat it: {self.result}')
        return 'printed'

    def step_report(self):
        """Write the page of these results beside them."""
        if self.result is None:
            self.result = self.stored()
        if self.result is None:
            raise StepError(f"there are no results in {self.work / 'results'}; begin with the step run")
        page = self.result / 'report.html'
        if page.is_file() and not self.newer(page, [self.result / files.NAME]):
            return f'skipped: open {page} in a browser'
        self.run('report', [*self.osu_container, 'report', str(self.result), '--force', '--output', str(page)],
                 what='osu-container report')
        return f'open {page} in a browser'


def arguments(argv):
    """Return the settings in argv (list of str). Wrong ones: a message on stderr and exit code 2."""
    parser = argparse.ArgumentParser(prog='demo.py', description=__doc__.strip().splitlines()[0],
                                     epilog='Usually called by `make demo` (FROM=STEP, RERUN=1).')
    parser.add_argument('--from', dest='first', choices=[name for name, _ in Demo.STEPS], metavar='STEP',
                        help='begin with this step: ' + ', '.join(name for name, _ in Demo.STEPS))
    parser.add_argument('--rerun', action='store_true', help='measure again, although fitting results are there')
    parser.add_argument('--repeats', type=int, default=5, metavar='N', help='how often each benchmark is measured (5)')
    parser.add_argument('--budget', type=seconds, default=240.0, metavar='SECONDS',
                        help='start no repeat that would end later than this after the first one began (240)')
    settings = parser.parse_args(argv)
    if settings.repeats < 1:
        parser.error(f'--repeats {settings.repeats}: at least 1 wanted')
    return settings


def main(argv=None):
    """Make the demo; return the exit code: 0, 1 (a step failed), 130 (interrupted) or 143 (ended)."""
    settings = arguments(argv)
    demo = Demo(repeats=settings.repeats, budget=settings.budget, rerun=settings.rerun)

    def ended(number, frame):
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, ended)
    try:
        return demo.go(settings.first)
    except KeyboardInterrupt:
        demo.terminal.line()
        print('demo: interrupted. `make demo` goes on where it stopped.', file=sys.stderr)
        return 130
    finally:
        demo.children.end()


if __name__ == '__main__':
    sys.exit(main())
