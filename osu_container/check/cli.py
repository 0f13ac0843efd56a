"""The command osu-container check: print verdicts as text or as JSON."""

import argparse
import json
import os
import posixpath
from typing import Any, Dict, List, Optional, Sequence, Tuple

from osu_container.base import columns, shell, streams
from osu_container.base.terminal import escape_line
from osu_container.check import examination
from osu_container.check.described import (
    AnyImage,
    describe_catalogue_image,
    find_catalogue_name,
)
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
from osu_container.image.image import Image
from osu_container.image.sif import ImageError
from osu_container.verdict import commands, launching
from osu_container.verdict.rules.finding import NOTE, Finding
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.verdict import (
    Verdict,
    format_verdict,
    judge_approach,
    recommend_approach,
)

#: Exit code by verdict: that of `--approach`, else the best verdict of all approaches
EXIT_CODES = {'works': 0, 'works slowly': 4, 'unknown': 5, 'fails': 6}
CONTAINER_APPROACHES = [name for name in APPROACHES if APPROACHES[name]['container']]


class CheckError(Exception):
    """An image that cannot be checked; the text is for the user."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container check` to the parser."""
    parser.add_argument(
        'image',
        nargs='?',
        metavar='IMAGE',
        help="SIF or folder of an unpacked image; with --site also a name that `osu-container image "
        "list` prints: image and host are then known from published data only",
    )
    add_site_arguments(parser, "site to check for")
    parser.add_argument(
        '--approach', choices=CONTAINER_APPROACHES, help="check this approach only; default: all"
    )
    parser.add_argument(
        '--program',
        metavar='LINE',
        help="path of the program in the image, with arguments if the program needs them to start; "
        "default: an OSU benchmark, else the first program that uses MPI",
    )
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help="on the system itself: also run the image's dynamic loader to list the libraries that "
        "it would load; this runs the image's environment scripts (SECURITY.md)",
    )
    parser.add_argument('--json', action='store_true', help="print machine-readable output")
    parser.add_argument(
        '--published',
        action='store_true',
        help="check no image: compare the predictions for published combinations with their results",
    )
    parser.epilog = "Without --dry-run, nothing in the image runs."
    parser.set_defaults(
        function=main,
        prog='osu-container check',
        parser=parser,
        errors=(CheckError, HostDescriptionError, ImageError, ElfError, SettingsError, OSError),
        after_interrupt='nothing was changed',
    )


def has_several_mpis(mpis: List[Tuple[str, str, str]]) -> bool:
    """
    Return whether libraries of Image.list_mpi_libraries() belong to several MPI builds.

    The libmpi_abi that MPICH 5.0 installs beside its libmpi counts as the same build.
    """
    builds = {
        os.path.dirname(path) for _, soname, path in mpis if not soname.startswith('libmpi_abi')
    }
    return (
        len(
            {
                family
                for family, soname, path in mpis
                if not (soname.startswith('libmpi_abi') and os.path.dirname(path) in builds)
            }
        )
        > 1
    )


def main(options: argparse.Namespace) -> int:
    """
    Print the verdicts and return the exit code.

    Raises CheckError, and what reading the image and the host raises.
    """
    if options.published:
        excluded = [
            name
            for name in 'image approach program dry_run json site sysroot facts site_file'.split()
            if getattr(options, name)
        ]
        if excluded:
            options.parser.error(
                "--published excludes %s. Leave out --published or the other options"
                % ', '.join(excluded)
            )
        with streams.Progress("judging the published combinations") as progress:
            return examination.main(progress)
    if not options.image:
        options.parser.error("no image given: osu-container check IMAGE.sif (or --published)")
    site, root = find_site(options.site, options.sysroot, options.site_file)
    catalogue_image = describe_catalogue_image(
        options.image, site.get('architecture', {}).get('value', 'x86_64')
    )
    if (
        catalogue_image
        and options.site
        and not options.sysroot
        and not os.path.exists(options.image)
    ):
        if options.program:
            raise CheckError(
                "--program: the programs of %s are unknown, because there is no such file. Give the "
                "path of a SIF" % options.image
            )
        host = (
            resolve_host(options, site, '')
            if options.facts
            else DescribedHost(find_host_description(site))
        )
        return print_verdicts(catalogue_image, site, host, options)
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


