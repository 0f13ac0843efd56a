"""The command osu-container new."""

import os
import posixpath

from osu_container.base import columns, outputs, shell, streams
from osu_container.base.terminal import escape_line
from osu_container.base.trust import find_name_problem
from osu_container.check.cli import (
    CONTAINER_APPROACHES,
    format_unknown_approaches,
    is_for_other_mpi,
)
from osu_container.check.cli import has_several_mpis as several_builds
from osu_container.check.new import easyconfig
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
from osu_container.discover.host_facts import HostDescriptionError
from osu_container.image.elf import ElfError
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install import site_image
from osu_container.verdict import commands, launching
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import format_placement_note, resolve_approach
from osu_container.verdict.verdict import format_verdict, judge_approach, recommend_approach


class NewError(Exception):
    """Why no easyconfig was written, for a person."""


def add_arguments(parser):
    """Add the arguments of `osu-container new`."""
    parser.add_argument('image', metavar='IMAGE', help="SIF with programs that use MPI")
    parser.add_argument('--name', metavar='N', help="name of the module; default: that of the file")
    parser.add_argument(
        '--approach',
        choices=CONTAINER_APPROACHES,
        help="default: what `osu-container check` recommends",
    )
    parser.add_argument(
        '--command',
        action='append',
        default=[],
        metavar='C',
        help="program of the image that becomes a command: a name, or its whole path in the image; may "
        "be repeated; default: those found on the image's PATH and in its folders libexec",
    )
    parser.add_argument(
        '--example',
        metavar='LINE',
        help="command line that `module help` shows behind the launcher, "
        "e.g. 'lmp -in in.lj'; default: the first command",
    )
    add_site_arguments(parser, "site that the module is for")
    parser.add_argument(
        '-o',
        '--output',
        metavar='DIR',
        help="folder of the easyconfig; default: that of the image, "
        "the current one for an image that the site keeps for all",
    )
    parser.add_argument(
        '--dry-run', '-n', action='store_true', help="print the easyconfig and write nothing"
    )
    parser.add_argument(
        '--force',
        action='store_true',
        help="write over an easyconfig that is there, and write one for an approach that fails",
    )
    parser.epilog = "Writes N-<approach>.eb. Nothing in the image is run."
    parser.set_defaults(
        function=main,
        prog='osu-container new',
        errors=(NewError, HostDescriptionError, ImageError, ElfError, SettingsError, OSError),
        after_interrupt='nothing was written',
    )


def _resolve_module_name(options):
    """Return the name (str) of the module that options ask for. Raises NewError."""
    name = easyconfig.derive_module_name(options.image) if options.name is None else options.name
    if not name:
        raise NewError(
            "no name for a module can be made of the file name %s: give one by --name"
            % os.path.basename(options.image)
        )
    problem = easyconfig.find_module_name_problem(name)
    if problem:
        raise NewError("%s. Give another by --name" % problem)
    return name


def _find_commands(image, wanted, root):
    """
    Return (Commands (list) of the open image, names (list of str) of a host's commands among them).

    wanted: list of str, those to take, if there are any; else such names are left out. root: see
    commands.of_host(). Raises NewError.
    """
    found = commands.resolve_commands(image, wanted) if wanted else commands.find_commands(image)
    others = commands.select_host_commands([one.name for one in found], root)
    if not wanted:
        found = [one for one in found if one.name not in others]
    if not image.list_mpi_libraries():
        inside = [one.name for one in found if one.is_static]
        if inside:
            raise NewError(
                "%s holds no MPI library that could be used or replaced: %s is linked statically, with its "
                "MPI inside. It runs over what it was built with, and no approach changes that: srun "
                "apptainer exec IMAGE %s. Link it with shared libraries to use this project"
                % (image.path, ', '.join(inside), inside[0])
            )
        raise NewError(
            "%s holds no MPI library: looked for %s. Only programs that use one of these can be helped"
            % (image.path, ', '.join(sorted(MPI_FAMILIES)))
        )
    if not found and others:
        raise NewError(
            "all programs of %s that use MPI have names of commands of the host: %s. Commands of the module "
            "would take their place. In the image: links of other names; or name one all the same by "
            "--command" % (image.path, ', '.join(others))
        )
    if not found:
        raise NewError(
            "%s holds no program on its PATH (%s) or in a folder libexec that uses MPI. Name those that "
            "shall be commands by --command, whole paths in the image where they lie elsewhere"
            % (image.path, ':'.join(image.list_path_folders()))
        )
    several = commands.group_commands_by_mpi(found)
    if len(several) > 1:
        raise NewError(
            "the programs of %s use several MPIs: %s. A module is for one of them: name the programs of one "
            "by --command"
            % (
                image.path,
                '; '.join(
                    '%s: %s' % (soname, ', '.join(names))
                    for soname, names in sorted(several.items())
                ),
            )
        )
    if not several and several_builds(image.list_mpi_libraries()):
        raise NewError(
            "%s holds several MPIs (%s), and none of its commands (%s) shows which one it opens. Use an "
            "image with one, or name a program that is linked with it by --command"
            % (
                image.path,
                ', '.join('%s (%s)' % item[1:] for item in image.list_mpi_libraries()),
                ', '.join(one.name for one in found),
            )
        )
    return found, others


