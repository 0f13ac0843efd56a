"""Define the command `osu-container new`, which writes an easyconfig for a user's image."""

import argparse
import os
import posixpath
import re
from typing import Any, Dict, List, Optional, Tuple

from osu_container.base import columns, outputs, shell, streams
from osu_container.base.terminal import escape_line
from osu_container.base.trust import find_name_problem
from osu_container.check import start
from osu_container.check.cli import (
    CONTAINER_APPROACHES,
    format_check_report,
    format_unknown_approaches,
    summarize_image,
)
from osu_container.check.new import easyconfig
from osu_container.check.site import (
    Host,
    SettingsError,
    add_site_arguments,
    find_site,
    find_site_runtime,
    format_site_options,
    resolve_host,
)
from osu_container.discover.host_facts import HostDescriptionError
from osu_container.image.elf import ElfError
from osu_container.image.environment import split_command
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install import site_image
from osu_container.verdict import commands, launching
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.verdict import (
    Verdict,
    judge_approach,
    judge_approaches,
    recommend_approach,
)


class NewError(Exception):
    """No easyconfig can be written; the text of the error tells the user why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container new` to the parser."""
    parser.add_argument(
        'image', metavar='IMAGE', help="SIF file that contains programs that use MPI"
    )
    parser.add_argument(
        '--name',
        metavar='N',
        help="name of the module; default: the file name of the image without its release",
    )
    parser.add_argument(
        '--approach',
        choices=CONTAINER_APPROACHES,
        help="approach that the module will use; default: the approach that `osu-container check` "
        "recommends",
    )
    parser.add_argument(
        '--command',
        action='append',
        default=[],
        metavar='C',
        help="program in the image that the module will provide as a command: a name, or an "
        "absolute path in the image; may be repeated; default: all programs that use MPI and "
        "are in a folder of the image's PATH or in a folder named libexec",
    )
    parser.add_argument(
        '--example',
        metavar='LINE',
        help="program call that `module help` shows as an example, e.g. 'lmp -in in.lj' (default: "
        "the first command of the module; for Python, a test program of mpi4py)",
    )
    add_site_arguments(parser, "site for which to write the module")
    parser.add_argument(
        '-o',
        '--output',
        metavar='DIR',
        help="folder for the easyconfig; default: the folder of the image, or the current folder "
        "if the site provides the image",
    )
    start.add_no_start_argument(parser)
    parser.add_argument(
        '--dry-run', '-n', action='store_true', help="print the easyconfig, but write no file"
    )
    parser.add_argument(
        '--force',
        action='store_true',
        help="replace an existing easyconfig, and write an easyconfig even if the approach is "
        "predicted to fail",
    )
    parser.epilog = (
        "The command writes the easyconfig N-<approach>.eb. On the system of the site, if a container "
        "runtime is on PATH, the command also starts the example once for each approach, until the "
        "example has loaded MPI (see SECURITY.md)."
    )
    parser.set_defaults(
        function=main,
        prog='osu-container new',
        errors=(NewError, HostDescriptionError, ImageError, ElfError, SettingsError, OSError),
        after_interrupt='nothing was written',
    )


def _resolve_module_name(options: argparse.Namespace) -> str:
    name: str = options.name or easyconfig.derive_module_name(options.image)
    if not name:
        raise NewError(
            "cannot derive a module name from the file name %s. Give a name with --name NAME"
            % os.path.basename(options.image)
        )
    problem = easyconfig.find_module_name_problem(name)
    if problem:
        raise NewError("%s. Give another name with --name NAME" % problem)
    return name


