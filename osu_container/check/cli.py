"""Define the command `osu-container check`, which prints verdicts as text or as JSON."""

import argparse
import json
import os
import posixpath
import re
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

from osu_container.base import columns, shell, streams
from osu_container.base.terminal import escape_line, escape_text
from osu_container.check import examination, start
from osu_container.check.described import describe_catalogue_image, find_catalogue_name
from osu_container.check.public_hosts import find_host_description
from osu_container.check.site import (
    Host,
    SettingsError,
    add_site_arguments,
    find_site,
    find_site_runtime,
    format_host_evidence,
    format_site_options,
    resolve_host,
)
from osu_container.data.approaches import APPROACHES
from osu_container.discover.host_facts import DescribedHost, HostDescriptionError
from osu_container.image.elf import ElfError
from osu_container.image.environment import split_command
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.verdict import commands, launching
from osu_container.verdict.rules.finding import LEVELS, NOTE, Finding
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import get_architecture
from osu_container.verdict.trial import select_program
from osu_container.verdict.verdict import (
    Verdict,
    format_level,
    format_stack,
    judge_approaches,
    recommend_approach,
)

#: Exit code by verdict: that of `--approach`, else the best verdict of all approaches
EXIT_CODES = {'works': 0, 'works slowly': 4, 'no use': 7, 'unknown': 5, 'fails': 6}
#: Maximum number of lines of a report without --verbose
REPORT_LINES = 25
CONTAINER_APPROACHES = [name for name in APPROACHES if APPROACHES[name]['container']]


class CheckError(Exception):
    """An image cannot be checked; the text of the error tells the user why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container check` to the parser."""
    parser.add_argument(
        'image',
        nargs='?',
        metavar='IMAGE',
        help="SIF file, or folder of an unpacked image. With --site, IMAGE may also be a name "
        "that `osu-container image list` prints; the image and the host are then known from "
        "published data only",
    )
    add_site_arguments(parser, "site to check for")
    parser.add_argument(
        '--approach',
        choices=CONTAINER_APPROACHES,
        help="check only this approach; default: check all approaches",
    )
    parser.add_argument(
        '--program',
        metavar='LINE',
        help="program to check, as a path inside the image, followed by arguments if the program "
        "needs arguments to start; default: an OSU benchmark, else the first program that uses MPI",
    )
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help="also run the image's dynamic loader to list the libraries that the loader would "
        "load. This option works only on the system of the site, and it also runs the "
        "image's environment scripts (see SECURITY.md)",
    )
    parser.add_argument(
        '--start',
        action='store_true',
        help="start the program, or the COMMAND after `--`, in the image once for each approach, with "
        "the settings of the approach's module, and stop the program when MPI is loaded. This "
        "option works only on the system of the site, and really executes the program (see "
        "SECURITY.md)",
    )
    parser.add_argument('--json', action='store_true', help="print machine-readable output")
    parser.add_argument(
        '--verbose',
        '-v',
        action='store_true',
        help="print all findings with their evidence and remedies",
    )
    parser.add_argument(
        '--color',
        choices=('auto', 'always', 'never'),
        default='auto',
        help="whether to colour the verdicts; default: auto, which colours the verdicts on a "
        "terminal unless the variable NO_COLOR is set",
    )
    parser.add_argument(
        '--published', action='store_true', help=argparse.SUPPRESS
    )  # compares the predictions for published combinations with their results
    parser.usage = '%(prog)s [OPTION...] IMAGE [--start [-- COMMAND...]]'
    parser.epilog = (
        "Without the options --dry-run and --start, the command runs no program and no script of the "
        "image."
    )
    parser.set_defaults(
        function=main,
        prog='osu-container check',
        parser=parser,
        words=[],
        errors=(CheckError, HostDescriptionError, ImageError, ElfError, SettingsError, OSError),
        after_interrupt='nothing was changed',
    )


