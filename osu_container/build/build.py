"""
Build one image: sources, base, Apptainer or SingularityCE, list of packages, sha256.

Downloads and bases are kept for later builds. A build that fails or is interrupted leaves an older
image unchanged.
"""

import datetime
import hashlib
import json
import os
import platform
import pwd
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from osu_container.base import outputs
from osu_container.base.files import require_own_folder
from osu_container.build import ImageBuildError, fetch
from osu_container.build.catalogue import (
    IMAGES,
    PROJECT,
    RECIPE_VERSION,
    SOURCES,
    compute_sha256,
    find_command,
    format_path,
    load_recipe,
    read_build_record,
)
from osu_container.build.installed import list_packages, unpack_image
from osu_container.build.progress import print_progress, run
from osu_container.image.sif import ImageError as SifError
from osu_container.install.image_build import read_sha256_file


class BuildOptions(NamedTuple):
    """Options of `osu-container image build`, see its --help. Paths are absolute."""

    osu: str = 'auto'
    osu_archive: Path = None
    sources: Path = Path()
    sourcepath: tuple = ()
    work: Path = Path()
    output: Path = None
    force: bool = False


class Build:
    """The build of one named image."""

    def __init__(self, name, options):
        """Settle paths; nothing is read or written yet. name: of the catalogue."""
        self.name, self.options, self.entry = name, options, IMAGES[name]
        self.sif = options.output or options.sources / f'{name}.sif'
        self.log = options.work / 'log' / f'image-{name}.log'
        self.archive = self.kind = self.variant = self.osu = None
        self.archive_sum = SOURCES['osu']['sha256']

    # ---- what goes in ----------------------------------------------------------------------------------------------

    def choose_programs(self):
        """Choose the benchmark programs of the image and find their archive. Raises ImageError."""
        asked, variants, archive = (
            self.options.osu,
            self.entry['variants'],
            self.options.osu_archive,
        )
        if asked not in ('auto', *variants):
            raise ImageBuildError(
                f"--osu {asked}: {self.name} is built with {' or '.join(variants)}"
            )
        if archive and ('c' not in variants or asked not in ('auto', 'c')):
            raise ImageBuildError(
                f"--osu-archive: {self.name} with --osu {asked} has no programs in C. Leave it out"
            )
        if archive:
            self.archive_sum = self.verify_archive(archive)
        elif asked in ('auto', 'c') and 'c' in variants:
            archive = self.find_archive(needed=asked == 'c' or len(variants) == 1)
        default = 'c' if archive else next(kind for kind in variants if kind != 'c')
        self.select_variant(default if asked == 'auto' else asked, archive)

    def verify_archive(self, archive):
        """
        Return the sha256 of an archive that the user named: that in FILE.sha256, or that of the
        release.
        """
        if not archive.is_file():
            raise ImageBuildError(
                f"--osu-archive: there is no file {archive}. Name the archive of the OSU "
                "Micro-Benchmarks, or leave it out"
            )
        try:
            wanted = read_sha256_file(f'{archive}.sha256') or SOURCES['osu']['sha256']
        except SifError as err:
            raise ImageBuildError(str(err)) from err
        fetch.require_sha256(
            archive,
            wanted,
            f"If this archive is meant: (cd {archive.parent} && sha256sum {archive.name} "
            f">{archive.name}.sha256)",
        )
        return wanted

    def find_archive(self, needed):
        """
        Return the path of the OSU archive, None if it is not needed (bool) and cannot be
        downloaded.
        """
        options, source = self.options, SOURCES['osu']
        found = fetch.find_archive(options.sourcepath)
        if found:
            return found
        try:
            fetch.download_sources(['osu'], options.sources, self.log)
            return options.sources / source['file']
        except ImageBuildError as err:
            if needed:
                raise
            print_progress(str(err).split('\n')[0])
            print_progress(
                "using mpi4py's ports of the benchmarks, not the C programs. For those put "
                f"{source['file']} into {format_path(options.sources)} and repeat the command"
            )
            return None

    def select_variant(self, kind, archive=None):
        """Take a variant of the image. archive: path of the C programs' archive."""
        self.kind, self.variant, self.archive = kind, self.entry['variants'][kind], archive
        if archive:
            version = re.search(r'-(\d[\d.]*)\.t', archive.name)
            is_release = self.archive_sum == SOURCES['osu']['sha256']
            self.osu = (
                SOURCES['osu']['version']
                if is_release
                else version.group(1)
                if version
                else f'archive {self.archive_sum[:12]}'
            ) + ' C'
        else:
            self.osu = f"mpi4py {SOURCES['mpi4py-source']['version']} {'ports' if kind == 'mpi4py' else kind}"

    def list_source_keys(self):
        """
        Return the keys (list) of the sources to fetch. The OSU archive may be the user's own
        file.
        """
        return [key for key in self.variant['sources'] if not (key == 'osu' and self.archive)]

    def collect_inputs(self):
        """
        Return what the image depends on, as a dict of plain values: the same inputs need no new
        build.
        """
        sums = {
            SOURCES[key]['file']: SOURCES[key]['sha256'] or SOURCES[key]['commit']
            for key in self.list_source_keys()
        }
        if self.archive:
            sums[self.archive.name] = self.archive_sum
        sums.update(
            (Path(name).name, compute_sha256(PROJECT / name)) for name in self.variant['files']
        )
        base = dict(self.entry['base'])
        if 'image' in base:
            base['inputs'] = read_build_record(self.resolve_base_image()).get('inputs')
        return {
            'recipe-sha256': hashlib.sha256(load_recipe(self.name, self.kind).encode()).hexdigest(),
            'recipe-version': RECIPE_VERSION,
            'osu': self.osu,
            'sources': sums,
            'base': base,
        }

    def resolve_base_image(self):
        """Return the path of the SIF on which this image is built."""
        return self.options.sources / f"{self.entry['base']['image']}.sif"

    # ---- the build -------------------------------------------------------------------------------------------------

    def find_problems(self):
        """
        Return why this machine cannot build the image (list of str), empty if it seems to be
        able to.
        """
        machine = 'aarch64' if self.entry['family'] == 'alps' else 'x86_64'
        found = (
            []
            if platform.machine() == machine
            else [f"the image is for {machine}, this machine is {platform.machine()}"]
        )
        for asked in (
            (select_build_runtime, fetch.find_mmdebstrap)
            if 'debian' in self.entry['base']
            else (select_build_runtime,)
        ):
            try:
                asked()
            except ImageBuildError as err:
                found.append(str(err))
        return found

    def run(self):
        """Build the image unless it is current. Raises ImageError."""
        options, problem = self.options, outputs.find_replacement_problem(self.sif)
        if problem:
            raise ImageBuildError(f"{self.sif}: {problem}. Name another file: --output FILE")
        for folder in (options.sources, self.log.parent, self.sif.parent):
            folder.mkdir(parents=True, exist_ok=True)
            require_own_folder(folder)  # scripts in it run
        if 'image' in self.entry['base']:
            below = Build(
                self.entry['base']['image'], options._replace(output=None, force=False, osu='auto')
            )
            below.run()
        self.choose_programs()
        inputs = self.collect_inputs()
        if self.sif.exists() and not options.force and self.is_kept(inputs):
            return
        found = self.find_problems()
        if found:
            raise ImageBuildError('\n'.join(found))
        outputs.replace_file(self.log, b'')
        print_progress(
            f"building {self.name}: {self.osu}; output of the programs in {format_path(self.log)}"
        )
        with tempfile.TemporaryDirectory(
            prefix='build-', dir=str(options.work)
        ) as work, tempfile.TemporaryDirectory(
            prefix='.build-', dir=str(self.sif.parent)
        ) as beside:
            new = Path(beside) / self.sif.name
            self.build_sif(new, Path(work))
            total, inside = compute_sha256(new), list_packages(new, Path(work) / 'dpkg')
            os.replace(str(new), str(self.sif))
        outputs.replace_file(f'{self.sif}.sha256', f"{total}  {self.sif.name}\n")
        built = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds')
        outputs.replace_file(
            f'{self.sif}.json',
            json.dumps(
                {
                    'name': self.name,
                    'inputs': inputs,
                    'sif-sha256': total,
                    'built': built,
                    'packages': inside,
                    'licences': {
                        SOURCES[key]['file']: [
                            SOURCES[key][part] for part in ('name', 'version', 'licence')
                        ]
                        for key in self.variant['sources']
                    },
                },
                indent=2,
            )
            + '\n',
        )
        print_progress(f"{format_path(self.sif)} is built, sha256 {total}")

    def is_kept(self, inputs):
        """
        Return whether the existing image stays: it is current, or was not built by this command.
        """
        record = read_build_record(self.sif)
        if record.get('sif-sha256') != compute_sha256(self.sif):
            print_progress(
                f"{format_path(self.sif)} exists and was not built by this command: it is kept. To replace it: --force"
            )
            return True
        if record['inputs'] == inputs:
            print_progress(f"{format_path(self.sif)} is current ({self.osu})")
            return True
        return False

    def build_sif(self, new, work):
        """Build the image as the file new. work: folder for temporary files."""
        context = work / 'context'
        print_progress(
            f"fetching {len(self.list_source_keys())} sources, or checking those that exist"
        )
        fetch.download_sources(self.list_source_keys(), self.options.sources, self.log)
        links = {
            f"sources/{SOURCES[key]['file']}": self.options.sources / SOURCES[key]['file']
            for key in self.list_source_keys()
        }
        links.update((name, PROJECT / name) for name in self.variant['files'])
        arguments = {}
        if self.archive:
            links[f"sources/{SOURCES['osu']['file']}"] = self.archive
            arguments = {'OSU_SHA256': self.archive_sum, 'OSU': self.osu}
        base = self.prepare_base(work)
        if base:  # by a short name: the image keeps the name in its labels
            links['base'] = base
            arguments.update(BOOTSTRAP='localimage', BASE='base')
        for name, path in links.items():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            (context / name).symlink_to(path)
        recipe = load_recipe(self.name, self.kind)
        (context / 'image.def').write_text(recipe)
        program, how = select_build_runtime()
        words = [program, 'build', *how, *select_compression(program, self.entry)]
        for name, value in arguments.items():
            if f'{{{{ {name} }}}}' in recipe:
                words += ['--build-arg', f'{name}={value}']
        print_progress(f"building the SIF with {Path(program).name}")
        run(
            'the build',
            [*words, new, 'image.def'],
            self.log,
            cwd=context,
            env=prepare_environment(self.options.work, work),
        )

    def prepare_base(self, work):
        """
        Return the folder from which the image starts, None if it starts from a container
        registry.
        """
        start = self.entry['base']
        if 'debian' in start:
            return fetch.make_debian_base(start['debian'], self.options.work, self.log)
        if 'image' in start:
            # Apptainer would unpack the SIF with its owners, for which --fakeroot does not suffice
            unpack_image(self.resolve_base_image(), work / 'below')
            return work / 'below'
        return None