def print_verdicts(
    image: AnyImage,
    site: Dict[str, Any],
    host: Host,
    options: argparse.Namespace,
    progress: Optional[streams.Progress] = None,
    program_count: int = 0,
) -> int:
    """
    Print the verdicts on an image and a host, and return the exit code.

    progress ends before anything is printed; program_count: OSU benchmarks in the image.
    """
    # An image without an entrypoint is not judged with the approaches that use one.
    names = (
        [options.approach]
        if options.approach
        else [
            name
            for name in CONTAINER_APPROACHES
            if not resolve_approach(name).get('entrypoint') or image.read_entrypoint()
        ]
    )
    runtime = find_site_runtime(site, host)
    if options.dry_run and (host.is_partial or image.is_partial):
        raise CheckError(
            "--dry-run: only the system itself can run the image's dynamic loader. Run there: "
            "osu-container check %s --dry-run" % shell.quote_path(options.image)
        )
    if options.dry_run and not runtime:
        raise CheckError(
            "--dry-run: no container runtime is on PATH (looked for %s)"
            % ', '.join(site['runtime']['value'])
        )
    verdicts = []
    for name in names:
        if progress:
            progress("judging %s with %s" % (name, image.path))
        verdicts.append(
            judge_approach(
                resolve_approach(name), site, image, host, options.program, runtime, options.dry_run
            )
        )
    facts = summarize_image(image, program_count)
    if progress:
        progress.stop()
    if options.json:
        data = build_verdict_data(
            facts, site, host, runtime, verdicts, recommend_approach(verdicts, site)
        )
        print(json.dumps(data, indent=1))
    else:
        eb_options, command_options = format_site_options(options)
        # In an image with several MPIs, the program decides which MPI `new` uses too.
        command_options += ['--command', options.program] if options.program else []
        print(
            format_check_report(
                facts,
                site,
                host,
                verdicts,
                recommend_approach(verdicts, site),
                bool(options.approach),
                (eb_options, command_options),
            )
        )
    return min(EXIT_CODES[verdict.level] for verdict in verdicts)


def summarize_image(image: AnyImage, program_count: int) -> Dict[str, Any]:
    """Return what the report prints first: path, MPI libraries, programs, GPU stack, labels."""
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
    """Return the content of format_check_report(), and the container runtime, for `--json`."""
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


def is_for_other_mpi(verdict: Verdict) -> bool:
    """Return whether the approach of a verdict is for images with another MPI."""
    return [finding.rule for finding in verdict.findings if finding.level == 'fails'][:1] == [
        'other MPI'
    ]


def _format_paragraph(title: str, words: str) -> str:
    return columns.fill_text(words, '    %-10s' % title, ' ' * 14)