def main(options: argparse.Namespace) -> int:
    """
    Print the verdicts on an image and return the exit code.

    Raises CheckError, and the exceptions that occur while the image and the host are read.
    """
    if options.words:
        if options.program or not options.start:
            options.parser.error(
                "a COMMAND after `--` needs --start, and cannot be combined with --program"
            )
        options.program = start.join_program(options.words)
    if options.published:
        if options.image:
            options.parser.error(
                "--published cannot be combined with IMAGE. Leave out IMAGE or --published"
            )
        with streams.Progress("judging the published combinations") as progress:
            return examination.main(progress)
    if not options.image:
        options.parser.error(
            "no image is given. Give an image: osu-container check IMAGE.sif, or use --published"
        )
    site, root = find_site(options.site, options.sysroot)
    catalogue_image = describe_catalogue_image(options.image, get_architecture(site))
    if (
        catalogue_image
        and options.site
        and not options.sysroot
        and not os.path.exists(options.image)
    ):
        if options.program:
            raise CheckError(
                "--program cannot be combined with %s: this file does not exist, so the programs "
                "in the image are unknown. Give the path of an existing SIF" % options.image
            )
        host = (
            resolve_host(options, site, '')
            if options.facts
            else DescribedHost(find_host_description(site))
        )
        with streams.Progress("judging %s" % options.image) as progress:
            return print_verdicts(catalogue_image, site, host, options, progress)
    host = resolve_host(options, site, root)
    with streams.Progress("reading %s" % options.image) as progress, Image(
        options.image, 'osu_'
    ) as image:
        program_count = len(image.programs)
        if not program_count and not options.program:
            progress("looking for programs in %s" % options.image)
            image.programs = {
                command.name: posixpath.dirname(command.path)
                for command in commands.find_commands(image)
            }
        return print_verdicts(image, site, host, options, progress, program_count)


def list_started_words(image: Any, program: Optional[str]) -> List[str]:
    """
    Return the words of the command line that `check --start` runs in the image.

    Raises CheckError if the user gives no command and the main program of the image is unknown.
    """
    if program is not None:
        return split_command(program)
    path = select_program(image, None, image.evaluate_environment())
    words = [script for script, _ in path.scripts[:1]] or [path.program or '']
    if words == ['']:
        raise CheckError(
            "cannot tell which program of %s to start. Give the command: osu-container "
            "check %s --start -- COMMAND" % (image.path, shell.quote_path(image.path))
        )
    return words


def print_verdicts(
    image: Image,
    site: Dict[str, Any],
    host: Host,
    options: argparse.Namespace,
    progress: streams.Progress,
    program_count: int = 0,
) -> int:
    """
    Print the verdicts on an image and a host, and return the exit code.

    progress: the progress line on the terminal, which is removed before the report is printed.
    program_count: the number of OSU benchmarks in the image.
    """
    names = [options.approach] if options.approach else list_applicable_approaches(image)
    runtime = find_site_runtime(site, host)
    option = '--start' if options.start else '--dry-run' if options.dry_run else ''
    if option and (image.is_partial or not runtime):
        raise CheckError(
            "%s works only on the system of the site, and needs the file of the image and one of the "
            "container runtimes %s on PATH. Run on the system of the site: osu-container check %s %s"
            % (
                option,
                ', '.join(site['runtime']['value']),
                shell.quote_path(options.image),
                option,
            )
        )
    starter = None
    if option == '--start':
        words = list_started_words(image, options.program)
        options.program = start.join_program(words)
        starter = start.announce_start(image.path, words, progress)
    verdicts = judge_approaches(
        names, site, image, host, options.program, runtime, options.dry_run, starter, progress
    )
    facts, best = summarize_image(image, program_count), recommend_approach(verdicts, site)
    progress.stop()
    if options.json:
        print(json.dumps(build_verdict_data(facts, site, host, runtime, verdicts, best), indent=1))
    else:
        eb_options, command_options = format_site_options(options)
        first = split_command(options.program)[0] if options.program and best else ''
        # In an image with several MPIs, the program decides which MPI `new` uses too. A shell would
        # hide the host's shell.
        if first and not re.match(r'(.*/)?(\w*sh|env)$', first):
            command_options += ['--command', first]
        report = format_check_report(
            facts,
            site,
            host,
            verdicts,
            best,
            None if options.approach else (eb_options, command_options),
            options.verbose,
        )
        print_colored(report, options.color)
    return EXIT_CODES[min((verdict.level for verdict in verdicts), key=LEVELS.index)]


