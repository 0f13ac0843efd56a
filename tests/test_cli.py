"""What the command osu-container answers to a wrong word, to none, and to --version.

Commands whose standard streams are closed, full or gone, and whose memory is limited.
"""

import importlib
import json
import signal
import subprocess
import sys
import threading
import time

import pytest

from osu_container import __version__, cli
from osu_container.base import columns, exit_codes, streams
from osu_container.bench.compare import cli as compare
from osu_container.check.cli import EXIT_CODES
from osu_container.cli import COMMANDS, Parser, main
from tests.helpers.machine import PROJECT, PYTHON_36, run
from tests.proof.test_judging import rank, write_proofs

COMMAND = PROJECT / 'scripts' / 'osu-container'


@pytest.mark.parametrize(
    'arguments, usage, meant',
    [
        (['chek', 'x.sif'], 'osu-container', 'check'),
        (['image', 'list', '--jsn'], 'osu-container image list', '--json'),
        (['bench', '--tag', 'quik'], 'osu-container bench', 'quick'),
        (['bench', '--dryrun=1'], 'osu-container bench', '--dry-run'),
        (['nonsense'], 'osu-container', None),
        (['why', '--xyzzy'], 'osu-container why', None),
        (['image', 'list', '--xyzzy'], 'osu-container image list', None),
    ],
)
def test_an_unknown_word_is_answered_by_a_similar_one(capsys, arguments, usage, meant):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    output = capsys.readouterr()
    assert ended.value.code == 2 and output.out == '' and output.err.startswith(f'usage: {usage} ')
    assert output.err.endswith(f' {meant}?\n') if meant else '?' not in output.err, output.err


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.err == '' and all(f'\n    {name}' in said.out for name in COMMANDS)


def test_version_names_the_clone(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['--version'])
    assert (
        ended.value.code == 0
        and capsys.readouterr().out == f'osu-container {__version__} ({PROJECT})\n'
    )


def test_the_package_runs_as_the_command_does():
    commands = [COMMAND], [sys.executable, '-m', 'osu_container']
    outputs = {run([*command, 'check', '--help']).stdout for command in commands}
    assert len(outputs) == 1 and outputs.pop().startswith('usage: osu-container check [')


def find_parser(command):
    """Return the parser (Parser) of a command (str, with its subcommand)."""
    name, _, below = command.partition(' ')
    parser = Parser(prog=name)
    importlib.import_module(COMMANDS[name][0]).add_arguments(parser)
    return parser.find_subparser([below])


def list_commands():
    """Return the commands (list of str), with their subcommands where they have some."""
    return [
        f'{name} {below}'.strip()
        for name in COMMANDS
        for below in find_parser(name).list_subparsers() or ['']
    ]


ALL = list_commands()


@pytest.mark.parametrize('command', ALL)
def test_every_help_names_the_exit_codes_and_wrong_usage(command, capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '70')
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), '--help'])
    said = capsys.readouterr().out
    codes = exit_codes.format_codes(command)
    assert ended.value.code == 0 and said.split()[-len(codes.split()) :] == codes.split()
    assert exit_codes.WRONG_USAGE in dict(exit_codes.list_codes(command))
    filled = [line for line in said.splitlines() if not line.startswith('  ') and '|' not in line]
    assert max(map(len, filled)) <= 70, 'in the width of the terminal'
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), '--xyzzy'])
    assert ended.value.code == exit_codes.WRONG_USAGE


def test_an_option_means_the_same_in_all_commands():
    """Either it takes a value or it takes none; a letter is short for one option."""
    takes, short = {}, {}
    for command in ALL:
        for action in find_parser(command)._actions:
            long = [option for option in action.option_strings if option.startswith('--')]
            for option in long:
                takes.setdefault(option, {}).setdefault(action.nargs != 0, []).append(command)
            for option in set(action.option_strings) - set(long):
                short.setdefault(option, {}).setdefault(long[0], []).append(command)
    assert len(takes) > 40
    assert {option: found for option, found in takes.items() if len(found) > 1} == {}
    assert {option: found for option, found in short.items() if len(found) > 1} == {}


