"""Define the command line of `osu-container image`: list, fetch, build and verify images."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

from osu_container.base import columns
from osu_container.base.places import PROJECT, STATE
from osu_container.base.terminal import escape_line
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import (
    IMAGES,
    format_path,
    get_image_state,
    load_recipe,
    select_named_images,
)
from osu_container.build.recipes.images import FAMILIES
from osu_container.build.recipes.versions import SOURCES

NAME_HELP = (
    "name of an image (`osu-container image list` prints all names), family of images such as "
    "workstation, or pattern such as '*5.0.2*'"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser of `osu-container image`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT')
    commands.required = True  # an argument of add_subparsers() only since Python 3.7

    def command(
        name: str, function: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        subparser = commands.add_parser(
            name, help=text, description=f'{text[0].upper()}{text[1:]}.'
        )
        subparser.set_defaults(
            function=function,
            prog=f'osu-container image {name}',
            errors=(ImageBuildError, OSError),
            after_interrupt="to continue, repeat the command; finished downloads are kept",
        )
        return subparser

    subparser = command(
        'list',
        list_images,
        "list the images of this project with their purpose, and show which of them are built",
    )
    subparser.add_argument('names', nargs='*', metavar='NAME', help=NAME_HELP)
    subparser.add_argument(
        '--json',
        action='store_true',
        help="print the list as JSON, with the sources and licences of each image",
    )
    _add_sources_option(subparser)

    subparser = command(
        'recipe',
        print_recipe,
        "print the Apptainer definition file of an image, which contains the build commands as a comment",
    )
    subparser.add_argument('name', metavar='NAME', help=NAME_HELP)
    subparser.add_argument(
        '--osu',
        choices=('c', 'mpi4py', 'python'),
        help="benchmark programs of the recipe: C benchmarks (c), mpi4py ports of the C benchmarks (mpi4py), or "
        "OSU's Python benchmarks (python). Default: c if the image has a recipe with C benchmarks, otherwise mpi4py",
    )
    subparser.add_argument(
        '--docker',
        action='store_true',
        help="print the Dockerfile of the image instead of the definition file",
    )

    subparser = command(
        'fetch',
        fetch_sources,
        "download the sources of images (default: of all images) and check their sha256, so that a later "
        "build needs no network",
    )
    subparser.add_argument('names', nargs='*', metavar='NAME', help=NAME_HELP)
    subparser.add_argument(
        '--source',
        action='append',
        default=[],
        choices=sorted(SOURCES),
        metavar='KEY',
        help="download only the source with the key KEY in osu_container/build/recipes/versions.csv; can be repeated",
    )
    subparser.add_argument('--quiet', action='store_true', help="print only downloads and errors")
    _add_sources_option(subparser)
    _add_work_option(subparser)

    subparser = command(
        'build',
        build_images,
        "build images, test the images, and write the sha256 and the package list of each image",
    )
    subparser.add_argument('names', nargs='+', metavar='NAME', help=NAME_HELP)
    _add_build_options(subparser)

    subparser = command(
        'verify',
        verify_files,
        "compare the sha256 of SIF files with the file FILE.sha256, and check the signatures of the SIF files",
    )
    subparser.add_argument('files', nargs='*', type=Path, metavar='FILE')
    subparser.add_argument(
        '--installed',
        action='store_true',
        help="check the installed modules instead of SIF files: the image and the host libraries of every "
        "osu-container module in MODULEPATH",
    )


def _add_sources_option(parser: argparse.ArgumentParser) -> None:
    clone_sources = PROJECT / 'sources'
    parser.add_argument(
        '--sources',
        type=_parse_folder,
        default=clone_sources if clone_sources.is_dir() else Path.cwd(),
        metavar='DIR',
        help="folder for downloads and images (default: the folder sources/ of the clone of this project, or the "
        "current folder if there is no clone)",
    )


def _add_work_option(parser: argparse.ArgumentParser) -> None:
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'osu-container'
    # The user may have made this folder a symbolic link. Folders that builds create in it are not
    # links.
    parser.add_argument(
        '--work',
        type=lambda text: Path(text).resolve(),
        metavar='DIR',
        default=((STATE if (PROJECT / 'Makefile').is_file() else cache) / 'image').resolve(),
        # folder for base systems and temporary files, which may be deleted at any time
        help=argparse.SUPPRESS,
    )


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    _add_sources_option(parser)
    _add_work_option(parser)
    add = parser.add_argument
    add(
        '--check',
        action='store_true',
        help="build no image; only report whether this machine can build the images. The exit code is 0 if this "
        "machine can build all of the images, otherwise 1",
    )
    add('--force', action='store_true', help="replace an existing image")
    add(
        '--output',
        type=_parse_absolute_path,
        metavar='SIF',
        help="write the image to the file SIF; only valid for a single image (default: NAME.sif in the folder that "
        "--sources names)",
    )
    add(
        '--osu',
        choices=('auto', 'c', 'mpi4py', 'python'),
        default='auto',
        # the benchmark programs to install; auto selects c if the OSU archive is available, else mpi4py
        help=argparse.SUPPRESS,
    )
    add(
        '--osu-archive',
        type=_parse_absolute_path,
        metavar='FILE',
        # the archive of the C benchmarks; see docs/images.md
        help=argparse.SUPPRESS,
    )


def _parse_absolute_path(text: str) -> Path:
    return Path(text).absolute()


def _parse_folder(text: str) -> Path:
    if Path(text).exists() and not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a file, expected a folder")
    return _parse_absolute_path(text)


def list_images(options: argparse.Namespace) -> int:
    """Print the images of each family, with purpose and state; return the exit code.

    In each family, images with current versions precede images with published versions.
    """
    names = select_named_images(options.names)
    if options.json:
        print(json.dumps([_describe_image(name, options.sources) for name in names], indent=1))
        return 0
    for family, text in FAMILIES.items():
        rows = [
            (
                name,
                'P' if IMAGES[name]['published'] else '',
                get_image_state(name, options.sources),
                IMAGES[name]['purpose'],
            )
            for name in sorted(names, key=lambda name: bool(IMAGES[name]['published']))
            if IMAGES[name]['family'] == family
        ]
        if rows:
            print(columns.fill_text(f"{family}: {text}"))
            print(*columns.format_table(rows, indent='  '), sep='\n', end='\n\n')
    print(
        columns.fill_text(
            "P marks an image with the same versions of MPI and libfabric as an image in published results. 'unbuilt' "
            "marks an image that this project has never built."
        )
    )
    return 0


def _describe_image(name: str, sources: Path) -> Dict[str, Any]:
    """Return the state of an image and the image's entry in the catalogue, as a dict for JSON."""
    entry = IMAGES[name]
    return {
        'name': name,
        'state': get_image_state(name, sources),
        **{
            key: entry[key]
            for key in 'family purpose published fails unbuilt compiles_mpi base'.split()
        },
        'variants': {
            kind: [
                {key: SOURCES[source][key] for key in ('name', 'version', 'licence', 'sha256')}
                for source in variant['sources']
            ]
            for kind, variant in entry['variants'].items()
        },
    }