def _list_reasons(verdict):
    """Return what speaks against an approach (list of str), the worst first."""
    return [finding.reason for finding in verdict.findings if finding.level != NOTE]


def _select_verdict(options, verdicts, site):
    """
    Return the Verdict of the approach to take. Raises NewError if there is none, or the one
    named fails.
    """
    name = options.approach or recommend_approach(verdicts, site)
    if name is None:
        # of an unknown one it is said what decides it; what mends another approach would lead away
        # from that
        advice = next(
            (
                finding.remedy
                for one in verdicts
                for finding in one.findings
                if finding.level == 'fails'
                and finding.remedy
                and finding.rule != 'site'
                and all(other.level == 'fails' for other in verdicts)
            ),
            '',
        )
        raise NewError(
            "no approach is known to work with this image on site %s%s. All of it: osu-container check %s. "
            "One that is unknown, or fails (--force), can be named by --approach"
            % (
                site['name'],
                advice and ': ' + advice,
                ' '.join(
                    [shell.quote_path(options.image)]
                    + list(map(shell.quote, format_site_options(options)[1]))
                ),
            )
        )
    verdict = next(one for one in verdicts if one.approach == name)
    if verdict.level == 'fails' and not options.force:
        best = recommend_approach(verdicts, site)
        raise NewError(
            "approach %s cannot run here: %s. %s, or --force"
            % (
                name,
                '; '.join(_list_reasons(verdict)),
                'Take %s' % best if best else 'Take another image',
            )
        )
    return verdict


def _format_overview(image, found, site, host, verdicts, chosen):
    """Return what is shown of the image and the approaches (str)."""
    of_site = site_image.resolve_site_image(
        image.path, site_image.list_image_folders(site, host.root, os.environ)
    )
    kept = '    kept by the site for all: the module links to it, and copies nothing'
    lines = [escape_line(image.path)] + ([kept] if of_site else [])
    soname = next((one.soname for one in found if one.soname), None)
    paths = [path for _, name, path in image.list_mpi_libraries() if soname in (None, name)]
    lines.append(escape_line('    MPI       %s' % ', '.join(paths)))
    width = max(len(one.name) for one in found)
    for number, one in enumerate(found):
        lines.append(
            escape_line(
                '    %-10s%-*s  %s'
                % ('commands' if number == 0 else '', width, one.name, one.mpi_usage)
            )
        )
    lines.append('    site      %s%s' % (site['name'], ' below ' + host.root if host.root else ''))
    lines += (['    host      ' + format_host_evidence(host)] if host.is_partial else []) + ['']
    others = [one for one in verdicts if one is not chosen and is_for_other_mpi(one)]
    for one in verdicts:
        if one in others:
            continue
        words = (
            '; '.join(_list_reasons(one))
            if one.level != 'works'
            else '%s over %s, %s'
            % (one.mpi, one.libfabric, launching.format_site_pmi(site, one.pmi))
        )
        words += format_verdict(one)[len(one.level) :].replace(', ', '; ', 1)
        lines.append(_format_row('->' if one is chosen else '  ', one.approach, one.level, words))
    if others:
        families = sorted(
            set(family for family, name, _ in image.list_mpi_libraries() if soname in (None, name))
        )
        lines.append(
            _format_row(
                '  ',
                'other MPI',
                'fails',
                "%s: for an MPI of another family than the image's, %s"
                % (', '.join(one.approach for one in others), ' and '.join(families)),
            )
        )
    return '\n'.join(lines)


def _format_host_warning(names, taken):
    """
    Return a warning (str) on programs of the image (names: list of str) that are called as
    commands of the host.
    """
    words = (
        "the module's %s will come before the host's, in scripts and for what Slurm or the runtime starts too"
        if taken
        else "left out, as a command of the host has the same name: %s. To take it all the same: --command"
    )
    return '\n' + columns.fill_text(
        'warning: ' + words % ', '.join(names), subsequent_indent='    '
    )


def _format_row(mark, name, word, words):
    """Return a row (str) of the table of approaches, what is said of it (words) folded."""
    return columns.fill_text(words, '%s %-12s%-14s' % (mark, name, word), ' ' * 28)


def _resolve_easyconfig_path(options, name, approach, of_site):
    """
    Return the path (str) of the easyconfig; of_site: bool, the image is in a folder of the site,
    where users cannot write. Raises NewError if its folder is not there.
    """
    folder = options.output or not of_site and os.path.dirname(options.image) or '.'
    if not os.path.isdir(folder):
        raise NewError(
            "there is no folder %s to write into: make it, or name another by -o" % folder
        )
    return os.path.normpath(os.path.join(folder, '%s-%s.eb' % (name, approach)))


def _list_eb_options(options, path, verdict, of_site):
    """
    Return what eb needs beside the easyconfig path (list of str): where the image is, unless the
    easyconfig says it (of_site: bool), the site, --force.
    """
    found = []
    folder = os.path.dirname(os.path.abspath(options.image))
    if not of_site and folder != os.path.dirname(os.path.abspath(path)):
        found.append('--sourcepath=' + folder)
    return (
        found + format_site_options(options)[0] + (['--force'] if verdict.level == 'fails' else [])
    )


