"""The command osu-container check: verdicts as text for people and as data for programs."""

import json
import os
import posixpath

from osu_container.base import columns, shell, streams
from osu_container.base.terminal import escape_line
from osu_container.check import examination
from osu_container.check.described import describe_catalogue_image, find_catalogue_name
from osu_container.check.public_hosts import find_host_description
from osu_container.check.site import (
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
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.verdict import format_verdict, judge_approach, recommend_approach

#: Exit code by the verdict: of the approach asked for, else of the best one
EXIT_CODES = {'works': 0, 'works slowly': 4, 'unknown': 5, 'fails': 6}
CONTAINER_APPROACHES = [name for name in APPROACHES if APPROACHES[name]['container']]


class CheckError(Exception):
    """What cannot be checked, for a person."""


def add_arguments(parser):
    """Add the arguments of `osu-container check`."""
    parser.add_argument(
        'image',
        nargs='?',
        metavar='IMAGE',
        help="SIF, or folder of an unpacked image; with --site "
        "also the name of one of this project's that is not here (osu-container image list): then "
        "image and host are described, not looked into",
    )
    add_site_arguments(parser, "site to check for")
    parser.add_argument(
        '--approach', choices=CONTAINER_APPROACHES, help="this approach only; default: all"
    )
    parser.add_argument(
        '--program',
        metavar='LINE',
        help="what is to run: the path of a program in the image, and "
        "arguments where they count; default: a benchmark, else the first program that uses MPI",
    )
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help="on the machine itself: also let the image's own loader "
        "list what it would load, a second opinion; its environment scripts run then (SECURITY.md)",
    )
    parser.add_argument('--json', action='store_true', help="the same for programs")
    parser.add_argument(
        '--published',
        action='store_true',
        help="instead of an image: the published combinations, predicted and seen",
    )
    parser.epilog = "Nothing in the image is run without --dry-run."
    parser.set_defaults(
        function=main,
        prog='osu-container check',
        parser=parser,
        errors=(CheckError, HostDescriptionError, ImageError, ElfError, SettingsError, OSError),
        after_interrupt='nothing was changed',
    )


