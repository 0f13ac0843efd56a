"""What check says of a Case, what happens when it runs on two nodes, and whether the two agree."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from osu_container.base.places import STATE
from osu_container.check.start import make_starter
from osu_container.image.image import Image
from osu_container.install import call_settings
from osu_container.verdict.facts import FactsError, read_facts
from osu_container.verdict.injection import NAME, TARGET
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import INJECT_FOLDER, build_settings, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem
from osu_container.verdict.verdict import judge_approach
from osu_container.why import search
from tests.stand_in.pairs import making, parts
from tests.stand_in.pairs.cases import family
from tests.stand_in.pairs.parts import StandInError

SITE = resolve_site('workstation')
#: Where the host of the site has its libmpi and its libfabric
WHERE = tuple(SITE['libraries'][name]['value'] for name in ('libmpi', 'libfabric', 'libompi'))
#: s until a run counts as hanging; one takes about a second
LIMIT = 60
HANGS = 'it hangs\n'
#: MPI says itself which provider it took. Only words on its output: nothing runs in another way
ASKED = {
    'MPIR_CVAR_DEBUG_SUMMARY': '1',
    'MPIR_CVAR_CH4_OFI_CAPABILITY_SETS_DEBUG': '1',
    'I_MPI_DEBUG': '4',
}
_PROVIDER = re.compile(r'(?:libfabric provider|^\s*provider)\s*[:=]\s*([\w;]+)', re.M)
#: What srun says when Slurm, not the pair, is in the way
SLURM_FAILED = re.compile(
    r'^srun: (fatal: |.*(allocate resources: (?!Job/step already completing)|'
    r'slurm controller|Force Terminated job|[Nn]ode failure)).*',
    re.M,
)

#: Library -> what else its origin may be: an MPI may need no libfabric; the program has an MPI
NOT_SEEN = {'libmpi': [], 'libfabric': ['none']}


class Outcome(NamedTuple):
    """What a run did."""

    result: str  # 'runs' or 'fails'
    text: str  # one line: why it failed, or over which provider it ran
    provider: str  # of libfabric, '' where MPI did not say it
    origins: dict  # {'libmpi': 'image' | 'host', 'libfabric': ...} of what both ranks had loaded
    output: str  # all of it


class PairResult(NamedTuple):
    """A Case, tried."""

    case: object  # Case
    on_paper: tuple  # ('right', 'unknown' or 'wrong', why) of check without it
    because: list  # of str, reasons of the verdict by check --dry-run
    outcome: Outcome
    agrees: str  # 'right', 'unknown' or 'wrong'
    why: str  # one line, where it is wrong
    by_start: tuple  # as on_paper, of check --start


def make_site(case):
    """
    Return the site (dict) of the host of a Case: with Debian's Open MPI it is where Debian has
    it.
    """
    if case.host_ompi not in parts.SUITES:
        return SITE
    folder = making.MULTIARCH
    plugins = {'trixie': 'openmpi40'}.get(case.host_ompi, 'openmpi3')
    libompi = dict(
        SITE['libraries']['libompi'],
        value=f'{folder}/libmpi.so.40',
        folders={
            'lib/openmpi': f'{folder}/openmpi/lib/{plugins}',
            'lib/pmix': f'{folder}/pmix2/lib/pmix',
            'lib/ucx': f'{folder}/ucx',
            'etc': '/etc/openmpi',
        },
    )
    return dict(SITE, libraries=dict(SITE['libraries'], libompi=libompi))


# What check says


def predict_verdict(case, image, root, dry=False, start=False):
    """
    Return the Verdict on a Case whose image (Path) and host (Path) are there, as `osu-container
    check` has it.

    dry: bool, with --dry-run; start: bool, with --start.
    """
    starter = make_starter([making.PROGRAM], making.PROGRAM) if start else None
    with Image(str(image), 'osu_') as opened:
        return judge_approach(
            resolve_approach(case.approach),
            make_site(case),
            opened,
            HostFileSystem(str(root)),
            runtime=parts.runtime(),
            dry_run=dry,
            starter=starter,
        )


# A run


def make_usual_environment():
    """
    Return the environment (dict) that a run begins with: of the caller's, only what has nothing
    to do with MPI.
    """
    parts.runtime()  # sets PATH
    found = {
        name: value
        for name, value in os.environ.items()
        if name in ('HOME', 'PATH', 'SLURM_CONF', 'TMPDIR', 'USER')
    }
    if (STATE / 'slurm' / 'slurm.conf').exists():
        found.setdefault('SLURM_CONF', str(STATE / 'slurm' / 'slurm.conf'))
    return dict(found, LC_ALL='C.UTF-8')


def _environment(settings, binds=()):
    """
    Return the environment (dict) that the module with these Settings gives to srun, and nothing
    else of ours.

    :param binds: of str, more files and folders that the container gets
    """
    found = make_usual_environment()
    found.update(
        (one['name'], one['value'])
        for one in settings.environment.variables + settings.environment.command_variables
    )
    prefix = settings.container.env_prefix
    found.update(
        (name, value)
        for name, value in (
            (
                f'{prefix}_BIND',
                ','.join(
                    [f'{path}:{inside}' for path, inside, _ in settings.container.binds]
                    + list(binds)
                ),
            ),
            (f'{prefix}ENV_OSU_SWAP_PATH', ':'.join(settings.container.host_path)),
        )
        if value
    )
    found.update((f'{prefix}ENV_{name}', value) for name, value in ASKED.items())
    return found


def srun(command, environment, folder=None):
    """
    Run a command (list) on two nodes; return its output (str), with a line of ours at its end if it
    was ended after LIMIT.

    :param folder: path in which it runs, None for this one
    Raises StandInError if there is no srun, no node became free, or Slurm does not answer.
    """
    command = ['srun', '-N2', '-n2', '--kill-on-bad-exit=1', *(str(part) for part in command)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            env=environment,
            cwd=folder,
        )
    except FileNotFoundError:
        raise StandInError("no srun on PATH: `make setup` installs Slurm") from None
    try:
        output = process.communicate(timeout=LIMIT)[0]
        failed = SLURM_FAILED.search(output)
        if failed:
            raise StandInError(
                f"Slurm did not run the pair ({failed.group()}). Start it: "
                "tools/workstation/slurm.sh start"
            )
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
        raise StandInError(
            f"no two nodes became free within {LIMIT} s; `squeue` shows who has them"
        )
    return f'{output}\nended after {LIMIT} s: {HANGS}'


def run(approach, image, root, site=SITE):
    """
    Return the Outcome of the program of an image (Path) by an approach (dict) over the host root
    (Path).

    The settings are those of the module that would be installed, failing ones included. Where no
    module can be made, that is a failure, with the reason.
    """
    try:
        facts = read_facts(
            approach, site, str(image), str(root), parts.runtime(), 'osu_', force=True
        )
        settings = build_settings(approach, site, facts)
    except FactsError as err:
        return Outcome('fails', f'no module: {err}', '', {}, '')
    with making.scratch() as links:  # what an entrypoint writes to /tmp stays nowhere
        start, binds = (
            ('run', [f'{links}:/tmp']) if settings.container.uses_entrypoint else ('exec', [])
        )
        (Path(links) / NAME).write_text(call_settings.render_module_injection(settings))
        binds.append(f'{links}/{NAME}:{TARGET}')
        output = srun(
            [
                f'--mpi={settings.stack.pmi}',
                parts.runtime()['command'],
                '--quiet',
                start,
                image,
                making.PROGRAM,
            ],
            _environment(settings, binds),
            folder=links,
        )  # where a shell writes that takes ELF for a script
    return parse_outcome(output, approach['comes_from'])


def _find_origin(output, rank, name):
    """
    Return whose library of a name (str) a rank (int) had loaded: 'host', 'image', 'both' or
    'none'.
    """
    paths = re.findall(rf'^LOADED {rank} (/\S.*/{name}[^/]*)$', output, re.M)
    found = {'host' if path.startswith((INJECT_FOLDER, '/host')) else 'image' for path in paths}
    return 'both' if len(found) > 1 else found.pop() if found else 'none'


def parse_outcome(output, comes_from):
    """Return the Outcome of a run by its output (str); comes_from: dict, as an approach has it."""
    ranks = re.findall(r'^RANK (\d) of (\d) on (\S+):', output, re.M)
    ended = set(re.findall(r'^ENDED (\d)$', output, re.M))
    provider = next(iter(_PROVIDER.findall(output)), '')
    hangs = [line for line in output.splitlines() if line.endswith('it hangs')]
    if len({number for number, size, _ in ranks if size == '2'}) < 2 or len(ended) < 2:
        alone = [1 for _, size, _ in ranks if size == '1']
        text = hangs[0] if hangs else 'each rank is alone' if alone else _find_message(output)
        return Outcome('fails', text, provider, {}, output)
    origins = {
        name: {_find_origin(output, rank, library) for rank in (0, 1)}
        for name, library in (
            ('libmpi', r'lib(?:mpi|mpich|mpi_abi)(?:\.so|$)'),
            ('libfabric', r'libfabric(?:\.so|-[0-9a-f]+\.so)'),
        )
    }
    origins = {name: found.pop() if len(found) == 1 else 'both' for name, found in origins.items()}
    problem = None
    if len({node for _, _, node in ranks}) < 2:
        problem = f'both ranks ran on {ranks[0][2]}'
    for name, owner in comes_from.items():
        if owner == 'host' and origins.get(name) not in ['host'] + NOT_SEEN[name]:
            problem = f'ran with {name} of: {origins.get(name)}'
    return Outcome(
        'fails' if problem else 'runs',
        problem or provider or 'provider not said',
        provider,
        origins,
        output,
    )


def _find_message(output):
    """
    Return what output (str) says of why a run failed (str): the first two messages that are
    known, else a line.
    """
    known = [
        message['line']
        for message in search.find_messages(output)
        if not message['line'].startswith('srun: ')
    ][:2]
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return '; '.join(known) or next(
        (line for line in lines if not re.match(r'LOADED|RANK|ENDED|srun: |=|\[', line)),
        'no word of why',
    )


# Whether they agree


def compare_outcome(verdict, outcome, wanted_provider=SITE['provider']['value']):
    """
    Return ('right' | 'unknown' | 'wrong', why) for a Verdict and an Outcome.

    Works: it runs, with the libraries that the verdict names, over the site's provider where MPI
    says which it took. Works slowly: it runs. Fails: it fails.
    """
    if verdict.level == 'unknown':
        return 'unknown', ''
    if (verdict.level == 'fails') != (outcome.result == 'fails'):
        return 'wrong', f"check says {verdict.level}, it {outcome.result}: {outcome.text}"
    if outcome.result == 'fails':
        return 'right', ''
    for name, said in (('libmpi', verdict.mpi), ('libfabric', verdict.libfabric)):
        owner = 'none' if said == 'none' else said.rpartition(' ')[2]
        if outcome.origins[name] not in [owner] + NOT_SEEN[name]:
            return (
                'wrong',
                f"check says {name} is {said}, loaded is that of: {outcome.origins[name]}",
            )
    if (
        verdict.level == 'works'
        and outcome.provider
        and wanted_provider not in outcome.provider.split(';')
    ):
        return 'wrong', f"check says works, it ran over {outcome.provider}"
    return 'right', ''


def try_case(case):
    """Return the Tried of a Case. Raises StandInError, ImageError of what makes it."""
    with making.scratch() as name:
        folder = Path(name)
        image = making.image(case, folder)
        of_bind = case.approach == 'bind' and family(case.mpi) == 'Open MPI'
        root = making.host(case.host, case.host_mpi, WHERE, case.host_ompi if of_bind else None)
        on_paper, verdict = (
            predict_verdict(case, image, root),
            predict_verdict(case, image, root, dry=True),
        )
        by_start = predict_verdict(case, image, root, start=True)
        outcome = run(resolve_approach(case.approach), image, root, make_site(case))
        agrees, reason = compare_outcome(verdict, outcome)
        findings = [
            one for one in verdict.findings if one.level == verdict.level and one.level != NOTE
        ]

        def plain(text):
            return text.replace(str(image), 'image').replace(str(root), '').replace(str(folder), '')

        return PairResult(
            case,
            compare_outcome(on_paper, outcome),
            [plain(one.reason) for one in findings],
            outcome._replace(text=plain(outcome.text), output=plain(outcome.output)),
            agrees,
            plain(reason),
            compare_outcome(by_start, outcome),
        )