def list_applicable_approaches(image: Image) -> List[str]:
    """Return all container approaches; omit the approach swap if the image has no entrypoint."""
    return [
        name
        for name in CONTAINER_APPROACHES
        if not resolve_approach(name).get('entrypoint') or image.read_entrypoint()
    ]


def summarize_image(image: Image, program_count: int) -> Dict[str, Any]:
    """Return a dict that describes an image: path, MPI libraries, GPU releases, labels."""
    return {
        'path': image.path,
        'described': image.is_partial,
        'mpi': [
            {'family': family, 'soname': soname, 'path': path}
            for family, soname, path in image.list_mpi_libraries()
        ],
        'programs': program_count,
        'rocm': image.find_rocm_release(),
        'cuda': image.find_cuda_release(),
        'labels': {
            name: value
            for name, value in sorted(image.labels.items())
            if name.startswith('org.osu-container')
        },
    }


def build_verdict_data(
    facts: Dict[str, Any],
    site: Dict[str, Any],
    host: Host,
    runtime: Optional[Dict[str, Any]],
    verdicts: List[Verdict],
    best: Optional[str],
) -> Dict[str, Any]:
    """Return the dict that `osu-container check --json` prints."""
    return {
        'image': facts,
        'described': host.is_partial,
        'host': format_host_evidence(host) or 'read',
        'site': site['name'],
        'sysroot': host.root or None,
        'runtime': runtime,
        'recommended': best,
        'verdicts': [
            {
                'approach': verdict.approach,
                'verdict': verdict.level,
                'untested': verdict.untested_facts,
                'mpi': verdict.mpi,
                'libfabric': verdict.libfabric,
                'mpi_type': verdict.pmi,
                'mpi_by_itself': verdict.standalone_level,
                'program': verdict.program,
                'start': start.build_start_data(verdict.start),
                'findings': [
                    {
                        'rule': finding.rule,
                        'verdict': finding.level,
                        'reason': finding.reason,
                        'evidence': [
                            {'file': name, 'found': value} for name, value in finding.evidence
                        ],
                        'remedy': finding.remedy,
                        'source': finding.source,
                    }
                    for finding in verdict.findings
                ],
            }
            for verdict in verdicts
        ],
    }


def fold_words(text: str, indent: str = '', further_indent: str = '') -> List[str]:
    """Return `text` wrapped into lines; a command in backticks stays on one line."""
    kept = re.sub('`[^`]*`', lambda match: match.group().replace(' ', '\xa0'), text)
    return columns.fill_text(kept, indent, further_indent).replace('\xa0', ' ').split('\n')


def _fold_entry(title: str, words: str) -> List[str]:
    """Return the lines of a report entry with a title, such as '    MPI       libmpi.so.12'."""
    return fold_words(escape_line(words), '    %-10s' % title, ' ' * 14)


def format_check_report(
    facts: Dict[str, Any],
    site: Dict[str, Any],
    host: Host,
    verdicts: List[Verdict],
    best: Optional[str],
    chosen: Optional[Tuple[Sequence[str], Sequence[str]]],
    verbose: bool = True,
) -> str:
    """
    Return the report on the verdicts as text for people.

    With verbose=True (the default), the report has all findings and their evidence. With
    verbose=False, a report on several approaches has at most REPORT_LINES lines: the worst finding
    of each approach, and remedies only if no approach works and there is space for remedies. The
    report may have more lines on a narrow terminal.

    facts: result of summarize_image().
    best: the recommended approach, or None.
    chosen: result of format_site_options(), None for a report that recommends no command.
    """
    in_full, is_long = verbose or len(verdicts) == 1, verbose or not chosen
    judged = [
        verdict
        for verdict in verdicts
        if [finding.rule for finding in verdict.findings[:1]] != ['other MPI']
    ] or verdicts
    top = _format_header(facts, site, host, verdicts, is_long)
    rows = [''] + _format_rows(verdicts, judged, site, is_long)
    findings = _group_findings(judged, in_full)
    notes = [
        _fold_entry('note', text) + (_fold_entry('remedy', finding.remedy) if verbose else [])
        for text, finding in findings
        if finding.level == NOTE
    ]
    advice = [''] + _format_advice(best, facts, verdicts, chosen, site) if chosen else []
    works = any(verdict.level == 'works' for verdict in verdicts)
    space = REPORT_LINES - len(top + rows + advice) - 2
    for has_remedies in (True, False) if in_full or not works else (False,):
        blocks = [
            _format_finding(text, finding, has_remedies, verbose)
            for text, finding in findings
            if finding.level != NOTE
        ]
        if in_full or len(sum(blocks, [])) <= space:
            break
    reasons, hidden = list(blocks), 0
    while not in_full and len(sum(notes + reasons, [])) > space and notes + reasons:
        (notes or reasons).pop()
        hidden += 1
    if hidden:
        reasons.append(
            [
                '%d findings are not shown. To see all findings, run `osu-container check` with --verbose'
                % hidden
            ]
        )
    return '\n'.join(top + sum(notes, []) + rows + [''] * bool(reasons) + sum(reasons, []) + advice)