def has_several_mpis(mpis):
    """
    Return whether mpis (as Image.mpis() has them) are of more than one build: MPICH 5.0 has
    libmpi_abi beside.
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


def main(options):
    """
    Print the verdicts; return the exit code. Raises CheckError and what reading image and host
    raises.
    """
    if options.published:
        useless = [
            name
            for name in (
                'image',
                'approach',
                'program',
                'dry_run',
                'json',
                'site',
                'sysroot',
                'facts',
                'site_file',
            )
            if getattr(options, name)
        ]
        if useless:
            options.parser.error(
                "--published has its own images and hosts: leave %s out, or --published"
                % ', '.join(useless)
            )
        with streams.Progress("judging the published combinations") as progress:
            return examination.main(progress)
    if not options.image:
        options.parser.error("no image named: osu-container check IMAGE.sif (or --published)")
    site, root = find_site(options.site, options.sysroot, options.site_file)
    ours = describe_catalogue_image(
        options.image, site.get('architecture', {}).get('value', 'x86_64')
    )
    if ours and options.site and not options.sysroot and not os.path.exists(options.image):
        if options.program:
            raise CheckError(
                "--program: %s is not here, so nothing is known of its programs. Name a SIF"
                % options.image
            )
        host = (
            resolve_host(options, site, '')
            if options.facts
            else DescribedHost(find_host_description(site))
        )
        return print_verdicts(ours, site, host, options)
    host = resolve_host(options, site, root)
    with streams.Progress("reading %s" % options.image) as progress, Image(
        options.image, 'osu_'
    ) as image:
        own = len(image.programs)
        if not own and not options.program:
            progress("looking for programs in %s" % options.image)
            image.programs = dict(
                (one.name, posixpath.dirname(one.path)) for one in commands.find_commands(image)
            )
        return print_verdicts(image, site, host, options, progress, own)


def print_verdicts(image, site, host, options, progress=None, own=0):
    """
    Print the verdicts on an image and a host, opened or described; return the exit code.

    progress: streams.Progress, which ends before something is printed, or None; own: int, its
    programs of ours
    """
    # of an image that has no entrypoint nobody asks what it would do
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
            "--dry-run: the image's own loader answers on the system that is meant alone. There: "
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
    facts = summarize_image(image, own)
    if progress:
        progress.stop()
    if options.json:
        data = build_verdict_data(
            facts, site, host, runtime, verdicts, recommend_approach(verdicts, site)
        )
        print(json.dumps(data, indent=1))
    else:
        for_eb, for_us = format_site_options(options)
        # of an image with several MPIs the program says which counts, to new as well
        for_us += ['--command', options.program] if options.program else []
        print(
            format_check_report(
                facts,
                site,
                host,
                verdicts,
                recommend_approach(verdicts, site),
                bool(options.approach),
                (for_eb, for_us),
            )
        )
    return min(EXIT_CODES[one.level] for one in verdicts)


def summarize_image(image, own):
    """
    Return what is said of the open Image first (dict): path, labels that tell, programs, MPI
    libraries.

    own: int, as of print_verdicts()
    """
    return {
        'path': image.path,
        'described': image.is_partial,
        'mpi': [
            {'family': family, 'soname': soname, 'path': path}
            for family, soname, path in image.list_mpi_libraries()
        ],
        'programs': own,
        'rocm': image.find_rocm_release(),
        'cuda': image.find_cuda_release(),
        'labels': dict(
            item for item in sorted(image.labels.items()) if item[0].startswith('org.osu-container')
        ),
    }


def build_verdict_data(facts, site, host, runtime, verdicts, best):
    """
    Return all that format_check_report() says, and the container runtime (dict or None), as
    plain data (dict).
    """
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
                'approach': one.approach,
                'verdict': one.level,
                'untested': one.untested_facts,
                'mpi': one.mpi,
                'libfabric': one.libfabric,
                'mpi_type': one.pmi,
                'mpi_by_itself': one.standalone_level,
                'program': one.program,
                'findings': [
                    {
                        'rule': finding.rule,
                        'verdict': finding.level,
                        'reason': finding.reason,
                        'evidence': [
                            {'file': name, 'found': found} for name, found in finding.evidence
                        ],
                        'remedy': finding.remedy,
                        'source': finding.source,
                    }
                    for finding in one.findings
                ],
            }
            for one in verdicts
        ],
    }


def is_for_other_mpi(verdict):
    """Return whether the approach of a Verdict is for images with another MPI."""
    return [finding.rule for finding in verdict.findings if finding.level == 'fails'][:1] == [
        'other MPI'
    ]


def _format_paragraph(title, words):
    """Return lines of a paragraph with a title in front."""
    return columns.fill_text(words, '    %-10s' % title, ' ' * 14)


def format_check_report(facts, site, host, verdicts, best, single, chosen=((), ())):
    """
    Return the text for people; single: bool, one approach was asked for; chosen: as of
    site.chosen_site().
    """
    others = [one for one in verdicts if not single and is_for_other_mpi(one)]
    programs = sorted(set(one.program for one in verdicts if one.program))
    lines = _format_header(facts, site, host, programs)
    # what is the same for every approach: once is enough
    common = [one for one in verdicts[0].findings if one.rule == 'no program'] if verdicts else []
    lines += [line for one in common for line in _format_finding_lines(one)] + [''] * bool(common)
    for one in verdicts:
        if one not in others:
            lines += _format_verdict_lines(one, common, site)
    if others:
        lines.append(
            columns.fill_text(
                "Not for this image, whose MPI is another one: %s."
                % ', '.join(one.approach for one in others)
            )
        )
        # what to do is the same for most of them: once is enough, with the shortest reason
        first = {}
        for one in sorted((one.findings[0] for one in others), key=lambda one: len(one.reason)):
            first.setdefault(one.remedy, one)
        lines += [line for one in first.values() for line in _format_finding_lines(one)] + ['']
    if not single:
        lines += _format_advice(best, facts, verdicts, chosen, site)
    return '\n'.join(lines).rstrip()


def _format_header(facts, site, host, programs):
    """
    Return the lines (list of str) on the image, the programs (list of str) that were judged, and
    the site.
    """
    libraries = ', '.join(
        '%s in %s' % (one['soname'], os.path.dirname(one['path'])) for one in facts['mpi']
    )
    gpu = ''.join(
        '; %s %s' % (name, facts[key])
        for name, key in (('ROCm', 'rocm'), ('CUDA', 'cuda'))
        if facts[key]
    )
    lines = [facts['path'], "    MPI: %s%s" % (libraries or 'none', gpu)]
    if facts['described']:
        lines.append("    described by its name: nothing of it was looked into")
    lines += ["    judged: " + ', '.join(programs)] if programs else []
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


def _format_verdict_lines(verdict, common, site):
    """
    Return the lines (list of str) on one Verdict: its word, what would run, each finding not in
    common (list).

    site: dict
    """
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


def _format_finding_lines(finding):
    """Return the lines (list of str) on one Finding."""
    lines = [_format_paragraph('note' if finding.level == NOTE else 'because', finding.reason)]
    if finding.level != NOTE:
        lines += [_format_paragraph('evidence', '%s: %s' % item) for item in finding.evidence]
    return lines + ([_format_paragraph('do', finding.remedy)] if finding.remedy else [])


def _format_advice(best, facts, verdicts, chosen, site):
    """
    Return the last lines (list of str): what to install, for the site that was chosen (see
    format_check_report()).
    """
    lines = format_unknown_approaches(verdicts, best, facts['path'], site)
    if best is None and any(one.standalone_level for one in verdicts):
        return lines + [
            "Which approach works is known when the program is: osu-container check %s%s --program PATH"
            % (
                shell.quote_path(facts['path']),
                ''.join(' ' + shell.quote(word) for word in chosen[1]),
            )
        ]
    if best is None:
        return lines + ["No approach is recommended: none is known to work with this image here."]
    for_eb, for_us = (''.join(' ' + shell.quote(word) for word in words) for words in chosen)
    if not facts['programs'] and not facts['described']:  # it is not for our easyconfigs
        return lines + [
            "Recommended: %s\n    osu-container new %s%s"
            % (best, shell.quote_path(facts['path']), for_us)
        ]
    name, module = os.path.basename(facts['path']), 'osu-container'
    if facts['described']:  # one of the catalogue
        name = find_catalogue_name(name)
        module = 'osu-mpi4py' if name.startswith('osu-mpi4py-') else module
        lines += ["The image is not here. Build it:\n    osu-container image build %s" % name]
        name += '.sif'
    return lines + [
        "Recommended: %s\n    eb %s-%s.eb -r %s%s"
        % (best, module, best, shell.quote('--try-amend=image=' + name), for_eb)
    ]


def format_unknown_approaches(verdicts, best, path, site):
    """
    Return lines (list of str) on approaches that are unknown, where best (str or None) is not one
    that works at speed: what is missing, and what decides it on the system. path: str, of the
    image; site: dict.
    """
    unknown = [one for one in verdicts if one.level == 'unknown']
    if not unknown or any(one.approach == best and one.level == 'works' for one in verdicts):
        return []
    taken = next((one.level for one in verdicts if one.approach == best), None)
    slow = (
        taken == 'works slowly'
        and ', and faster than %s if %s' % (best, 'it runs' if len(unknown) == 1 else 'they run')
        or ''
    )
    missing = next(found.reason for found in unknown[0].findings if found.level == 'unknown')
    lines = [
        columns.fill_text(
            "Unknown%s: %s. Missing: %s."
            % (slow, ', '.join(one.approach for one in unknown), missing)
        )
    ]
    return lines + [
        "To decide it, on the system:\n    osu-container check %s --dry-run\n    or osu-container proof -- "
        "%s ..., once it is installed with --approach %s"
        % (
            shell.quote_path(os.path.basename(path)),
            launching.select_launcher_command(site),
            best if taken == 'unknown' else unknown[0].approach,
        )
    ]
