#!/usr/bin/env python3
"""Install five modules with EasyBuild, run their programs on two nodes, and print a table.

`make demo` runs this script, after setting up Slurm, the image and the host's MPI.
`osu-container bench --tag demo` runs the programs, and `osu-container report` writes a report.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from osu_container.base import streams
from osu_container.base.places import PROJECT
from osu_container.bench import cases
from osu_container.bench.results import run_files
from tools import demo_table

#: Module -> its easyconfig, in the order of the table
MODULES = {
    'osu-native': 'osu-native.eb',
    'osu-container/pure': 'osu-container-pure.eb',
    'osu-container/bind': 'osu-container-bind.eb',
    'osu-container/hybrid': 'osu-container-hybrid.eb',
    'osu-container/opensource': 'osu-container-opensource.eb',
}
#: Files that determine a module: a module older than one of them is installed again
INPUTS = (
    'easyblocks/generic/*.py',
    'easyconfigs/o/*/*',
    'scripts/*',
    *(f'osu_container/{name}/**/*.py' for name in ('base', 'data', 'image', 'install', 'verdict')),
    'sources/osu-workstation-*.sif',
)
NEXT = """Next, in this shell:
    . ./env.sh
    module load osu-container/hybrid
    srun osu_bw H H
    make stop     # stops the private Slurm"""


class DemoError(Exception):
    """A command of `make demo` failed; the text of the error names the command."""


def run(project: Path, command: str, **options: Any) -> str:
    """Run a shell command in the environment of the project and return its stdout.

    The result is '' unless `options` redirect the stdout of the command. Raises DemoError if the
    command fails.

    options: options of subprocess.Popen
    """
    print(f'==> {command}', flush=True)
    shell = ['bash', '--norc', '-c', f'set -e; . {shlex.quote(str(project / "env.sh"))}; {command}']
    with streams.start_process_group(shell, cwd=project, **options) as child:
        output, _ = child.communicate()
    if child.returncode:
        raise DemoError(f'`{command}` failed (exit code {child.returncode})')
    return output or ''


def install_modules(project: Path) -> None:
    """Install each module of the demo that is missing or older than a file in INPUTS."""
    newest = max(path.stat().st_mtime for pattern in INPUTS for path in project.glob(pattern))
    folder = Path(
        run(
            project, 'tools/workstation/eb_folder.sh modules', stdout=subprocess.PIPE, text=True
        ).strip()
    )
    for module, easyconfig in MODULES.items():
        name, _, version = module.partition('/')
        installed = max(
            (path.stat().st_mtime for path in folder.glob(f'{name}/{version or "*"}.lua')),
            default=None,
        )
        if installed is None:
            run(project, f'eb {easyconfig} -r')
        elif installed < newest:
            run(project, f'eb {easyconfig} -r --rebuild')
        else:
            print(f'==> {module} is installed', flush=True)


def measure_modules(project: Path) -> Path:
    """
    Measure all modules of the demo and return the folder with the results.

    If the speeds of the modules differ too much, the function doubles the number of measurements.
    The table of the demo shows the best value of all repeats.
    """
    folder = project / '.workstation' / 'results' / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    modules = ' '.join(f'--module {module}' for module in MODULES)
    path = shlex.quote(str(folder))
    run(project, f'osu-container bench --tag demo {modules} --output {path}')
    if demo_table.compute_spread(run_files.read_results(folder)) > demo_table.STEADY:
        print(
            '==> measuring again: the speeds vary, because other processes use this machine',
            flush=True,
        )
        run(project, f'osu-container bench --resume {path} --repeats {2 * cases.REPEATS["demo"]}')
    return folder


def write_report(project: Path, folder: Path) -> None:
    """Print the table of the demo, and write the table and an HTML report into `folder`.

    folder: folder with the results of the demo
    """
    table = demo_table.render_demo_table(run_files.read_results(folder))
    (folder / 'table.txt').write_text(table)
    page = folder / 'report.html'
    run(
        project,
        f'osu-container report {shlex.quote(str(folder))} --output {shlex.quote(str(page))}',
    )
    print(f'\n{table}\nReport, for a browser: {page}\n{NEXT}')


def main(project: Path = PROJECT) -> int:
    """Run `make demo` in `project`, a clone of the repository, and return the exit code."""
    try:
        with streams.exit_on_signals():
            install_modules(project)
            write_report(project, measure_modules(project))
    except (DemoError, run_files.ResultsError, demo_table.MissingFiguresError, OSError) as err:
        print(
            f'demo: {err}\nFix the problem and repeat: make demo (installed modules are kept)',
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