# ---- Apptainer or SingularityCE


def select_build_runtime():
    """
    Return the path of apptainer or singularity, and its options (list) for a build by this user.
    Raises ImageError.

    SingularityCE builds for an ordinary user with PRoot (docs.sylabs.io, SingularityCE 4.1,
    "Unprivileged proot builds"); Apptainer uses --fakeroot.
    """
    program = find_command('apptainer', 'singularity')
    if not program:
        raise ImageBuildError(
            "neither apptainer nor singularity is on PATH. Run "
            "tools/workstation/prerequisites.sh, or install "
            "one"
        )
    if has_all_rights():
        return program, []
    version = subprocess.run(
        [program, '--version'], stdout=subprocess.PIPE, universal_newlines=True
    ).stdout
    if not version.startswith('singularity-ce') or has_subuid_entry():
        return program, ['--fakeroot']
    if not find_command('proot'):
        raise ImageBuildError(
            "proot is not on PATH, and SingularityCE needs it for a build by a user who has no line in "
            "/etc/subuid. Load the module that has it (on LUMI: module load LUMI PRoot), or build on "
            "another machine and copy the SIF"
        )
    return program, []


def has_all_rights():
    """Return whether this user is a root that has all capabilities."""
    status = dict(
        line.split(':', 1)
        for line in Path('/proc/self/status').read_text().splitlines()
        if ':' in line
    )
    last = int(Path('/proc/sys/kernel/cap_last_cap').read_text())
    return os.geteuid() == 0 and int(status['CapPrm'], 16) == (1 << last + 1) - 1


