"""osu-container image ...: the command line of the images."""

import json
import os
import sys
from pathlib import Path

from osu_container.base import columns
from osu_container.base.places import PROJECT, STATE
from osu_container.base.terminal import escape_line
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import (
    FAMILIES,
    IMAGES,
    SOURCES,
    format_path,
    get_image_state,
    load_recipe,
    select_named_images,
)

EPILOG = """
NAME is the name of an image (osu-container image list), a family such as workstation, or a pattern such as '*5.0.2*'.
"""


def add_arguments(parser):
    """Add the subcommands to the parser of `osu-container image`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT')
    commands.required = True  # an argument only from Python 3.7 on

    def command(name, function, text):
        below = commands.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + '.', epilog=EPILOG
        )
        below.set_defaults(
            function=function,
            prog=f'osu-container image {name}',
            errors=(ImageBuildError, OSError),
            after_interrupt="repeat the command; downloads are kept",
        )
        return below

    below = command(
        'list', list_images, "list the named images: what each is for and whether it exists here"
    )
    below.add_argument('names', nargs='*', metavar='NAME')
    below.add_argument(
        '--json', action='store_true', help="machine-readable output, with sources and licences"
    )
    _add_sources_option(below)

    below = command(
        'recipe',
        print_recipe,
        "print the definition file of an image, for Apptainer; its head says how to build it by hand",
    )
    below.add_argument('name', metavar='NAME')
    below.add_argument(
        '--osu',
        choices=('c', 'mpi4py', 'python'),
        help="with these benchmark programs (default: those in C, else mpi4py's ports)",
    )
    below.add_argument('--docker', action='store_true', help="the Dockerfile instead")

    below = command(
        'fetch',
        fetch_sources,
        "download and check the sources of images, so that their build needs no "
        "network; without NAME those of all",
    )
    below.add_argument('names', nargs='*', metavar='NAME')
    below.add_argument(
        '--source',
        action='append',
        default=[],
        choices=sorted(SOURCES),
        metavar='KEY',
        help="only this source, by its key in osu_container/build/recipes/versions.py (can be repeated)",
    )
    below.add_argument(
        '--quiet', action='store_true', help="print only what is fetched and what went wrong"
    )
    _add_sources_option(below)
    _add_work_option(below)

    below = command(
        'build', build_images, "build images: sources, base, SIF, test, list of packages, sha256"
    )
    below.add_argument('names', nargs='+', metavar='NAME')
    _add_build_options(below)

    below = command(
        'verify', verify_files, "check SIF files: the sha256 beside each, and its signature"
    )
    below.add_argument('files', nargs='*', type=Path, metavar='FILE')
    below.add_argument(
        '--installed',
        action='store_true',
        help="in place of FILE: the image of every installed module "
        "in MODULEPATH, by the sha256 that was recorded, and the host's libraries",
    )


def _add_sources_option(parser):
    kept = PROJECT / 'sources'
    parser.add_argument(
        '--sources',
        type=_parse_absolute_path,
        default=kept if kept.is_dir() else Path.cwd(),
        metavar='DIR',
        help="where downloads and images are (default: sources in the project, of an installed command "
        "the current folder)",
    )


def _add_work_option(parser):
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'osu-container'
    # the folder itself may be a link of the user's, to a larger disk; what is in it is made here,
    # and is none
    parser.add_argument(
        '--work',
        type=lambda text: Path(text).resolve(),
        metavar='DIR',
        default=((STATE if (PROJECT / 'Makefile').is_file() else cache) / 'image').resolve(),
        help="for bases and temporary files; may be removed at any time (default: .workstation/image "
        "in the project, of an installed command a folder in ~/.cache)",
    )


def _add_build_options(parser):
    _add_sources_option(parser)
    _add_work_option(parser)
    add = parser.add_argument
    add(
        '--check',
        action='store_true',
        help="build nothing; say whether this machine can, exit code 1 if not",
    )
    add('--force', action='store_true', help="build although the image exists")
    add(
        '--output',
        type=_parse_absolute_path,
        metavar='SIF',
        help="for one image (default: NAME.sif in the sources folder)",
    )
    add(
        '--osu',
        choices=('auto', 'c', 'mpi4py', 'python'),
        default='auto',
        help="benchmark programs: the C programs, mpi4py's ports of them, or (auto, the default) the C programs where "
        "the archive can be had and else the ports",
    )
    add(
        '--osu-archive',
        type=_parse_absolute_path,
        metavar='FILE',
        help="use this archive: the release, or another one with its sum in FILE.sha256",
    )


def _parse_absolute_path(text):
    return Path(text).absolute()


def list_images(options):
    """Print one line an image, by family."""
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
            for name in names
            if IMAGES[name]['family'] == family
        ]
        if rows:
            print(
                '\n'.join(
                    [
                        columns.fill_text(f"{family}: {text}"),
                        *columns.format_table(rows, indent='  '),
                        '',
                    ]
                )
            )
    print(
        columns.fill_text("P: a published combination; unbuilt: this project has never built it.")
    )
    return 0


def _describe_image(name, sources):
    """Return what the catalogue says of an image as plain values (dict)."""
    entry = IMAGES[name]
    return {
        'name': name,
        'state': get_image_state(name, sources),
        **{
            key: entry[key]
            for key in (
                'family',
                'purpose',
                'published',
                'fails',
                'unbuilt',
                'compiles_mpi',
                'base',
            )
        },
        'variants': {
            kind: [
                {key: SOURCES[source][key] for key in ('name', 'version', 'licence', 'sha256')}
                for source in variant['sources']
            ]
            for kind, variant in entry['variants'].items()
        },
    }


def print_recipe(options):
    """Print one definition file or Dockerfile."""
    names = select_named_images([options.name])
    if len(names) > 1:
        raise ImageBuildError(
            f"{options.name} means {len(names)} images: {', '.join(names)}. Name one"
        )
    variants = IMAGES[names[0]]['variants']
    kind = options.osu or next(iter(variants))
    if kind not in variants:
        raise ImageBuildError(f"--osu {kind}: {names[0]} is built with {' or '.join(variants)}")
    print(load_recipe(names[0], kind, '.Dockerfile' if options.docker else '.def'), end='')
    return 0


def fetch_sources(options):
    """Download sources; go on with the next one after a failure, and fail at the end."""
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
            f"{len(keys)} sources are in {format_path(options.sources)}, with the expected sha256"
        )
    return 0


def build_images(options):
    """Build images one after the other."""
    from osu_container.build.build import Build, BuildOptions

    names = select_named_images(options.names)
    if options.output and len(names) > 1:
        raise ImageBuildError(
            f"--output names one file, but {len(names)} images are meant. Name one of them: "
            f"{', '.join(names)}"
        )
    given = BuildOptions(
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

    def build(name):
        problems = Build(name, given).find_problems() if options.check else Build(name, given).run()
        if problems:
            raise ImageBuildError('\n'.join(problems))
        if options.check:
            print(f"{name}: this machine can build it")

    _process_all(names, build, options.prog)
    return 0


def _process_all(names, function, prog):
    """
    Call a function for each name. After an ImageError go on with the next one, and raise one at
    the end.
    """
    failed = []
    for name in names:
        try:
            function(name)
        except ImageBuildError as err:
            if len(names) == 1:
                raise
            failed.append(name)
            print(f"{prog}: {name}: {err}", file=sys.stderr)
    if failed:
        raise ImageBuildError(f"{len(failed)} of {len(names)} failed: {', '.join(failed)}")


def verify_files(options):
    """Check files, or installed modules; exit code 1 if anything is wrong with one."""
    from osu_container.build import installed

    if bool(options.files) == options.installed:
        raise ImageBuildError(
            "name SIF files, or give --installed for the images of all installed modules"
        )
    if options.installed:
        modules = installed.find_installations(os.environ.get('MODULEPATH', ''))
        found = {
            f'{modules[root]} ({root})': installed.verify_installation(root)
            for root in sorted(modules)
        }
    else:
        found = {str(path): installed.verify_image(path) for path in options.files}
    for name, problems in found.items():
        print(escape_line(f"{name}: {'wrong' if problems else 'ok'}"))
        for problem in problems:
            print(f"    {escape_line(problem)}")
    wrong = [name for name, problems in found.items() if problems]
    if wrong:
        remedy = (
            "Install it again: eb ... --rebuild" if options.installed else "Build or copy it again"
        )
        raise ImageBuildError(f"do not use {', '.join(wrong)}: see what is wrong above. {remedy}")
    return 0