def test_exit_code_table_matches_the_commands():
    assert set(exit_codes.CODES) <= set(ALL)
    assert dict(exit_codes.CODES['check']).keys() == {*EXIT_CODES.values(), 1}
    assert dict(exit_codes.CODES['compare']).keys() == {
        compare.FINE,
        compare.WORSE,
        compare.IMPOSSIBLE,
    }


@pytest.mark.skipif(PYTHON_36 is None, reason='no Python 3.6 on this machine')
def test_python_3_6_suggests_a_similar_option():
    done = run([PYTHON_36, COMMAND, 'why', '--jsn'])
    assert done.returncode == 2 and done.stderr.endswith(' --json?\n')


#: Commands that print facts -> a call of each that needs nothing of this machine
FACTS = {
    'check': ['osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', '--site', 'frontier'],
    'discover': ['--sysroot', 'host'],
    'why': ['failed.out'],
    'image list': [],
    'reference list': [],
    'compare': ['lumi-g-2025-03:opensource'],
    'proof': ['7.0'],
    'import': ['job.out', '-o', 'run'],
}


@pytest.mark.parametrize('command', FACTS)
def test_json_is_one_document(command, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'host').mkdir()
    write_proofs(tmp_path / '7.0', [rank(0), rank(1)])
    (tmp_path / 'job.out').write_text('# OSU MPI Bandwidth Test v7.5\n1    2.00\n')
    (tmp_path / 'failed.out').write_text('x: undefined symbol: f7\n')
    main([*command.split(), *FACTS[command], '--json'])
    assert json.loads(capsys.readouterr().out)


# ---- tables that fit the terminal

ROWS = [
    (
        'name',
        'P',
        'here',
        '12 MB',
        'built 2026-11-20, 3 min',
        'what it is for, in some words that have no room',
    ),
    ('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', '', 'unbuilt', '', '', 'short'),
    ('a', 'b', 'c', 'd', 'e', ''),
]