def _find_commands(
    image: Image, requested: List[str], root: Optional[str]
) -> Tuple[List[commands.Command], List[str]]:
    """
    Return a list with the commands of the module, and a list with names of host commands.

    The first list contains programs of the image. The second list contains the names of programs
    that exist both in the image and as host commands.

    requested: names or paths of programs that the user chose. If the list is empty, programs with
    the name of a host command are left out.
    root: see select_host_commands().

    Raises NewError if no module can provide the commands.
    """
    image_commands = (
        commands.resolve_commands(image, requested) if requested else commands.find_commands(image)
    )
    others = commands.select_host_commands([command.name for command in image_commands], root)
    if not requested:
        image_commands = [command for command in image_commands if command.name not in others]
    if not image.list_mpi_libraries():
        raise NewError(
            "%s has no MPI library (searched for %s). Use an image whose programs are linked with "
            "one of these libraries. To run a program that is linked statically with MPI, use no "
            "module: srun apptainer exec IMAGE PROGRAM"
            % (image.path, ', '.join(sorted(MPI_FAMILIES)))
        )
    if not image_commands and others:
        raise NewError(
            "all MPI programs of %s have the same names as host commands, and the module would "
            "hide these host commands: %s. Create links with other names to the programs in the "
            "image, or choose a program with --command NAME" % (image.path, ', '.join(others))
        )
    if not image_commands:
        raise NewError(
            "%s has no MPI program in the folders of its PATH (%s) or in a folder named libexec. "
            "Give the path of a program in another folder: --command /PATH/IN/IMAGE"
            % (image.path, ':'.join(image.list_path_folders()))
        )
    # MPICH 5.0 installs the libraries libmpi_abi and libmpi together.
    users = commands.group_commands_by_mpi(image_commands) or {
        family: [path]
        for family, soname, path in image.list_mpi_libraries()
        if not soname.startswith('libmpi_abi')
    }
    if len(users) > 1:
        raise NewError(
            "%s has several MPIs, but a module can provide only one MPI: %s. Choose programs that are "
            "linked with the same MPI: --command NAME"
            % (
                image.path,
                '; '.join('%s: %s' % (mpi, ', '.join(names)) for mpi, names in users.items()),
            )
        )
    return image_commands, others


def _select_verdict(
    options: argparse.Namespace, verdicts: List[Verdict], site: Dict[str, Any]
) -> Verdict:
    """
    Return the verdict on the approach that the module will use.

    Raises NewError if no approach is recommended, or if the approach of the option --approach is
    predicted to fail and the option --force is missing.
    """
    name = options.approach or recommend_approach(verdicts, site)
    if name is None:
        raise NewError(
            "no approach is recommended for this image on site %s. Read the reasons "
            "(`osu-container check %s`), or choose an approach with --approach NAME, and add "
            "--force if the approach is predicted to fail"
            % (site['name'], shell.quote_path(options.image))
        )
    verdict = next(candidate for candidate in verdicts if candidate.approach == name)
    if verdict.level == 'fails' and not options.force:
        best = recommend_approach(verdicts, site)
        raise NewError(
            "approach %s is predicted to fail: %s. %s, or write the easyconfig nevertheless with "
            "--force"
            % (
                name,
                '; '.join(finding.reason for finding in verdict.findings if finding.level != NOTE),
                'Use --approach %s' % best if best else 'Use another image',
            )
        )
    return verdict


def _format_overview(
    image: Image,
    image_commands: List[commands.Command],
    site: Dict[str, Any],
    host: Host,
    verdicts: List[Verdict],
    is_site_image: bool,
) -> str:
    """
    Return a text that shows the image, its commands and the verdicts.

    is_site_image: whether the site provides the image.
    """
    report = format_check_report(summarize_image(image, 0), site, host, verdicts, None, None, False)
    lines = ["    image     the site provides the image file, and the module uses this file"]
    width = max(len(command.name) for command in image_commands)
    return '\n'.join(
        [report, '']
        + lines * is_site_image
        + [
            escape_line('    command   %-*s  %s' % (width, command.name, command.mpi_usage))
            for command in image_commands
        ]
    )


