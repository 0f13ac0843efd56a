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
import subprocess
import sys
import time
from pathlib import Path

from osu_container import demo_table, record, streams
from osu_container.bench import BenchError, installed_modules
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.libraries import sha256_of
from osu_container.places import PROJECT
from osu_container.recipes.versions import SOURCES
from osu_container.results import run_files
from osu_container.streams import started

#: (approach, easyconfig, module) in the order of the table
MODULES = [('native', 'osu-native.eb', 'osu-native')] + [
    (name, f'osu-container-{name}.eb', f'osu-container/{name}') for name in ('pure', 'bind', 'hybrid', 'opensource')]
#: The tag of `osu-container bench`
TAG = 'demo'
#: How often each benchmark is measured, after one start of each module that is not
REPEATS = 2
#: Lines of a log that a failing step shows
TAIL = 15
#: What the end says
NEXT = """Next, in this shell:
    . ./env.sh
    module load osu-container/hybrid
    srun osu_bw H H
    make stop     # ends the private Slurm"""


class StepError(Exception):
    """A step that failed: the text says why. log: Path of its log or None."""

    def __init__(self, text, log=None):
        super().__init__(text)
        self.log = log


class Demo:
    """The steps and what they share."""

    def __init__(self, project=PROJECT, *, rerun=False):
        """
        :param project: Path, root of the repository
        :param rerun: bool, measure although fitting results are there
        """
        self.project, self.work, self.rerun = Path(project), Path(project) / '.workstation', rerun
        self.osu_container = [str(self.project / 'bin/osu-container')]
        self.screen = streams.Screen()
        self.result = None  # Path of the run that belongs to what is installed

    STEPS = [
        ('slurm', 'Slurm with two nodes'),
        ('image', 'container image'),
        ('host-mpi', "the host's MPI"),
        ('install', 'five modules, installed by EasyBuild'),
        ('run', 'benchmarks on two nodes'),
        ('report', 'table and report'),
    ]

    # ---- running things ----------------------------------------------------------------------------------------------

    def shell(self, command, module=None):
        """Return the command line (list of str) that runs command in a shell after `. ./env.sh` and `module load`."""
        load = f'module load {shlex.quote(module)}; ' if module else ''
        return ['bash', '--norc', '-c', f'set -e; . {shlex.quote(str(self.project / "env.sh"))}; {load}exec {command}']

    def run(self, step, command, *, what, echo=False):
        """
        Run command (list of str) with its output appended to the log of step; show its last line meanwhile.

        :param what: str, what is running, for progress and messages
        :param echo: bool, show all its output: it is written for the user
        Raises StepError if it fails.
        """
        log = self.work / 'log' / f'{step}.log'
        log.parent.mkdir(parents=True, exist_ok=True)
        # The child writes into the log itself: a daemon that it leaves behind would keep a pipe open for ever.
        with open(log, 'a', encoding='utf-8') as out, open(log, encoding='utf-8', errors='replace') as reader:
            out.write(f'--- {record.now()} {shlex.join(command)}\n')
            out.flush()
            reader.seek(0, os.SEEK_END)
            with started(command, cwd=self.project, stdout=out, stderr=subprocess.STDOUT) as child:
                code = self.follow(child, reader, what, echo)
        if code:
            how = f'exit code {code}' if code > 0 else f'ended by signal {-code}'
            raise StepError(f'{what} failed ({how})', log)

    def follow(self, child, reader, what, echo):
        """Show what child (Popen) writes into the file that reader (file) reads; return its exit code at its end."""
        state, code = what, None
        while code is None:
            try:
                code = child.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                pass
            for line in filter(str.strip, reader.read().splitlines()):
                state = f'{what}: {line.strip()}'
                if echo:
                    self.screen.say('    ' + line)
            if self.screen.live() or not echo:
                self.screen.progress(state)
        return code

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
            self.screen.say(f'[{number}/{len(self.STEPS)}] {title}')
            step_begin = self.screen.begin = time.monotonic()
            log = self.work / 'log' / f'{name}.log'
            log.unlink(missing_ok=True)
            try:
                note = getattr(self, 'step_' + name.replace('-', '_'))()
            except (StepError, BenchError, run_files.ResultsError, demo_table.TableError, OSError) as err:
                self.failed(number, name, err, getattr(err, 'log', None) or (log if log.exists() else None))
                return 1
            self.screen.say(f'      {note}, {time.monotonic() - step_begin:.0f} s')
        self.screen.say(f'All done in {time.monotonic() - begin:.0f} s.\n{NEXT}')
        return 0

    def failed(self, number, name, err, log):
        """Say on stderr which step failed, why, and how to go on."""
        self.screen.say()
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
            return found + [*(self.project / 'easyconfigs/o/osu-container').glob('*-container'), self.image()]
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
                self.screen.say(f'      {module}: skipped, {path} is there')
                continue
            # eb does nothing when the module file exists, so a stale one is made anew.
            command = ['eb', easyconfig, '-r'] + (['--rebuild'] if newer else [])
            why = f' because {newer.relative_to(self.project)} is newer' if newer else ''
            begin = time.monotonic()
            self.run('install', self.shell(shlex.join(command)), what=shlex.join(command))
            if self.module_file(module, self.environment().get('MODULEPATH', '')) is None:
                raise StepError(f'`{shlex.join(command)}` ended without an error, but there is no module {module} on '
                                'MODULEPATH', self.work / 'log' / 'install.log')
            self.screen.say(f'      {shlex.join(command)}{why}: {time.monotonic() - begin:.0f} s')
            installed += 1
        return f'{installed} installed, {len(MODULES) - installed} skipped'

    def inputs(self):
        """Return {name: sha256} of everything that the numbers depend on: modules, images, host libraries."""
        base, found = self.environment(), {}
        for _, _, module in MODULES:
            found.update(installed_modules.load(module, base).inputs())
        return found

    def stored(self):
        """Return the newest complete run (Path of its folder) with the tag of the demo, None if there is none."""
        for path in sorted(self.work.glob(f'results/*/{run_files.NAME}'), reverse=True):
            try:
                entries, _ = run_files.lines(path)
            except run_files.ResultsError as err:
                self.screen.say(f'      left out: {err}')
                continue
            if entries[0][1].get('tag') == TAG and entries[-1][1]['kind'] == 'end' and not entries[-1][1]['failed']:
                return path.parent
        return None

    def step_run(self):
        """Measure, unless the newest results are those of the modules, images and host libraries that are here now."""
        inputs, newest = self.inputs(), self.stored()
        if newest and not self.rerun:
            old = run_files.lines(newest)[0][0][1]['inputs']
            changed = sorted(name for name in set(inputs) | set(old) if inputs.get(name) != old.get(name))
            if not changed:
                self.result = newest
                return f'skipped: {newest.name} measured exactly this (`make demo RERUN=1` measures again)'
            self.screen.say(f"      measuring again, because these changed: {', '.join(changed)}")
        folder = self.work / 'results' / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
        command = [*self.osu_container, 'bench', '--tag', TAG, '--output', str(folder),
                   '--repeats', str(REPEATS)]
        command += [word for _, _, module in MODULES for word in ('--module', module)]
        self.run('run', self.shell(shlex.join(command)), what='osu-container bench')
        self.result = folder
        counts = run_files.lines(folder)[0][-1][1]
        return f"{counts['ok']} runs of {len(MODULES)} modules, kept in {folder}"

    def step_report(self):
        """Print the table of the results that belong to what is installed, and write their page beside them."""
        self.result = self.result or self.stored()
        if self.result is None:
            raise StepError(f"there are no results in {self.work / 'results'}; begin with the step run")
        run = run_files.read(self.result)
        text = demo_table.plain(run)
        (self.result / 'table.txt').write_text(text)
        self.screen.say(f'\n{text}')
        self.screen.say(f"Measured {run.facts['started']}. Measure again: `make demo RERUN=1`.")
        self.screen.say(f'Raw output, what each rank loaded, and all that is needed to repeat it: {self.result}')
        page = self.result / 'report.html'
        if not page.is_file() or self.newer(page, [self.result / run_files.NAME]):
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
    return parser.parse_args(argv)


def main(argv=None):
    """Make the demo; return the exit code: 0, 1 (a step failed), 130 (interrupted) or that of the signal."""
    settings = arguments(argv)
    demo = Demo(rerun=settings.rerun)
    try:
        with streams.ending_when_asked():
            return demo.go(settings.first)
    except KeyboardInterrupt:
        demo.screen.say()
        print('demo: interrupted. `make demo` goes on where it stopped.', file=sys.stderr)
        return 130


if __name__ == '__main__':
    sys.exit(main())
