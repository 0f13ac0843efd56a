"""
One image from nothing to a checked SIF: sources, base, stages, image, list of packages, sum.

What is finished is kept: downloads, bases and the stages of a definition file (their results only, by a key of all
that goes into them), so that a build goes on after an interruption and images share what they have in common.
A failing or interrupted build leaves an older image as it was.
"""
import contextlib
import datetime
import fcntl
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

from osu_container.core import outputs
from osu_container.core.installing.image_build import wanted_sha256
from osu_container.core.reading.files import not_anothers, text_of
from osu_container.core.reading.sif import ImageError as SifError

from . import ImageError, engines, fetch, stages
from .catalogue import IMAGES, PROJECT, RECIPE_VERSION, SOURCES, recipe_text, record_of, sha256_of, shown
from .installed import packages, unpack
from .progress import Steps, duration, is_left, log_of, of_this, run, say

# Folders in the work folder, both in fetch.KEPT: stages, and unpacked images on which others stand
STAGES, BELOW = f'{fetch.KEPT}/stages', f'{fetch.KEPT}/below'


class Options(NamedTuple):
    """What the command line says of a build; see its --help. Paths are absolute."""

    osu: str = 'auto'
    osu_archive: Path = None
    sources: Path = Path()
    sourcepath: tuple = ()
    work: Path = Path()
    output: Path = None
    engine: str = 'auto'
    force: bool = False
    compression: str = None