def _format_host_warning(names: List[str], is_provided: bool) -> str:
    """
    Return a warning about programs of the image that have the names of host commands.

    is_provided: whether the module provides these programs.
    """
    words = (
        "the module does not provide %s, because host commands have the same names. To include a "
        "program, add --command NAME"
    )
    if is_provided:
        words = "the module provides %s, and hides the host commands of the same names"
    return '\n' + columns.fill_text('warning: ' + words % ', '.join(names), '', '    ')


def _list_eb_options(
    options: argparse.Namespace, path: str, verdict: Verdict, is_site_image: bool
) -> List[str]:
    """Return eb's options for the image folder and the site, with --force if necessary."""
    eb_options = []
    folder = os.path.dirname(os.path.abspath(options.image))
    if not is_site_image and folder != os.path.dirname(os.path.abspath(path)):
        eb_options.append('--sourcepath=' + folder)
    return (
        eb_options
        + format_site_options(options)[0]
        + (['--force'] if verdict.level == 'fails' else [])
    )


def _require_usable_paths(options: argparse.Namespace) -> None:
    """
    Raise NewError if the image or the output folder cannot be used.

    The image must be a file with a name that EasyBuild accepts. The output folder must exist.
    """
    if options.output and not os.path.isdir(options.output):
        raise NewError(
            "the output folder %s does not exist. Create the folder, or choose another folder "
            "with -o DIR" % options.output
        )
    problem = find_name_problem(os.path.basename(options.image))
    if problem:
        raise NewError(problem)
    if os.path.isdir(options.image):
        raise NewError(
            "%s is a folder, but a module needs a SIF. Pack the folder into a SIF: apptainer "
            "build NAME.sif %s" % (options.image, shell.quote_path(options.image))
        )


def _resolve_example(
    options: argparse.Namespace, image_commands: List[commands.Command], name: str
) -> str:
    """
    Return the command line that the help of the module shows as an example.

    Raises NewError if the first word of the command line is not a command of the module.
    """
    default = image_commands[0].name
    if commands.PYTHON.match(default):  # Without arguments, Python would wait at a prompt.
        default += ' -m mpi4py.bench helloworld'
    example: str = options.example or default
    words = [word for word in example.split() if word != 'osu-gpu-bind']
    names = [command.name for command in image_commands] + [name + '-exec']
    if words[:1] and words[0] not in names:
        raise NewError(
            "--example %s begins with %s, which is no command of the module. Begin the example "
            "with one of the module's commands (%s), or add a command to the module: --command %s"
            % (shell.quote(example), words[0], ', '.join(names), words[0])
        )
    return example


def _list_started_words(
    example: str, image_commands: List[commands.Command], name: str
) -> List[str]:
    """Return the words of the command line that the example runs in the image."""
    words = [word for word in split_command(example) if word != 'osu-gpu-bind']
    paths = {command.name: command.path for command in image_commands}
    return words[1:] if words[0] == name + '-exec' else [paths[words[0]]] + words[1:]


def _require_working_commands(
    image: Image,
    image_commands: List[commands.Command],
    approach: str,
    site: Dict[str, Any],
    host: Host,
) -> None:
    """Raise NewError if a command is predicted to fail with the approach `approach`."""
    for command in image_commands:
        verdict = judge_approach(resolve_approach(approach), site, image, host, command.path)
        if verdict.level == 'fails':
            raise NewError(
                "the command %s is predicted to fail with approach %s: %s. Leave out --command %s, "
                "choose another approach, or add --force"
                % (command.name, approach, verdict.findings[0].reason, command.name)
            )