def has_subuid_entry():
    """
    Return whether /etc/subuid has a line for this user, which --fakeroot of SingularityCE needs.
    """
    path, user = Path('/etc/subuid'), pwd.getpwuid(os.geteuid())
    lines = path.read_text().splitlines() if path.exists() else []
    return any(line.split(':')[0] in (user.pw_name, str(user.pw_uid)) for line in lines)


def select_compression(program, entry):
    """
    Return the options for how the image is packed.

    zstd starts faster, and was tried with images of Debian's packages. Those that start from a
    registry are for LUMI and Alps, whose runtimes mount them by the kernel: nobody has tried zstd
    there.
    """
    while 'image' in entry['base']:
        entry = IMAGES[entry['base']['image']]
    known = subprocess.run(
        [program, 'build', '--help'], stdout=subprocess.PIPE, universal_newlines=True
    ).stdout
    if 'debian' in entry['base'] and '--mksquashfs-args' in known:
        return ['--mksquashfs-args', '-comp zstd -Xcompression-level 9']
    return []


#: Variables of the runtime that a build keeps: where its files are, how a registry is reached
KEPT_VARIABLES = re.compile(
    r'(APPTAINER|SINGULARITY)_(CACHEDIR|CONFIGDIR|DISABLE_CACHE|NOHTTPS|(DOCKER|LOGIN)_\w+)'
)
#: What changes an image or its test: binds, whose folders an image lacks while it is built (LUMI
#: training 2026-04, 205-Containers.md); a job, in which mpiexec of the image's test would start its
#: ranks by srun (MPICH's Hydra, seen with 4.2.3); settings of MPI and libfabric for the site's
#: network, on which no test runs.
DROPPED_VARIABLES = re.compile(
    r'(APPTAINER|SINGULARITY)(_|ENV_)|(SLURM|PMI|PMIX|PALS|HYDRA|FI|MPICH|MPIR_CVAR|OMPI|'
    r'PRTE|UCX|NCCL|RCCL)_'
)


def prepare_environment(work, temporary):
    """
    Return the environment (dict) of a build, without the job and the binds of the caller.

    temporary: folder for its temporary files; work: for its cache, unless the user has named
    another: /tmp and the home folder may be small, in memory or under a quota.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not DROPPED_VARIABLES.match(name) or KEPT_VARIABLES.fullmatch(name)
    }
    for prefix in ('APPTAINER', 'SINGULARITY'):
        kept[f'{prefix}_TMPDIR'] = str(temporary)
        kept.setdefault(f'{prefix}_CACHEDIR', str(Path(work) / 'cache'))
    return kept