def print_recipe(options: argparse.Namespace) -> int:
    """Print the definition file or the Dockerfile of one image; return the exit code."""
    names = select_named_images([options.name])
    if len(names) > 1:
        raise ImageBuildError(
            f"{options.name} matches {len(names)} images, but this command needs exactly one. Name one of: "
            f"{', '.join(names)}"
        )
    variants = IMAGES[names[0]]['variants']
    kind = options.osu or next(iter(variants))
    if kind not in variants:
        raise ImageBuildError(
            f"{names[0]} has no recipe for --osu {kind}. Use --osu {' or --osu '.join(variants)}"
        )
    print(load_recipe(names[0], kind, '.Dockerfile' if options.docker else '.def'), end='')
    return 0


def fetch_sources(options: argparse.Namespace) -> int:
    """Download the sources of images and return the exit code.

    Raises ImageBuildError after all downloads if at least one download failed.
    """
    from osu_container.build import fetch

    keys = list(options.source)
    if not keys or options.names:
        keys += [
            key
            for name in select_named_images(options.names)
            for variant in IMAGES[name]['variants'].values()
            for key in variant['sources']
        ]
    log = options.work / 'log' / 'image-fetch.log'
    log.parent.mkdir(parents=True, exist_ok=True)
    keys = list(dict.fromkeys(keys))
    _process_all(
        keys, lambda key: fetch.download_sources([key], options.sources, log), options.prog
    )
    if not options.quiet:
        print(
            f"all {len(keys)} sources of the images are in {format_path(options.sources)} and have the expected sha256"
        )
    return 0