def _format_rows(
    verdicts: List[Verdict], judged: List[Verdict], site: Dict[str, Any], in_full: bool
) -> List[str]:
    """
    Return the lines of the table of verdicts, with one row for each approach.

    judged: the verdicts on approaches that apply to the MPI of the image. In the row of any other
    approach, the verdict is 'does not apply'.
    in_full: whether each row also shows the PMI and the untested facts.
    """
    width = max(len(format_level(verdict)) for verdict in verdicts)
    lines: List[str] = []
    for verdict in verdicts:
        level, words = '%-*s' % (width, format_level(verdict).upper()), format_stack(verdict)
        if verdict not in judged:
            level, words = 'does not apply:', verdict.findings[0].reason.partition(',')[0]
        elif in_full and verdict.pmi:
            words += ', started by `%s`' % launching.format_site_pmi(site, verdict.pmi)
        lines += fold_words(
            ('%-12s%s %s' % (verdict.approach, level, words)).rstrip(), '', ' ' * 14
        )
        if in_full and verdict in judged and verdict.untested_facts:
            lines += _fold_entry('untested', ', '.join(verdict.untested_facts))
    return lines


def _group_findings(verdicts: List[Verdict], in_full: bool) -> List[Tuple[str, Finding]]:
    """
    Return each distinct finding of the verdicts once, as a list of (text, finding).

    The text consists of the names of the approaches that have the finding, and of the reason in the
    finding. The names are left out if all approaches have the finding.

    in_full: whether to return all findings. Otherwise the list has the notes and the first finding
    of each verdict.
    """
    groups: Dict[Tuple[str, str], Tuple[Finding, List[str]]] = {}
    for verdict in verdicts:
        for number, finding in enumerate(verdict.findings):
            if in_full or number == 0 or finding.level == NOTE:
                key = finding.reason, finding.remedy
                groups.setdefault(key, (finding, []))[1].append(verdict.approach)
    return [
        (
            ('%s: ' % ', '.join(names) if len(names) < len(verdicts) else '') + finding.reason,
            finding,
        )
        for finding, names in groups.values()
    ]


def _format_header(
    facts: Dict[str, Any],
    site: Dict[str, Any],
    host: Host,
    verdicts: List[Verdict],
    has_title: bool,
) -> List[str]:
    """
    Return the lines on the image, the judged programs, the site and the host.

    has_title: whether to add the title of the site to the name of the site.
    """
    libraries = [
        '%s in %s' % (library['soname'], os.path.dirname(library['path']))
        for library in facts['mpi']
    ]
    gpu = [
        '%s %s' % (name, facts[name.lower()]) for name in ('ROCm', 'CUDA') if facts[name.lower()]
    ]
    title = ' (%s)' % site['title'] if has_title else ''
    entries = [
        ('MPI', '; '.join([', '.join(libraries) or 'none'] + gpu)),
        ('image', 'predicted from published data; no image file was read' * facts['described']),
        ('program', ', '.join(sorted({verdict.program or '' for verdict in verdicts} - {''}))),
        ('site', site['name'] + title + (' below ' + host.root if host.root else '')),
        ('host', format_host_evidence(host)),
    ]
    return [escape_line(facts['path'])] + [
        line for name, words in entries if words for line in _fold_entry(name, words)
    ]