def format_check_report(
    facts: Dict[str, Any],
    site: Dict[str, Any],
    host: Host,
    verdicts: List[Verdict],
    best: Optional[str],
    single: bool,
    chosen: Tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> str:
    """
    Return the report as text for people.

    single: the user chose one approach; chosen: options as format_site_options() returns them.
    """
    others = [verdict for verdict in verdicts if not single and is_for_other_mpi(verdict)]
    programs = sorted({verdict.program for verdict in verdicts if verdict.program})
    lines = _format_header(facts, site, host, programs)
    # Every approach has the same finding of this rule, so the report shows it once.
    common = [
        finding
        for finding in (verdicts[0].findings if verdicts else [])
        if finding.rule == 'no program'
    ]
    lines += [line for finding in common for line in _format_finding_lines(finding)]
    lines += [''] * bool(common)
    for verdict in verdicts:
        if verdict not in others:
            lines += _format_verdict_lines(verdict, common, site)
    if others:
        lines.append(
            columns.fill_text(
                "Not for this image, which has another MPI: %s."
                % ', '.join(verdict.approach for verdict in others)
            )
        )
        # Most of them have the same remedy: show each remedy once, with the shortest reason.
        first: Dict[str, Finding] = {}
        for finding in sorted(
            (verdict.findings[0] for verdict in others), key=lambda finding: len(finding.reason)
        ):
            first.setdefault(finding.remedy, finding)
        lines += [line for finding in first.values() for line in _format_finding_lines(finding)]
        lines.append('')
    if not single:
        lines += _format_advice(best, facts, verdicts, chosen, site)
    return '\n'.join(lines).rstrip()


def _format_header(
    facts: Dict[str, Any], site: Dict[str, Any], host: Host, programs: List[str]
) -> List[str]:
    """Return the lines on the image, the judged programs, the site and the host."""
    libraries = ', '.join(
        '%s in %s' % (library['soname'], os.path.dirname(library['path']))
        for library in facts['mpi']
    )
    gpu = ''.join(
        '; %s %s' % (name, facts[key])
        for name, key in (('ROCm', 'rocm'), ('CUDA', 'cuda'))
        if facts[key]
    )
    lines = [facts['path'], "    MPI: %s%s" % (libraries or 'none', gpu)]
    if facts['described']:
        lines.append("    image known from its name only: no file of it was read")
    lines += ["    program: " + ', '.join(programs)] if programs else []
    lines.append(
        "    on site %s (%s)%s"
        % (site['name'], site['title'], ' below ' + host.root if host.root else '')
    )
    lines += ["    host: " + format_host_evidence(host)] if host.is_partial else []
    return (
        [escape_line(lines[0])]
        + [columns.fill_text(escape_line(line).strip(), ' ' * 4, ' ' * 8) for line in lines[1:]]
        + ['']
    )


def _format_verdict_lines(
    verdict: Verdict, common: List[Finding], site: Dict[str, Any]
) -> List[str]:
    """Return the lines on a verdict: its level, what would run, each finding not in common."""
    lines = [
        columns.fill_text(
            format_verdict(verdict).replace(verdict.level, verdict.level.upper(), 1),
            '%-12s' % verdict.approach,
            ' ' * 14,
        )
    ]
    if verdict.mpi != 'none':
        lines.append(
            _format_paragraph(
                'would run',
                '%s over %s, %s'
                % (verdict.mpi, verdict.libfabric, launching.format_site_pmi(site, verdict.pmi)),
            )
        )
    findings = [finding for finding in verdict.findings if finding not in common]
    return lines + [line for finding in findings for line in _format_finding_lines(finding)] + ['']


def _format_finding_lines(finding: Finding) -> List[str]:
    lines = [_format_paragraph('note' if finding.level == NOTE else 'because', finding.reason)]
    if finding.level != NOTE:
        lines += [_format_paragraph('evidence', '%s: %s' % item) for item in finding.evidence]
    return lines + ([_format_paragraph('do', finding.remedy)] if finding.remedy else [])


def _format_advice(
    best: Optional[str],
    facts: Dict[str, Any],
    verdicts: List[Verdict],
    chosen: Tuple[Sequence[str], Sequence[str]],
    site: Dict[str, Any],
) -> List[str]:
    """Return the last lines: what to install, for the site that the user chose."""
    lines = format_unknown_approaches(verdicts, best, facts['path'], site)
    if best is None and any(verdict.standalone_level for verdict in verdicts):
        return lines + [
            "Which approach works depends on the program: osu-container check %s%s --program PATH"
            % (
                shell.quote_path(facts['path']),
                ''.join(' ' + shell.quote(word) for word in chosen[1]),
            )
        ]
    if best is None:
        return lines + [
            "No approach is recommended, because none is known to work with this image on this host."
        ]
    eb_options, command_options = (
        ''.join(' ' + shell.quote(word) for word in words) for words in chosen
    )
    if (
        not facts['programs'] and not facts['described']
    ):  # this project's easyconfigs install only its benchmarks
        return lines + [
            "Recommended: %s\n    osu-container new %s%s"
            % (best, shell.quote_path(facts['path']), command_options)
        ]
    name, module = os.path.basename(facts['path']), 'osu-container'
    if facts['described']:
        name = find_catalogue_name(name)
        module = 'osu-mpi4py' if name.startswith('osu-mpi4py-') else module
        lines += [
            "The image does not exist yet. Build it:\n    osu-container image build %s" % name
        ]
        name += '.sif'
    return lines + [
        "Recommended: %s\n    eb %s-%s.eb -r %s%s"
        % (best, module, best, shell.quote('--try-amend=image=' + name), eb_options)
    ]


def format_unknown_approaches(
    verdicts: List[Verdict], best: Optional[str], path: str, site: Dict[str, Any]
) -> List[str]:
    """
    Return lines on the approaches with the verdict unknown and how to decide them.

    There are none if the recommended approach `best` works at full speed. path: of the image.
    """
    unknown = [verdict for verdict in verdicts if verdict.level == 'unknown']
    if not unknown or any(
        verdict.approach == best and verdict.level == 'works' for verdict in verdicts
    ):
        return []
    best_level = next((verdict.level for verdict in verdicts if verdict.approach == best), None)
    slow = (
        best_level == 'works slowly'
        and ', and faster than %s if %s' % (best, 'it runs' if len(unknown) == 1 else 'they run')
        or ''
    )
    missing = next(finding.reason for finding in unknown[0].findings if finding.level == 'unknown')
    lines = [
        columns.fill_text(
            "Unknown%s: %s. Reason: %s."
            % (slow, ', '.join(verdict.approach for verdict in unknown), missing)
        )
    ]
    return lines + [
        "To decide this, run on the system:\n    osu-container check %s --dry-run\n    or, after "
        "installation with --approach %s, osu-container proof -- %s ..."
        % (
            shell.quote_path(os.path.basename(path)),
            best if best_level == 'unknown' else unknown[0].approach,
            launching.select_launcher_command(site),
        )
    ]