class Build:
    """The build of one named image."""

    def __init__(self, name, options):
        """Settle paths; nothing is read or written yet. name: of the catalogue."""
        self.name, self.options, self.entry = name, options, IMAGES[name]
        self.sif = options.output or options.sources / f'{name}.sif'
        self.record = Path(f'{self.sif}.json')
        self.log = log_of(options.work, f'image-{name}')
        self.archive, self.links = None, {}
        self.kind = self.variant = self.osu = self.engine = None

    # ---- what goes in ----------------------------------------------------------------------------------------------

    def settle_programs(self):
        """Settle whether the C programs, mpi4py's ports or Python's own benchmarks go in. Raises ImageError."""
        options, variants = self.options, self.entry['variants']
        if options.osu not in ('auto', *variants):
            raise ImageError(f"--osu {options.osu}: {self.name} is made with {' or '.join(variants)}")
        if 'osu' not in variants.get('c', {'sources': []})['sources']:  # an image to build upon, or one for Python
            if options.osu_archive:
                raise ImageError(f"--osu-archive: {self.name} has no programs in C")
            self.use(options.osu if options.osu in variants else next(iter(variants)))
        elif options.osu_archive:
            if options.osu not in ('auto', 'c'):
                raise ImageError(f"--osu-archive and --osu {options.osu} contradict each other")
            if not options.osu_archive.is_file():
                raise ImageError(f"--osu-archive: there is no file {options.osu_archive}. "
                                 "Name the archive of OSU's benchmarks, or leave it out")
            self.use('c', options.osu_archive, self.sum_of_archive(options.osu_archive))
        elif options.osu in variants and options.osu != 'c':
            self.use(options.osu)
        else:
            self.settle_archive(variants)

    def sum_of_archive(self, archive):
        """Return the sha256 of an archive that was named: that of the release, or of the file beside it."""
        try:
            wanted = wanted_sha256(f'{archive}.sha256') or SOURCES['osu']['sha256']
        except SifError as err:
            raise ImageError(str(err)) from err
        fetch.check_sum(archive, wanted, f"If it is meant: (cd {archive.parent} && sha256sum {archive.name} "
                                         f">{archive.name}.sha256)")
        return wanted

    def settle_archive(self, variants):
        """Use the C programs if their archive is at hand or can be had, else the ports if they will do."""
        options = self.options
        archive = fetch.find_archive(options.sourcepath)
        ports = next((kind for kind in variants if kind != 'c'), None)
        if not archive and options.osu == 'auto' and ports:
            self.use(ports)
            if self.is_current():  # was not to be had before: do not ask the network at every call
                return
        if not archive:
            say(f"no {SOURCES['osu']['file']} in the source paths, trying to download it")
            archive = fetch.download_archive(options.sources)
        if archive:
            self.use('c', archive)
        elif options.osu == 'c' or not ports:
            where = ':'.join(map(str, options.sourcepath))
            raise ImageError(f"no {SOURCES['osu']['file']}. Get it from {SOURCES['osu']['url']} and put it into one of "
                             f"the source paths: {where}")
        else:
            say("using mpi4py's ports of the benchmarks, not the C programs. For those put "
                f"{SOURCES['osu']['file']} into {shown(options.sources)} and repeat the command")

    def use(self, kind, archive=None, total=None):
        """Take a variant of the image; archive: of the C programs; total: its sha256, None for that of the release."""
        self.kind, self.variant, self.archive = kind, self.entry['variants'][kind], archive
        self.archive_sum = total or SOURCES['osu']['sha256']
        # What is edited during a build is not in its image: the record says what the build began with.
        self.began_with = {}
        if archive:
            named = re.match(r'osu-micro-benchmarks-(\d[\d.]*)\.t', archive.name)
            real = self.archive_sum == SOURCES['osu']['sha256']
            self.osu = (SOURCES['osu']['version'] if real else named.group(1) if named else
                        f'archive {self.archive_sum[:12]}') + ' C'
        else:
            self.osu = f"mpi4py {SOURCES['mpi4py-source']['version']} {'ports' if kind == 'mpi4py' else kind}"

    def keys(self):
        """Return the sources (list of keys) that are fetched; the OSU archive is found in a way of its own."""
        return [key for key in self.variant['sources'] if not (key == 'osu' and self.archive)]

    def recipe(self, suffix='.def'):
        """Return the text of the definition file, with '.Dockerfile' that of the Dockerfile. Raises ImageError."""
        return self.once(suffix, recipe_text, self.name, self.kind, suffix)

    def once(self, what, read, *arguments):
        """Return what read(*arguments) returned when this build first asked for what (str)."""
        if what not in self.began_with:
            self.began_with[what] = read(*arguments)
        return self.began_with[what]

    def inputs(self):
        """Return what the image depends on, as a dict of plain values: the same inputs need no new build."""
        sums = {SOURCES[key]['file']: SOURCES[key]['sha256'] or self.found_sum(key) for key in self.keys()}
        if self.archive:
            sums[self.archive.name] = self.archive_sum
        for name in self.variant['files']:
            sums[Path(name).name] = self.once(name, sha256_of, PROJECT / name)
        return {
            'recipe': f"{self.variant['rendered']}.def", 'recipe-sha256': stages.sum_of(self.recipe()),
            'recipe-version': RECIPE_VERSION,
            'osu': self.osu, 'sources': sums, 'base': self.base_identity(),
        }

    def found_sum(self, key):
        """Return the sha256 of a source for which none is published, None if it is not there yet."""
        path = self.options.sources / SOURCES[key]['file']
        return sha256_of(path) if path.exists() else None

    def base_identity(self):
        """Return what the image starts from, as plain values."""
        start = self.entry['base']
        if 'debian' in start:
            return {**start, 'dpkg-options': list(fetch.DPKG_OPTIONS)}
        if 'image' in start:
            below = record_of(self.below())
            return {**start, 'inputs': below['inputs']} if below else dict(start)
        return dict(start)

    def below(self):
        """Return the path of the SIF on which this image is built."""
        return self.options.sources / f"{self.entry['base']['image']}.sif"

    def packing(self):
        """Return (compression, whether it was asked for).

        zstd starts faster, and was tried where images of Debian's packages run. Those that start from a registry are
        for LUMI and Alps, whose runtimes mount them by the kernel: nobody has tried zstd there.
        """
        entry = self.entry
        while 'image' in entry['base']:
            entry = IMAGES[entry['base']['image']]
        asked = self.options.compression
        return asked or ('zstd' if 'debian' in entry['base'] else 'gzip'), bool(asked)

    def is_current(self):
        """Return whether the image was built from the same inputs and is undamaged."""
        record = record_of(self.sif)
        try:
            return (bool(record) and self.options.compression in (None, record['compression'])
                    and record['inputs'] == self.inputs() and record['sif-sha256'] == sha256_of(self.sif))
        except OSError:
            return False

    # ---- before anything is done -----------------------------------------------------------------------------------

    def problems(self):
        """Return why this machine cannot build the image (list of str), empty if it seems to be able to."""
        found = []
        machine = 'aarch64' if self.entry['family'] == 'alps' else 'x86_64'
        if platform.machine() != machine:
            found.append(f"the image is for {machine}, this machine is {platform.machine()}")
        try:
            self.engine = engines.choose(self.options.engine)
            if 'debian' in self.entry['base']:
                fetch.base_command(self.entry['base']['debian'])
        except ImageError as err:
            found.append(str(err))
        return found + self.not_here() + self.not_writable() + self.too_small()

    def not_here(self):
        """Return why this is no place to build the image by what its site says (list of str)."""
        site, found = engines.building(), []
        minutes, gigabytes = self.entry['minutes'], self.entry['gigabytes']
        host = platform.node()
        on_login = (any(re.search(pattern, host) for pattern in site.get('login_nodes', []))
                    and 'SLURM_JOB_ID' not in os.environ)
        if on_login and minutes > site['login_minutes']:
            found.append(f"{host} is a login node, on which a build of about {minutes:g} min would disturb others. "
                         "Fetch the sources (osu-container image fetch), and build in a job (PROJECT is yours):\n"
                         f"    {self.as_job(site)}")
        home = os.path.realpath(os.path.expanduser('~'))
        for folder, option in ((self.options.work, '--work'), (self.sif.parent, '--sources')):
            if 2 * gigabytes > site.get('home_gigabytes', 2 * gigabytes) and os.path.realpath(str(folder)).startswith(
                    home + os.sep):
                found.append(f"{folder} is in your home folder, which holds {site['home_gigabytes']:g} GB in all; the "
                             f"build needs about {gigabytes:g} GB. Name a folder of your project: {option} "
                             f"{site['project_folder']}/...")
        return found

    def as_job(self, site):
        """Return the command that builds the image in a job of its site. site: 'building' of it (dict)."""
        words = [PROJECT / 'bin' / 'osu-container', 'image', 'build', self.name, '--sources', self.options.sources,
                 '--work', self.options.work]
        inside = f"module load {site['module']}; {' '.join(shlex.quote(str(word)) for word in words)}"
        return f"sbatch {' '.join(site['job'])} --wrap={shlex.quote(inside)}"

    def not_writable(self):
        """Return where the build could not write (list of str, each with the cure)."""
        problem = outputs.not_replaced(self.sif)
        found = [f"{shown(self.sif)} cannot be written: {problem}. Name another file: --output FILE"] if problem else []
        for folder, option in ((self.sif.parent, '--output FILE'), (self.options.work, '--work FOLDER'),
                               (self.options.sources, '--sources FOLDER')):
            there = next(path for path in (folder, *folder.parents) if path.exists())
            if not os.access(str(there), os.W_OK | os.X_OK):
                found.append(f"you may not write in {there}. Name another place: {option}")
        return list(dict.fromkeys(found))

    def too_small(self):
        """Return why there is not enough space (list of str). The estimate is that of the catalogue."""
        wanted = self.entry['gigabytes']
        found = []
        for folder, what in ((self.options.work, "work folder, --work"), (self.sif.parent, "place of the image")):
            there = next(path for path in (folder, *folder.parents) if path.exists())
            free = shutil.disk_usage(there).free / 1e9
            if free < wanted:
                found.append(f"{self.name} needs about {wanted:g} GB to be built, {folder} ({what}) has {free:.1f} GB "
                             "free. Make room (osu-container image clean removes kept stages) or choose another folder")
                break
        return found

    # ---- the build -------------------------------------------------------------------------------------------------

    def run(self):
        """Do what is needed until the image is there and current. Raises ImageError."""
        options = self.options
        found = self.not_writable()
        if found:
            raise ImageError('\n'.join(found))
        for folder in (options.sources, options.work, self.sif.parent):
            folder.mkdir(parents=True, exist_ok=True)
            not_anothers(folder)  # scripts in it run
        outputs.own(self.log.parent)
        with contextlib.suppress(outputs.OutputError):  # of an older release: `clean` leaves it
            outputs.own(options.work / engines.CACHE)
        if 'image' in self.entry['base']:
            self.build_below()
        self.settle_programs()
        self.tidy()  # also where the image turns out to be current
        if not options.force and self.is_there():
            return
        found = self.problems()
        if found:
            raise ImageError('\n'.join(found))
        outputs.replace(self.log, b'')
        say(f"{self.name}: {self.osu}, by {self.engine.why}; output of the programs in {shown(self.log)}")
        dropped = [name for name in engines.environment(options.work, options.work)[1]
                   if 'BIND' in name or 'MOUNT' in name]
        if dropped:
            say(f"left out of the build, whose image has no such folders: {', '.join(dropped)}")
        with outputs.temporary(f'build-{of_this()}', options.work) as temporary, outputs.temporary(
                f'.build-{of_this()}', self.sif.parent) as beside:
            self.temporary = Path(temporary)
            self.make(Path(beside) / self.sif.name, self.temporary)

    def tidy(self):
        """Remove what builds on this machine left that were killed: half an image, and folders of any image."""
        for path in (*self.sif.parent.glob('.build-*'), *self.options.work.glob('build-*')):
            if is_left(path.name):
                outputs.clear(path)

    def below_folder(self):
        """Return the folder with the files of the image on which this one stands, unpacked if it is not there yet.

        From the SIF Apptainer would unpack them with their owners, for which --fakeroot is not enough.
        """
        folder = self.options.work / BELOW / sha256_of(self.below())[:16]
        if not outputs.is_ours(folder):
            outputs.own(outputs.own(self.options.work / fetch.KEPT) / folder.parent.name)
            with outputs.temporary(f'build-{of_this()}', self.options.work) as temporary:
                made = outputs.make(Path(temporary) / 'below')
                unpack(self.below(), made / 'root')
                outputs.keep(made, folder)
        return folder / 'root'

    def build_below(self):
        """Build the image on which this one stands, with the same options but for those that are for this one only."""
        below = Build(self.entry['base']['image'], self.options._replace(
            output=None, force=False, osu='auto'))
        if below.sif.exists() and not below.record.exists():
            say(f"{shown(below.sif)} was not built by this command: taken as it is")
        else:
            below.run()

    def is_there(self):
        """
        Return whether there is an image that need not or must not be built, after saying so.

        Raises ImageError where a file beside it is somebody else's.
        """
        record = record_of(self.sif)
        if self.is_current():
            say(f"{shown(self.sif)} is current ({self.osu})")
            write_sum(self.sif, record['sif-sha256'])
            return True
        total = sha256_of(self.sif) if self.sif.exists() else None
        beside = Path(f'{self.sif}.sha256')
        if total and record.get('sif-sha256') != total:
            say(f"{shown(self.sif)} is there and was not built by this command: kept. To replace it: --force")
            if not beside.exists():
                write_sum(self.sif, total)
            return True
        for path, ours in ((self.record, record.get('name') == self.name), (beside, bool(record) and text_of(
                beside).split()[:1] == [record['sif-sha256']])):
            if os.path.lexists(str(path)) and not ours:
                raise ImageError(f"{shown(path)} is there, and not of a build of this image: it stays as it is. Move "
                                 "it away, or replace it by --force")
        return False

    def make(self, new, temporary):
        """Make the image in the file new, then put it and its sum and record into place."""
        start = self.entry['base']
        parts = self.stages(self.default_arguments())
        titles = ['sources', *(['base'] if 'debian' in start else []),
                  *(f'stage {stage.name}' for stage in parts), 'sum']
        self.steps = Steps(titles)
        self.get_sources()
        arguments = self.start_from()
        context = temporary / 'context'
        fetch.link_into(context, self.options.sources, self.keys(), self.variant['files'])
        if self.archive:
            fetch.place(self.archive, context / 'sources' / SOURCES['osu']['file'])
        for name, path in self.links.items():
            (context / name).symlink_to(path)
        if self.engine.kind == 'apptainer':
            self.by_stages(self.stages(arguments), context, new, temporary)
        else:
            self.by_dockerfile(parts, arguments, context, new, temporary)
        self.steps.begin('sum')
        total, size, inside = sha256_of(new), new.stat().st_size, packages(new, temporary / 'dpkg')
        self.steps.end()
        built = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds')
        put_into_place(new, self.sif, total, self.record, json.dumps({
            'name': self.name, 'inputs': self.inputs(), 'sif-sha256': total, 'built': built, 'by': self.engine.why,
            'compression': self.packing()[0], 'bytes': size, 'seconds': self.steps.took, 'packages': inside,
            'licences': self.licences()}, indent=2) + '\n')
        say(f"{shown(self.sif)}: {size / 1e6:.0f} MB in {duration(sum(self.steps.took.values()))}, sha256 {total}")

    def licences(self):
        """Return {file name: (name, version, licence)} of the sources in the image; their sha256 are in the inputs."""
        return {SOURCES[key]['file']: [SOURCES[key][part] for part in ('name', 'version', 'licence')]
                for key in self.variant['sources']}

    def default_arguments(self):
        """Return the build arguments that do not depend on the base."""
        return {'OSU_SHA256': self.archive_sum, 'OSU': self.osu} if self.archive else {}

    def stages(self, arguments):
        """Return the stages (list of stages.Stage) of the definition file."""
        return stages.read(self.recipe(), arguments)

    def get_sources(self):
        """Have all sources with the right sums."""
        keys = self.keys()
        lacking = fetch.missing(keys, self.options.sources)
        if lacking:
            self.steps.begin('sources', f"({len(lacking)} to fetch)")
        else:
            self.steps.skip('sources', f"{len(keys)} there, their sha256 is checked")
        fetch.fetch(keys, self.options.sources, self.log)
        self.steps.end()

    def start_from(self):
        """Return the build arguments, with the base that was made or is there already."""
        arguments, start = self.default_arguments(), self.entry['base']
        self.base = json.dumps(self.base_identity(), sort_keys=True)
        if 'image' in start:
            folder = self.named(self.below_folder(), self.below().name)
            return {'BOOTSTRAP': 'localimage', 'BASE': str(folder), **arguments}
        if 'debian' not in start:
            return arguments
        kind, words = fetch.base_command(start['debian'])
        folder = fetch.base_folder(words, self.options.work)
        if outputs.is_ours(folder):
            self.steps.skip('base', f"Debian {start['debian']}, kept from before")
        else:
            self.steps.begin('base', f"(Debian {start['debian']} by {kind})")
            fetch.make_base(kind, words, self.options.work, self.log)
            self.steps.end()
        self.base = folder.name
        return {'BOOTSTRAP': 'localimage', 'BASE': str(self.named(folder / 'root', start['debian'])), **arguments}

    def named(self, path, name):
        """Return a path in the build folder that leads to the path: the image keeps it in its labels, and need not
        name folders of this machine."""
        self.links[name] = path
        return Path(name)

    def by_stages(self, parts, context, new, temporary):
        """Build with Apptainer, one stage after the other; every stage but the last is kept."""
        wanted, kept, keys = stages.outputs(parts), {}, {}
        for stage in parts:
            title = f'stage {stage.name}'
            keys[stage.name] = stage.key(context, (self.base, wanted.get(stage.name)), keys)
            definition = temporary / f'{stage.name}.def'
            definition.write_text(stages.with_kept(stage, kept))
            if stage is parts[-1]:
                self.steps.begin(title)
                self.command(title, engines.sif_command(self.engine, definition, new, *self.packing()),
                             cwd=context)
                self.steps.end()
                return
            folder = self.options.work / STAGES / keys[stage.name]
            kept[stage.name] = f'stage-{stage.name}'
            (context / kept[stage.name]).symlink_to(folder / 'root')
            if outputs.is_ours(folder):
                self.steps.skip(title, 'kept from before')
                continue
            self.steps.begin(title)
            self.keep(title, definition, folder, wanted.get(stage.name, []), context, temporary)
            self.steps.end()

    def keep(self, title, definition, folder, paths, context, temporary):
        """Build a stage and keep what later stages copy from it in the folder.

        As the caller's own files: a build with --fakeroot leaves files of other users, which nobody could remove.
        """
        sif, unpacked = temporary / 'stage.sif', temporary / 'stage'
        self.command(title, engines.sif_command(self.engine, definition, sif, 'none', False, True), cwd=context)
        outputs.make(unpacked)
        unpack(sif, unpacked / 'root', paths)
        outputs.replace(unpacked / 'made.json', json.dumps({'for': self.name, 'stage': title, 'paths': paths}) + '\n')
        outputs.own(outputs.own(self.options.work / fetch.KEPT) / folder.parent.name)
        outputs.keep(unpacked, folder)
        sif.unlink()

    def by_dockerfile(self, parts, arguments, context, new, temporary):
        """Build the Dockerfile to an OCI archive, make the SIF of that, and run the recipe's own test in it."""
        recipe = self.recipe('.Dockerfile')
        if self.archive:
            recipe = recipe.replace(SOURCES['osu']['sha256'], self.archive_sum).replace(
                f'"{SOURCES["osu"]["version"]} C"', f'"{self.osu}"')
        (context / 'Dockerfile').write_text(recipe)
        first, last = (f'stage {stage.name}' for stage in (parts[0], parts[-1]))
        self.steps.begin(first, f'(all stages, by {self.engine.kind}, which keeps its own layers)')
        if arguments.get('BOOTSTRAP') == 'localimage':
            if 'image' in self.entry['base']:
                raise ImageError(f"{self.name} stands on a SIF, from which {self.engine.kind} cannot build. Use "
                                 "--engine apptainer")
            reference = next(line.split()[1] for line in recipe.splitlines() if line.startswith('FROM '))
            imported = temporary / 'base'
            imported.mkdir()
            engines.import_base(self.engine, context / arguments['BASE'], reference, imported,
                                lambda words: self.command('importing the base', words))
        archive = temporary / 'image.tar'
        created = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
        for words in engines.oci_commands(self.engine, 'Dockerfile', f'osu-container/{self.name}:latest', archive,
                                          created):
            self.command(first, words, cwd=context)
        if first != last:
            self.steps.begin(last, '(SIF of the OCI archive, and the test)')
        packer = engines.packer()
        self.command(last, engines.sif_command(packer, engines.archive_reference(self.engine, archive), new,
                                               *self.packing()))
        test = stages.test_section(parts[-1].text)
        if test:
            self.command('the test of the recipe',
                         [packer.program, 'exec', '--cleanenv', '--containall', new, '/bin/sh', '-c', test])
        self.steps.end()

    def command(self, what, words, cwd=None):
        """Run a command of this build with its output in the log."""
        run(what, words, self.log, cwd=cwd,
            env=engines.environment(self.options.work, self.temporary)[0])