def _format_finding(text: str, finding: Finding, has_remedy: bool, has_evidence: bool) -> List[str]:
    """
    Return the lines of the report on one finding.

    text: the text of the finding from _group_findings().
    has_remedy, has_evidence: whether to show the remedy, and whether to show the evidence.
    """
    lines = fold_words(escape_line(text), '', '    ')
    for item in finding.evidence if has_evidence else ():
        lines += _fold_entry('evidence', '%s: %s' % item)
    return lines + (_fold_entry('remedy', finding.remedy) if has_remedy and finding.remedy else [])


#: Level in the report -> its colour on a terminal (ECMA-48, select graphic rendition)
_COLORS = {'WORKS SLOWLY': 33, 'WORKS': 32, 'NO USE': 36, 'UNKNOWN': 35, 'FAILS': 31}


def print_colored(text: str, choice: str) -> None:
    """Print a report. `choice`, the value of --color, tells whether to colour the verdicts."""
    is_colored = choice == 'always' or (
        choice == 'auto' and sys.stdout.isatty() and not os.environ.get('NO_COLOR')
    )
    if not is_colored:
        print(text)
        return
    colored = re.sub(
        r'(?m)^(\w+ +)((?:PROBABLY )?(%s))(?= |$)' % '|'.join(_COLORS),
        lambda match: (
            '%s\033[1;%dm%s\033[0m' % (match.group(1), _COLORS[match.group(3)], match.group(2))
        ),
        escape_text(text),
    )
    getattr(sys.stdout, 'write_raw', sys.stdout.write)(colored + '\n')


def _format_advice(
    best: Optional[str],
    facts: Dict[str, Any],
    verdicts: List[Verdict],
    chosen: Tuple[Sequence[str], Sequence[str]],
    site: Dict[str, Any],
) -> List[str]:
    """Return the last lines of the report: the best approach and the command to install it."""
    lines = format_unknown_approaches(verdicts, best, facts['path'], site)
    if best is None:
        return lines + fold_words(
            "No approach is recommended: no approach is known to work at full speed with this image "
            "on this host."
        )
    eb_options, command_options = (
        ''.join(' ' + shell.quote(word) for word in words) for words in chosen
    )
    if (
        not facts['programs'] and not facts['described']
    ):  # this project's easyconfigs install only its benchmarks
        return lines + [
            "Recommended: %s" % best,
            "    osu-container new %s%s" % (shell.quote_path(facts['path']), command_options),
        ]
    name, module = os.path.basename(facts['path']), 'osu-container'
    if facts['described']:
        name = find_catalogue_name(name)
        module = 'osu-mpi4py' if name.startswith('osu-mpi4py-') else module
        lines += [
            "The image does not exist yet. Build the image:",
            "    osu-container image build %s" % name,
        ]
        name += '.sif'
    return lines + [
        "Recommended: %s" % best,
        "    eb %s-%s.eb -r %s%s"
        % (module, best, shell.quote('--try-amend=image=' + name), eb_options),
    ]


def format_unknown_approaches(
    verdicts: List[Verdict], best: Optional[str], path: str, site: Dict[str, Any]
) -> List[str]:
    """
    Return lines with commands that test the approaches with the verdict 'unknown'.

    The list is empty if no verdict is 'unknown', or if the recommended approach `best` works at
    full speed. path: path of the image.
    """
    levels = {verdict.approach: verdict.level for verdict in verdicts}
    unknown = [name for name, level in levels.items() if level == 'unknown']
    if not unknown or levels.get(best or '') == 'works':
        return []
    lines = [
        "    with a module that uses approach %s: %s"
        % (unknown[0], 'osu-container proof -- %s ...' % launching.select_launcher_command(site))
    ]
    if not any(verdict.start for verdict in verdicts):  # Otherwise the start gave no answer.
        names = {(verdict.program or 'COMMAND').partition(' -> ')[0] for verdict in verdicts}
        lines.insert(
            0,
            "    osu-container check %s --start -- %s"
            % (
                shell.quote_path(os.path.basename(path)),
                shell.quote(names.pop()) if len(names) == 1 else 'COMMAND',
            ),
        )
    return (
        fold_words(
            "To get a verdict on %s, add the arguments of the program to this command, and run the "
            "command on the cluster:" % ', '.join(unknown)
        )
        + lines
    )
