"""osu-container image ...: the command line of the images."""
import json
import os
import sys
from pathlib import Path

from osu_container.core import outputs
from osu_container.places import PROJECT, STATE

from .. import columns
from . import ImageError, engines
from .catalogue import FAMILIES, IMAGES, SOURCES, find, recipe_text, record_of, sentence, shown, state
from .progress import log_of

EPILOG = """
NAME is the name of an image (osu-container image list), a family such as workstation, or a pattern such as '*5.0.2*'.
"""


def add_arguments(parser):
    """Add the subcommands to the parser of `osu-container image`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT')
    commands.required = True  # an argument only from Python 3.7 on

    def command(name, function, text, after="repeat the command, it goes on with what is there"):
        below = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + '.', epilog=EPILOG)
        below.set_defaults(function=function, prog=f'osu-container image {name}', after_interrupt=after,
                           errors=(ImageError, OSError))
        return below

    below = command('list', list_images, "show every named image, what it is for and what is here of it")
    below.add_argument('names', nargs='*', metavar='NAME')
    below.add_argument('--json', action='store_true', help="the same and more for programs, as JSON")
    _add_sources(below)

    below = command('show', show, "show what is in an image, what its build takes and how to run it")
    below.add_argument('names', nargs='+', metavar='NAME')
    below.add_argument('--json', action='store_true', help="the same for programs")
    _add_sources(below)

    below = command('recipe', print_recipe,
                    "print the definition file of an image, for Apptainer; its head says how to build it by hand")
    below.add_argument('name', metavar='NAME')
    below.add_argument('--osu', choices=('c', 'mpi4py', 'python'), help="with these benchmark programs (default: those "
                       "in C, else the first that `image show` names)")
    below.add_argument('--docker', action='store_true', help="the Dockerfile instead")

    below = command('fetch', fetch_sources, "download and check the sources of images, so that their build needs no "
                    "network; without NAME those of all")
    below.add_argument('names', nargs='*', metavar='NAME')
    below.add_argument('--source', action='append', default=[], choices=sorted(SOURCES), metavar='KEY',
                       help="only this source, by its key in osu_container/recipes/versions.py (can be repeated)")
    below.add_argument('--quiet', action='store_true', help="say only what is fetched and what went wrong")
    _add_sources(below)
    _add_work(below)

    below = command('build', build_images, "build images: sources, base, stages, SIF, test, list of packages, sum",
                    "finished stages and downloads are kept: repeat the command to go on. An older image is as it was")
    below.add_argument('names', nargs='+', metavar='NAME')
    _add_build_options(below)

    below = command('verify', verify_files, "check SIF files: the sum beside each, and its signature")
    below.add_argument('files', nargs='*', type=Path, metavar='FILE')
    below.add_argument('--installed', action='store_true', help="in place of FILE: the image of every installed module "
                       "in MODULEPATH, by the sum that was recorded, and the host's libraries")
    below.add_argument('--json', action='store_true', help="the same for programs")

    below = command('clean', clean,
                    "remove kept stages; with --all bases and what was pulled, too. SIFs and sources stay")
    below.add_argument('--all', action='store_true', help="bases too: the next build makes them anew")
    _add_work(below)


def _add_sources(parser):
    kept = PROJECT / 'sources'
    parser.add_argument('--sources', type=_absolute, default=kept if kept.is_dir() else Path.cwd(), metavar='DIR',
                        help="where downloads and images are (default: sources in the project, of an installed command "
                        "the current folder)")


def _add_work(parser):
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'osu-container'
    # the folder itself may be a link of the user's, to a larger disk; what is in it is made here, and is none
    parser.add_argument('--work', type=lambda text: Path(text).resolve(), metavar='DIR',
                        default=((STATE if (PROJECT / 'Makefile').is_file() else cache) / 'image').resolve(),
                        help="for bases, kept stages and temporary files (default: .workstation/image in the project, "
                        "of an installed command a folder in ~/.cache)")


def _add_build_options(parser):
    _add_sources(parser)
    _add_work(parser)
    add = parser.add_argument
    add('--check', action='store_true', help="build nothing; say whether this machine can, exit code 1 if not")
    add('--force', action='store_true', help="build although the image is there")
    add('--output', type=_absolute, metavar='SIF', help="for one image (default: NAME.sif in the sources folder)")
    add('--osu', choices=('auto', 'c', 'mpi4py', 'python'), default='auto',
        help="benchmark programs: the C programs, mpi4py's ports of them, or (auto, the default) the C programs where "
             "the archive can be had and else the ports")
    add('--osu-archive', type=_absolute, metavar='FILE',
        help="use this archive: the release, or another one with its sum in FILE.sha256")
    add('--engine', choices=engines.KINDS, default='auto',
        help="what builds (default: apptainer or singularity, else one of the others and then apptainer)")
    add('--compression', choices=engines.COMPRESSIONS,
        help="of the image: zstd starts faster, none fastest and is the largest (docs/images.md); gzip is what every "
             "kernel and runtime reads (default: gzip for LUMI and Alps, else zstd)")


def _absolute(text):
    return Path(text).absolute()


def list_images(options):
    """Print one line an image, by family."""
    from . import build
    names = find(options.names)
    states = {name: state(name, options.sources, build.looks_current) for name in names}
    if options.json:
        print(json.dumps([{'name': name, 'state': states[name][0], 'detail': states[name][1],
                           **{key: IMAGES[name][key] for key in ('family', 'purpose', 'published', 'default',
                                                                 'recommended', 'fails', 'unbuilt')}}
                          for name in names], indent=1))
        return 0
    for family, text in FAMILIES.items():
        mine = [name for name in names if IMAGES[name]['family'] == family]
        if not mine:
            continue
        print(columns.fill(f"{family}: {text}"))
        rows = []
        for name in mine:
            entry = IMAGES[name]
            marks = ('P' if entry['published'] else ' ') + ('D' if entry['default'] else ' ') + (
                'R' if entry['recommended'] else ' ') + ('!' if entry['fails'] else ' ')
            size, made = _figures(entry, options.sources / f'{name}.sif')
            rows.append((name, marks, states[name][0], size, made, entry['purpose']))
        print('\n'.join([*columns.table(rows, right=[3], indent='  '), '']))
    print(columns.fill("P: a published combination; D: one that the published pipeline built by default; R: "
                       "recommended today; !: its MPI does not load with its own libfabric, so for bind and hybrid."))
    print(columns.fill("built: from today's inputs; outdated: from older ones; here: not built by this command; "
                       "unbuilt: our tests do not build it, `osu-container image show NAME` says why. Of an image that "
                       "is not here, size, day and minutes are those of this project's own build, where it made one."))
    return 0


def _figures(entry, sif):
    """Return (size, when and in what time it was built) of an image, '' for what is not known."""
    known = entry.get('built')
    if sif.exists():
        record = record_of(sif)
        known = {'megabytes': sif.stat().st_size / 1e6, 'date': record.get('built', '')[:len('2026-11-23')],
                 'minutes': sum(record.get('seconds', {}).values()) / 60}
    if not known:
        return '', ''
    made = f"built {known['date']}, {max(1, known['minutes']):.0f} min" if known['date'] else ''
    return f"{known['megabytes']:.0f} MB", made


def show(options):
    """Print all that is known of images."""
    from . import build
    if options.json:
        found = [_facts(name, options.sources, build.looks_current) for name in find(options.names)]
        print(json.dumps(found, indent=1))
        return 0
    for number, name in enumerate(find(options.names)):
        entry = IMAGES[name]
        word, detail = state(name, options.sources, build.looks_current)
        lines = [('for', entry['purpose']), ('recommended', entry['recommended']),
                 ('published', sentence(entry)), ('state', f"{word}{detail and ': ' + detail}"),
                 ('does not load', entry['fails']), ('built here', ', '.join(filter(None, _figures(
                     entry, options.sources / f'{name}.sif'))))]
        start = entry['base']
        lines.append(('base', ' '.join(f'{kind} {value}' for kind, value in start.items())))
        for kind, variant in entry['variants'].items():
            lines.append((f'variant {kind}', f"osu-container image recipe {name} --osu {kind}"))
            parts = (f"{SOURCES[key]['name']} {SOURCES[key]['version']} ({SOURCES[key]['licence']})"
                     + ('' if SOURCES[key]['sha256'] else ', checked by its commit: no sha256 is published')
                     for key in variant['sources'])
            lines += [('', part) for part in dict.fromkeys(parts)]  # source and wheel of one release are one
        lines += [('takes', f"about {entry['minutes']:g} min on two cores, {entry['gigabytes']:g} GB of disk"),
                  ('build', f"osu-container image build {name}"),
                  ('by hand', "as the head of the recipe says")]
        print(('\n' if number else '') + name)
        for title, text in lines:
            for line in str(text).splitlines():
                print(f"  {title:14} {line}" if line.startswith('osu-container ') else  # to be copied
                      columns.fill(line, f"  {title:14} ", ' ' * 17, columns.width()))
                title = ''
    return 0


def _facts(name, sources, current):
    """Return all that show() tells of an image (str) as plain data (dict); sources: Path; current: as of state()."""
    word, detail = state(name, sources, current)
    entry, sif = IMAGES[name], sources / f'{name}.sif'
    return {'name': name, 'state': word, 'detail': detail,
            'built': list(_figures(entry, sif)), 'minutes': entry['minutes'], 'gigabytes': entry['gigabytes'],
            'base': entry['base'], 'variants': {
                kind: [{key: SOURCES[source][key] for key in ('name', 'version', 'licence', 'sha256')}
                       for source in variant['sources']] for kind, variant in entry['variants'].items()},
            **{key: entry[key] for key in ('family', 'purpose', 'published', 'recommended', 'fails')}}


def print_recipe(options):
    """Print one definition file or Dockerfile."""
    names = find([options.name])
    if len(names) > 1:
        raise ImageError(f"{options.name} means {len(names)} images: {', '.join(names)}. Name one")
    variants = IMAGES[names[0]]['variants']
    kind = options.osu or next(iter(variants))
    if kind not in variants:
        raise ImageError(f"--osu {kind}: {names[0]} is made with {' or '.join(variants)}")
    print(recipe_text(names[0], kind, '.Dockerfile' if options.docker else '.def'), end='')
    return 0


def fetch_sources(options):
    """Download sources; go on with the next one after a failure, and fail at the end."""
    from . import fetch
    keys = list(options.source)
    if not keys or options.names:
        for name in find(options.names):
            for variant in IMAGES[name]['variants'].values():
                keys += [key for key in variant['sources'] if key not in keys]
    log, failed = log_of(options.work, 'image-fetch'), []
    options.work.mkdir(parents=True, exist_ok=True)
    outputs.own(log.parent)
    outputs.replace(log, b'')
    for key in keys:
        try:
            fetch.fetch([key], options.sources, log)
        except ImageError as err:
            failed.append(key)
            print(f"{options.prog}: {key}: {err}", file=sys.stderr)
    if not options.quiet:
        print(f"{len(keys) - len(failed)} of {len(keys)} sources are in {shown(options.sources)} and are what is meant")
    if failed:
        raise ImageError(f"not to be had: {', '.join(failed)}")
    return 0


def build_images(options):
    """Build images one after the other."""
    from .build import Build, Options
    names = find(options.names)
    if options.output and len(names) > 1:
        raise ImageError(f"--output names one file, but {len(names)} images are meant. Name one of them: "
                         f"{', '.join(names)}")
    given = Options(
        osu=options.osu, osu_archive=options.osu_archive,
        sources=options.sources, work=options.work, output=options.output, engine=options.engine,
        sourcepath=(options.sources, *map(Path, filter(None, os.environ.get('EASYBUILD_SOURCEPATH', '').split(':')))),
        force=options.force, compression=options.compression)
    failed = []
    for name in names:
        build = Build(name, given)
        try:
            if options.check:
                problems = build.problems()
                if problems:
                    raise ImageError('\n'.join(problems))
                start = build.entry['base'].get('registry')
                print(f"{name}: can be built here, by {build.engine.why}, in about {build.entry['minutes']:g} min"
                      + (f", if {start} can be had from a container registry: that was not tried" if start else ''))
            else:
                build.run()
        except ImageError as err:
            if len(names) == 1:
                raise
            failed.append(name)
            print(f"{options.prog}: {name}: {err}", file=sys.stderr)
    if failed:
        raise ImageError(f"{len(failed)} of {len(names)} images failed: {', '.join(failed)}")
    return 0


def verify_files(options):
    """Check files; exit code 1 if anything is wrong with one."""
    from . import installed
    if bool(options.files) == options.installed:
        raise ImageError("name SIF files, or give --installed for the images of all installed modules")
    if options.installed:
        return _verify_installed(options.json)
    found, wrong = {}, []
    for path in options.files:
        checks = found[str(path)] = installed.verify(path)
        if not options.json:
            installed.print_report(path, checks)
        if any(state == 'wrong' for _, state, _ in checks):
            wrong.append(str(path))
    if options.json:
        _print_checks(found)
    if wrong:
        raise ImageError(f"do not use {', '.join(wrong)}: see what is wrong above. Build or copy it again")
    return 0


def _print_checks(found):
    """Print {what was looked at: [(check, state, text), ...]} as JSON."""
    print(json.dumps([{'of': name, 'checks': [dict(zip(('check', 'state', 'found'), one)) for one in checks]}
                      for name, checks in found.items()], indent=1))


def _verify_installed(as_json):
    """Check the installed modules; exit code 1 if anything is wrong with one. as_json: bool, for programs."""
    from . import installed
    sums, found, wrong = {}, {}, []
    for root, name in sorted(installed.installations(os.environ.get('MODULEPATH', '')).items()):
        checks = found[f'{name} ({root})'] = installed.verify_installation(root, sums)
        if not as_json:
            installed.print_report(f'{name} ({root})', checks)
        if any(state == 'wrong' for _, state, _ in checks):
            wrong.append(name)
    if as_json:
        _print_checks(found)
    if wrong:
        raise ImageError(f"do not use {', '.join(wrong)}: see what is wrong above. Install it again: eb ... --rebuild")
    return 0


def clean(options):
    """Remove what only makes later builds quicker."""
    from .build import clean as remove
    if not options.work.is_dir():
        raise ImageError(f"--work {options.work}: there is no such folder. Name that of your builds")
    freed, left = remove(options.work, options.all)
    print(f"removed {freed / 1e6:.0f} MB from {shown(options.work)}")
    if left:
        print(columns.fill(f"left as they are, as this command has not made them: {', '.join(map(shown, left))}"))
    return 0