def _require_usable_image(options):
    """Raise NewError for an image with which nothing can be done."""
    problem = find_name_problem(os.path.basename(options.image))
    if problem:
        raise NewError(problem)
    if os.path.isdir(options.image):
        raise NewError(
            "%s is a folder, and a module holds one file: pack it first by apptainer build NAME.sif %s"
            % (options.image, shell.quote_path(options.image))
        )


def _resolve_example(options, found, name):
    """
    Return the command line (str) that the help of the module name shows. Raises NewError if it
    begins with none of its commands (found: list of Command).
    """
    words = [word for word in (options.example or found[0].name).split() if word != 'osu-gpu-bind']
    known = [one.name for one in found] + [name + '-exec']
    if words[:1] and words[0] not in known:
        raise NewError(
            "--example %s: %s is no command of this module, which has %s. Begin with one of these, or let "
            "it be one: --command %s"
            % (shell.quote(options.example), words[0], ', '.join(known), words[0])
        )
    return options.example or found[0].name


def _compute_sha256(path):
    """Return the sha256 (str) of the image path (str), which takes a while where it is large."""
    with streams.Progress("reading %s for its sha256" % path):
        return compute_sha256(path)


def _inspect_image(options, site, host):
    """
    Print what the image is and which approaches work with it; return (found, verdicts, labels).

    found: list of Command; verdicts: list of Verdict, of every approach with a container; labels:
    dict of the image.
    """
    with streams.Progress("looking for programs in %s" % options.image) as progress, Image(
        options.image, ''
    ) as image:
        found, others = _find_commands(
            image, options.command, None if host.is_partial else host.root
        )
        image.programs = dict(
            (one.name, posixpath.dirname(one.path)) for one in found
        )  # as eb has them
        runtime = find_site_runtime(site, host)
        verdicts = []
        for one in CONTAINER_APPROACHES:
            progress("judging %s with %s" % (one, options.image))
            verdicts.append(
                judge_approach(
                    resolve_approach(one), site, image, host, runtime=runtime, dry_run=bool(runtime)
                )
            )
        wanted = options.approach or recommend_approach(verdicts, site)
        chosen = next((one for one in verdicts if one.approach == wanted), None)
        page = _format_overview(image, found, site, host, verdicts, chosen)
        progress.stop()
        print(
            '\n'.join(
                [page, '']
                + format_unknown_approaches(verdicts, chosen and chosen.approach, image.path, site)
            ).rstrip()
        )
        if others:
            print(_format_host_warning(others, bool(options.command)))
        return found, verdicts, image.labels


def _write_easyconfig(options, path, text):
    """
    Write the easyconfig text to path and print so; with --dry-run only show it. Raises OSError.
    """
    if options.dry_run:
        print('\nwould be written: %s\n\n%s' % (path, text.rstrip()))
    elif outputs.write_file(path, text, options.force):
        print('\nwritten: %s' % path)
    else:
        print('\nis there already, as it would be written: %s' % path)


def main(options):
    """
    Write the easyconfig and print what follows; return 0. Raises NewError and what reading image
    and host raises.
    """
    _require_usable_image(options)
    site, root = find_site(options.site, options.sysroot, options.site_file)
    of_site = site_image.resolve_site_image(
        options.image, site_image.list_image_folders(site, root, os.environ)
    )
    options.image = of_site or options.image
    name = _resolve_module_name(options)
    found, verdicts, labels = _inspect_image(options, site, resolve_host(options, site, root))
    verdict = _select_verdict(options, verdicts, site)
    path = _resolve_easyconfig_path(options, name, verdict.approach, bool(of_site))
    example = _resolve_example(options, found, name)
    values = easyconfig.build_parameters(
        name,
        verdict.approach,
        of_site or os.path.basename(options.image),
        _compute_sha256(options.image),
        options.command or commands.list_command_names(found),
        example,
        APPROACHES[verdict.approach]['title'],
        labels,
    )
    _write_easyconfig(options, path, easyconfig.render_easyconfig(values))
    other = next(
        (
            one.approach
            for one in verdicts
            if one.approach == 'pure'
            and one is not verdict
            and one.level in ('works', 'works slowly')
        ),
        None,
    )
    print('\nNext:')
    start = launching.format_launch_example(launching.select_launcher(site), verdict.pmi, example)
    for line in easyconfig.list_next_commands(
        path,
        name,
        verdict.approach,
        example,
        start,
        _list_eb_options(options, path, verdict, bool(of_site)),
        other,
    ):
        print('    ' + line)
    unplaced = format_placement_note(site)
    if unplaced:
        print(columns.fill_text('Placement: %s.' % unplaced))
    if other:
        print(
            '%s/%s, to compare with, is made by: %s'
            % (
                name,
                other,
                shell.join_words(
                    ['osu-container', 'new', options.image, '--approach', other]
                    + format_site_options(options)[1]
                ),
            )
        )
    return 0