def put_into_place(new, sif, total, record, text):
    """
    Put the image new (Path) at sif (Path), with its sha256 (str) beside it and text (str) in the file record (Path).

    One build at a time does it: two builds of one image are not the same byte by byte, and each would fit the other's
    sum as little as the other's record.
    """
    folder = os.open(str(sif.parent), os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        os.replace(str(new), str(sif))
        write_sum(sif, total)
        outputs.replace(record, text)
    finally:
        os.close(folder)


def write_sum(sif, total):
    """Write the file beside an image from which `sha256sum -c` and the easyblock know what it must be."""
    outputs.replace(f'{sif}.sha256', f"{total}  {sif.name}\n")


def kind_built(name, record):
    """Return which benchmark programs (key of the variants) a record (dict) says were built, None for none of today."""
    recipe = Path(record.get('inputs', {}).get('recipe', ''))
    return next((kind for kind, item in IMAGES[name]['variants'].items() if item['rendered'] == recipe.stem), None)


def looks_current(name, record):
    """Return whether a record (dict) says that an image was built from the inputs of today; no SIF is read."""
    kind, inputs = kind_built(name, record), record.get('inputs', {})
    if kind is None:
        return False
    sums = {SOURCES[key]['file']: SOURCES[key]['sha256'] for key in IMAGES[name]['variants'][kind]['sources']
            if key != 'osu' and SOURCES[key]['sha256']}
    try:
        same = inputs.get('recipe-sha256') == stages.sum_of(recipe_text(name, kind))
    except ImageError:  # no HPCCM here: what can be compared decides
        same = True
    return (same and inputs.get('recipe-version') == RECIPE_VERSION
            and all(inputs['sources'].get(file) == total for file, total in sums.items()))


def clean(work, everything=False):
    """
    Remove kept stages, with everything bases too, and what a killed build left.

    Return (the freed bytes, what this command has not made and left (list of Path)).
    """
    work = Path(work)
    patterns = [f'{STAGES}/*', f'{BELOW}/*', 'build-*',
                *([f'{fetch.KEPT}/base-*', engines.CACHE] if everything else [])]
    freed, left = 0, []
    for path in (path for pattern in patterns for path in work.glob(pattern) if path.name != outputs.MARK):
        try:
            done = subprocess.run(['du', '-sk', path], stdout=PIPE, stderr=PIPE, universal_newlines=True)
            outputs.remove(path)
            freed += int(done.stdout.split()[0]) * 1024 if done.stdout else 0
        except outputs.OutputError:
            left.append(path)
    return freed, left