def build_images(options: argparse.Namespace) -> int:
    """Build the named images one after the other, and return the exit code."""
    from osu_container.build.build import Build, BuildOptions

    names = select_named_images(options.names)
    if options.output and len(names) > 1:
        raise ImageBuildError(
            f"--output needs exactly one image, but {len(names)} images match. Name one of: "
            f"{', '.join(names)}"
        )
    build_options = BuildOptions(
        osu=options.osu,
        osu_archive=options.osu_archive,
        sources=options.sources,
        work=options.work,
        output=options.output,
        force=options.force,
        sourcepath=(
            options.sources,
            *map(Path, filter(None, os.environ.get('EASYBUILD_SOURCEPATH', '').split(':'))),
        ),
    )

    def build(name: str) -> None:
        image = Build(name, build_options)
        if not options.check:
            image.run()
            return
        problems = image.find_problems()
        if problems:
            raise ImageBuildError('\n'.join(problems))
        print(f"{name}: this machine can build the image")

    _process_all(names, build, options.prog)
    return 0


def _process_all(names: List[str], function: Callable[[str], None], prog: str) -> None:
    """Call `function` with each of `names`, such as names of images.

    If a call raises ImageBuildError, this function prints the error and continues with the next
    name. Raises ImageBuildError after the last call if at least one call has failed.
    """
    failed_names = []
    for name in names:
        try:
            function(name)
        except ImageBuildError as err:
            if len(names) == 1:
                raise
            failed_names.append(name)
            print(f"{prog}: {name}: {err}", file=sys.stderr)
    if failed_names:
        raise ImageBuildError(
            f"{len(failed_names)} of {len(names)} failed: {', '.join(failed_names)}"
        )


def verify_files(options: argparse.Namespace) -> int:
    """Verify SIF files or installed modules and print all problems; return the exit code.

    Raises ImageBuildError if at least one file or module has a problem.
    """
    from osu_container.build import installed

    if bool(options.files) == options.installed:
        raise ImageBuildError(
            "verify needs either SIF files or the option --installed. Name SIF files, or use --installed to "
            "check the images of all installed modules"
        )
    if options.installed:
        modules = installed.find_installations(os.environ.get('MODULEPATH', ''))
        results = {
            f'{modules[root]} ({root})': installed.verify_installation(root)
            for root in sorted(modules)
        }
    else:
        results = {str(path): installed.verify_image(path) for path in options.files}
    for name, problems in results.items():
        print(escape_line(f"{name}: {'wrong' if problems else 'ok'}"))
        for problem in problems:
            print(f"    {escape_line(problem)}")
    failed_names = [name for name, problems in results.items() if problems]
    if failed_names:
        remedy = (
            "Install each module that failed the verification again: eb EASYCONFIG --rebuild"
            if options.installed
            else "Build or copy each image that failed the verification again"
        )
        raise ImageBuildError(
            f"verification failed for {', '.join(map(escape_line, failed_names))}; the problems are "
            f"listed above. {remedy}"
        )
    return 0