def _inspect_image(
    options: argparse.Namespace, site: Dict[str, Any], host: Host, name: str, is_site_image: bool
) -> Tuple[str, List[Verdict], Dict[str, Any]]:
    """
    Print an overview of the image, and judge all approaches.

    The result is (example, verdicts, parameters). example: command line that the help of the module
    shows. parameters: dict with the programs and labels of the image, for the easyconfig. name:
    name of the module. is_site_image: whether the site provides the image.
    """
    with streams.Progress("looking for programs in %s" % options.image) as progress, Image(
        options.image, ''
    ) as image:
        image_commands, others = _find_commands(
            image, options.command, None if host.is_partial else host.root
        )
        image.programs = {
            command.name: posixpath.dirname(command.path) for command in image_commands
        }  # The easyblock judges the same programs.
        runtime = find_site_runtime(site, host)
        example = _resolve_example(options, image_commands, name)
        words = _list_started_words(example, image_commands, name)
        starter = (
            start.announce_start(image.path, words, progress)
            if runtime and words and not options.no_start and not options.sysroot
            else None
        )
        verdicts = judge_approaches(
            CONTAINER_APPROACHES,
            site,
            image,
            host,
            start.join_program(words) if starter else None,
            runtime,
            bool(runtime),
            starter,
            progress,
        )
        chosen = options.approach or recommend_approach(verdicts, site)
        page = _format_overview(image, image_commands, site, host, verdicts, is_site_image)
        progress.stop()
        print(
            '\n'.join(
                [page, ''] + format_unknown_approaches(verdicts, chosen, image.path, site)
            ).rstrip()
        )
        if others:
            print(_format_host_warning(others, bool(options.command)))
        if chosen and options.command and not options.force:
            further = [command for command in image_commands if command.path not in words]
            _require_working_commands(image, further, chosen, site, host)
        # The name of a program below a folder libexec does not identify the program.
        programs = options.command or [
            command.path if re.match(commands.LIBEXEC, command.path) else command.name
            for command in image_commands
        ]
        return example, verdicts, {'programs': programs, 'labels': image.labels}


def _write_easyconfig(options: argparse.Namespace, path: str, text: str) -> None:
    """Write the easyconfig; with --dry-run, print the text of the easyconfig. Raises OSError."""
    if options.dry_run:
        print('\nwould write: %s\n\n%s' % (path, text.rstrip()))
    elif outputs.write_file(path, text, options.force):
        print('\nwrote: %s' % path)
    else:
        print('\nunchanged, already exists: %s' % path)


def main(options: argparse.Namespace) -> int:
    """
    Write the easyconfig, print the next commands and return 0.

    Raises NewError, and the exceptions that occur while the image and the host are read.
    """
    _require_usable_paths(options)
    site, root = find_site(options.site, options.sysroot)
    site_path = site_image.resolve_site_image(
        options.image, site_image.list_image_folders(site, root, os.environ)
    )
    options.image = site_path or options.image
    name = _resolve_module_name(options)
    example, verdicts, parameters = _inspect_image(
        options, site, resolve_host(options, site, root), name, bool(site_path)
    )
    verdict = _select_verdict(options, verdicts, site)
    # Users cannot write to the folder of an image that the site provides.
    folder = options.output or not site_path and os.path.dirname(options.image) or '.'
    path = os.path.normpath(os.path.join(folder, '%s-%s.eb' % (name, verdict.approach)))
    with streams.Progress("reading %s for its sha256" % options.image):
        sha256 = compute_sha256(options.image)
    values = easyconfig.build_parameters(
        name,
        verdict.approach,
        site_path or os.path.basename(options.image),
        sha256,
        example=example,
        **parameters,
    )
    _write_easyconfig(options, path, easyconfig.render_easyconfig(values))
    module = '%s/%s' % (name, verdict.approach)
    launcher = launching.select_launcher(site)
    launch_line = launching.format_launch_example(launcher, verdict.pmi, example)
    next_commands = [
        shell.join_words(['eb', path] + _list_eb_options(options, path, verdict, bool(site_path))),
        'module load ' + module,
        launch_line,
        'osu-container proof -- ' + launch_line,
        'osu-container bench --module %s --run %s' % (module, shell.quote(example)),
    ]
    print('\n    '.join(['\nNext:'] + next_commands))
    return 0