@pytest.mark.parametrize('width', [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize('rows', [ROWS, ROWS[2:], [('one', 'two')], [('alone',)], []])
def test_a_table_fits_and_has_every_word(monkeypatch, rows, width):
    monkeypatch.setenv('COLUMNS', str(width))
    lines = columns.format_table(rows, right_aligned=[3], indent='  ')
    longest = max((len(cell) for row in rows for cell in row if ' ' not in cell), default=0)
    assert all(len(line) <= max(width, longest + 8) for line in lines), lines
    assert ' '.join(lines).split() == ' '.join(cell for row in rows for cell in row).split()
    if width == 200:
        assert len(lines) == len(rows), 'where there is room a row is a line'


def run_shell(script, *words):
    return run(['bash', '-c', script, '-', *words])


@pytest.fixture
def output(tmp_path):
    """A job's output with a message that `osu-container why` knows."""
    path = tmp_path / 'slurm-1.out'
    path.write_text(
        "osu_bw: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /host/libmpi.so)\n"
    )
    return path


@pytest.mark.parametrize(
    'python',
    [
        sys.executable,
        pytest.param(
            PYTHON_36, marks=pytest.mark.skipif(not PYTHON_36, reason='no Python 3.6 here')
        ),
    ],
)
@pytest.mark.parametrize(
    'closed, code, says',
    [
        ('>&-', 0, ''),
        ('<&-', 0, ''),
        ('2>&-', 0, ''),
        ('<&- >&- 2>&-', 0, ''),
        ('>/dev/full', 1, 'No space left on device'),
        ('>/dev/full 2>&-', 1, ''),
    ],
)
def test_a_closed_or_full_stream_is_no_traceback(output, python, closed, code, says):
    done = run_shell(f'exec "$@" {closed}', python, '-I', COMMAND, 'why', output)
    assert done.returncode == code and says in done.stderr, done.stderr
    assert all(line.startswith('osu-container why: error: ') for line in done.stderr.splitlines())


def test_a_file_never_gets_the_number_of_a_closed_stream(tmp_path):
    script = (
        'import os, subprocess, sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container.base import streams\n'
        'streams.prepare_streams()\nhandle = open(sys.argv[2], "w")\nprint("to nobody", flush=True)\n'
        'subprocess.call(["echo", "to nobody"])\nsys.exit(0 if handle.fileno() > 2 else 1)'
    )
    done = run_shell(
        'exec "$@" <&- >&- 2>&-', sys.executable, '-c', script, PROJECT, tmp_path / 'file'
    )
    assert done.returncode == 0 and (tmp_path / 'file').read_text() == ''


def test_too_little_memory_is_reported():
    script = (
        'import sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container.base import streams\n'
        'sys.exit(streams.run_guarded("osu-container x", lambda: bytearray(1 << 32)))'
    )
    done = run_shell('ulimit -v 500000; exec "$@"', sys.executable, '-c', script, PROJECT)
    assert (
        done.returncode == 1
        and done.stderr.startswith('osu-container: error: ')
        and 'ulimit -v' in done.stderr
    )


def test_ignored_hangup_stays_ignored_and_handlers_are_removed(output, monkeypatch):
    """nohup. And who calls main() in a process, such as pytest, ends by SIGTERM as before."""
    during, before = (
        [],
        {number: signal.getsignal(number) for number in streams.TERMINATION_SIGNALS},
    )
    monkeypatch.setattr(sys, 'argv', ['osu-container', 'why', str(output)])
    monkeypatch.setattr(
        'osu_container.why.cli.main',
        lambda options: during.extend(map(signal.getsignal, before)) or 0,
    )
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert cli.main() == 0 and dict(zip(before, during)) == {
            **before,
            signal.SIGHUP: signal.SIG_IGN,
        }
        during.clear()
        assert cli.run_command() == 0
        assert dict(zip(before, during)) == {
            signal.SIGHUP: signal.SIG_IGN,
            signal.SIGTERM: streams.handle_signal,
        }
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert (
            signal.getsignal(signal.SIGTERM) is before[signal.SIGTERM] is not streams.handle_signal
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_command_runs_in_a_thread(output):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(cli.main(['why', str(output)])))
    thread.start()
    thread.join()
    assert codes == [0]


# ---- commands that it has started


@pytest.mark.parametrize(
    'script, code',
    [
        ('sleep 60 & echo ready; wait', -signal.SIGTERM),
        # asked, it ignores that, as does what it has started
        ('trap "" TERM; sleep 60 & echo ready; wait', -signal.SIGKILL),
        # it has ended itself, and what it started runs on
        ('sleep 60 & echo ready', 0),
    ],
)
def test_process_group_is_terminated_with_its_children(script, code):
    with subprocess.Popen(
        ['sh', '-c', script], start_new_session=True, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline()
        if not code:
            child.wait(60)
        begin = time.monotonic()
        streams.terminate_process_group(child, patience=0.5)
        assert child.returncode == code
        assert (
            child.stdout.read() == b'' and time.monotonic() - begin < 30
        )  # the last one that could write is gone


def test_signal_during_a_fork_ends_the_command_and_its_child():
    """Python ignores exceptions in functions of os.register_at_fork(), such as those of logging."""
    script = """
import os, signal, sys
from osu_container.base import streams
signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
with streams.start_process_group(['sleep', '600.5'], stdout=sys.stdout):
    sys.exit(3)
"""
    with subprocess.Popen(
        [sys.executable, '-c', script], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        # The output ends when nobody can write to it any more, neither the command nor its child.
        output, errors = child.communicate(timeout=60)
    assert (child.returncode, output) == (-signal.SIGINT, b''), errors
