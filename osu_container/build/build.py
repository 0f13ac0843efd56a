"""Build a container image as a SIF file, and write its sha256 and its package list.

Downloaded sources and Debian base systems are kept for later builds. If a build fails or is
interrupted, an existing image remains unchanged.
"""

import hashlib
import json
import os
import platform
import pwd
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from osu_container.base import outputs
from osu_container.base.files import read_text, require_own_folder
from osu_container.base.places import find_project_path
from osu_container.build import ImageBuildError, fetch, print_progress, run
from osu_container.build.catalogue import (
    IMAGES,
    find_command,
    format_path,
    load_recipe,
    read_build_record,
)
from osu_container.build.installed import list_packages, unpack_image
from osu_container.build.recipes.versions import MPI4PY_VERSION, RECIPE_VERSION, SOURCES
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError as SifError
from osu_container.install.image_build import read_sha256_file


class BuildOptions(NamedTuple):
    """Options of `osu-container image build`; all paths are absolute."""

    #: benchmark programs: 'auto', 'c', 'mpi4py' or 'python'
    osu: str = 'auto'
    #: archive of the C benchmarks that the user named, None to search for the archive
    osu_archive: Optional[Path] = None
    #: folder of downloads and images
    sources: Path = Path()
    #: folders to search for the archive of the C benchmarks
    sourcepath: Tuple[Path, ...] = ()
    #: folder of base systems, logs and temporary files
    work: Path = Path()
    #: SIF file to write, None for NAME.sif in `sources`
    output: Optional[Path] = None
    #: whether to replace an existing image
    force: bool = False


class Build:
    """The build of one container image that the catalogue lists."""

    #: variant of the image: 'c', 'mpi4py' or 'python', by its benchmark programs
    kind: str
    #: sources, files and recipe arguments of the variant
    variant: Dict[str, Any]
    #: archive of the C benchmarks, None for an image with the mpi4py ports
    archive: Optional[Path]
    #: release and kind of the benchmark programs, as in the label of the image
    osu: str

    def __init__(self, name: str, options: BuildOptions) -> None:
        """Set the paths for the image `name` of the catalogue, without reading or writing files."""
        self.name, self.options, self.entry = name, options, IMAGES[name]
        self.sif = options.output or options.sources / f'{name}.sif'
        self.log = options.work / 'log' / f'image-{name}.log'
        self.archive_sum = SOURCES['osu']['sha256']

    def choose_programs(self) -> None:
        """Choose the benchmark programs of the image and find the archive of the C benchmarks.

        Raises ImageBuildError if the user's options exclude each other, or if the archive is needed
        but missing.
        """
        kind, archive = self.options.osu, self.options.osu_archive
        variants = self.entry['variants']
        if kind not in ('auto', *variants):
            raise ImageBuildError(
                f"image {self.name} cannot be built with --osu {kind}. "
                f"Use --osu {' or --osu '.join(variants)}"
            )
        has_c_benchmarks = kind in ('auto', 'c') and 'c' in variants
        if archive and not has_c_benchmarks:
            raise ImageBuildError(
                f"cannot use --osu-archive: the image {self.name} with --osu {kind} contains no C "
                "benchmarks. Omit the option --osu-archive"
            )
        if archive:
            self.archive_sum = self.verify_archive(archive)
        elif has_c_benchmarks:
            archive = self.find_archive(needed=kind == 'c' or len(variants) == 1)
        if kind == 'auto':
            kind = 'c' if archive else next(other for other in variants if other != 'c')
        self.select_variant(kind, archive)

    def verify_archive(self, archive: Path) -> str:
        """Require that the user's archive has the expected sha256, and return the sha256.

        The file ARCHIVE.sha256 contains the expected sha256. If this file does not exist, the
        archive must have the sha256 of the OSU release that this project uses.
        Raises ImageBuildError if the archive does not exist or has a wrong sha256.
        """
        if not archive.is_file():
            raise ImageBuildError(
                f"the file of --osu-archive does not exist: {archive}. Name an archive of the OSU "
                "Micro-Benchmarks, or omit --osu-archive"
            )
        try:
            expected = read_sha256_file(f'{archive}.sha256') or SOURCES['osu']['sha256']
        except SifError as err:
            raise ImageBuildError(str(err)) from err
        fetch.require_sha256(
            archive,
            expected,
            f"To accept this archive, run: (cd {archive.parent} && sha256sum {archive.name} "
            f">{archive.name}.sha256)",
        )
        return expected

    def find_archive(self, needed: bool) -> Optional[Path]:
        """Return the path of the archive with the C benchmarks; download a missing archive.

        needed: whether to raise ImageBuildError if the download fails. If `needed` is false and the
        download fails, the result is None.
        """
        options, source = self.options, SOURCES['osu']
        path = fetch.find_archive(options.sourcepath)
        if path:
            return path
        try:
            fetch.download_sources(['osu'], options.sources, self.log)
            return options.sources / source['file']
        except ImageBuildError as err:
            if needed:
                raise
            print_progress(str(err).split('\n')[0])
            print_progress(
                "the image gets the mpi4py ports (Python versions) of the benchmarks. To get the C "
                f"benchmarks instead, copy {source['file']} into {format_path(options.sources)} "
                "and repeat the command"
            )
            return None

    def select_variant(self, kind: str, archive: Optional[Path] = None) -> None:
        """Select the variant `kind` of the image, and record the variant's benchmark programs.

        kind: kind of the benchmark programs: 'c', 'mpi4py' or 'python'.
        archive: archive of the C benchmarks, None for a variant without C benchmarks.
        """
        self.kind, self.variant, self.archive = kind, self.entry['variants'][kind], archive
        self.osu = f"mpi4py {MPI4PY_VERSION} {'ports' if kind == 'mpi4py' else kind}"
        if archive and self.archive_sum == SOURCES['osu']['sha256']:
            self.osu = f"{SOURCES['osu']['version']} C"
        elif archive:
            versions = re.findall(r'-(\d[\d.]*)\.t', archive.name)
            self.osu = f"{versions[0] if versions else f'archive {self.archive_sum[:12]}'} C"

    def list_source_keys(self) -> List[str]:
        """Return the keys of the sources to download for this image.

        The key of the OSU archive is left out if the archive already exists.
        """
        return [key for key in self.variant['sources'] if not (key == 'osu' and self.archive)]

    def collect_inputs(self) -> Dict[str, Any]:
        """Return a dict of everything that determines the content of the image.

        run() builds an existing image again only if this dict has changed.
        """
        sums = {
            SOURCES[key]['file']: SOURCES[key]['sha256'] or SOURCES[key]['commit']
            for key in self.list_source_keys()
        }
        if self.archive:
            sums[self.archive.name] = self.archive_sum
        for name in self.variant['files']:
            sums[Path(name).name] = compute_sha256(find_project_path(name))
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

    def resolve_base_image(self) -> Path:
        """Return the path of the SIF file on which this image is based."""
        return self.options.sources / f"{self.entry['base']['image']}.sif"

    def find_problems(self) -> List[str]:
        """Return the reasons why this machine cannot build the image, [] without a problem."""
        machine = 'aarch64' if self.entry['family'] == 'alps' else 'x86_64'
        problems = []
        if platform.machine() != machine:
            problems.append(
                f"the image is for the processor type {machine}, but this machine has the type "
                f"{platform.machine()}. Build the image on a machine with the type {machine}"
            )
        checks: List[Callable[[], object]] = [select_build_runtime]
        checks += [fetch.find_mmdebstrap] * ('debian' in self.entry['base'])
        for require_program in checks:
            try:
                require_program()
            except ImageBuildError as err:
                problems.append(str(err))
        return problems

    def run(self) -> None:
        """Build the image, unless the existing image was built from the same inputs.

        Raises ImageBuildError if the image cannot be built.
        """
        options, problem = self.options, outputs.find_replacement_problem(self.sif)
        if problem:
            raise ImageBuildError(
                f"cannot write the image {self.sif}: {problem}. Name another file with the option --output FILE"
            )
        for folder in (options.sources, self.log.parent, self.sif.parent):
            folder.mkdir(parents=True, exist_ok=True)
            require_own_folder(folder)  # because the build runs scripts from this folder
        if 'image' in self.entry['base']:
            base_options = options._replace(output=None, force=False, osu='auto')
            Build(self.entry['base']['image'], base_options).run()
        self.choose_programs()
        inputs = self.collect_inputs()
        if self.sif.exists() and not options.force and self.is_kept(inputs):
            return
        problems = self.find_problems()
        if problems:
            raise ImageBuildError('\n'.join(problems))
        outputs.replace_file(self.log, b'')
        print_progress(f"building {self.name} with {self.osu}; log: {format_path(self.log)}")
        with tempfile.TemporaryDirectory(
            prefix='build-', dir=str(options.work)
        ) as work, tempfile.TemporaryDirectory(
            prefix='.build-', dir=str(self.sif.parent)
        ) as sif_folder:
            new = Path(sif_folder) / self.sif.name
            self.build_sif(new, Path(work))
            sif_sha256, packages = compute_sha256(new), list_packages(new, Path(work) / 'dpkg')
            new.replace(self.sif)
        outputs.replace_file(f'{self.sif}.sha256', f"{sif_sha256}  {self.sif.name}\n")
        sources = [SOURCES[key] for key in self.variant['sources']]
        record = {
            'name': self.name,
            'inputs': inputs,
            'sif-sha256': sif_sha256,
            'built': time.strftime('%Y-%m-%dT%H:%M:%S+00:00', time.gmtime()),
            'packages': packages,
            'licences': {
                source['file']: [source[part] for part in ('name', 'version', 'licence')]
                for source in sources
            },
        }
        outputs.replace_file(f'{self.sif}.json', json.dumps(record, indent=2) + '\n')
        print_progress(f"built {format_path(self.sif)}, sha256 {sif_sha256}")

    def is_kept(self, inputs: Dict[str, Any]) -> bool:
        """Return whether the build keeps the existing image; if yes, print the reason.

        An image is kept if the image is up to date, or if `osu-container image build` did not build
        the image.
        """
        record = read_build_record(self.sif)
        if record.get('sif-sha256') != compute_sha256(self.sif):
            print_progress(
                f"the existing image {format_path(self.sif)} is kept, because `osu-container image "
                "build` did not build this image. To replace the image, add --force"
            )
            return True
        if record['inputs'] == inputs:
            print_progress(f"{format_path(self.sif)} is up to date ({self.osu})")
            return True
        return False

    def build_sif(self, new: Path, work: Path) -> None:
        """Build the image as the SIF file `new`, with temporary files in the folder `work`."""
        context, keys = work / 'context', self.list_source_keys()
        print_progress(f"downloading and checking {len(keys)} sources")
        fetch.download_sources(keys, self.options.sources, self.log)
        links = {name: find_project_path(name) for name in self.variant['files']}
        for key in keys:
            file = SOURCES[key]['file']
            links[f'sources/{file}'] = self.options.sources / file
        arguments = {}
        if self.archive:
            links[f"sources/{SOURCES['osu']['file']}"] = self.archive
            arguments = {'OSU_SHA256': self.archive_sum, 'OSU': self.osu}
        base = self.prepare_base(work)
        if base:  # under a short name, because the labels of the image contain this name
            links['base'] = base
            arguments.update(BOOTSTRAP='localimage', BASE='base')
        for name, path in links.items():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            (context / name).symlink_to(path)
        recipe = load_recipe(self.name, self.kind)
        (context / 'image.def').write_text(recipe)
        program, build_options = select_build_runtime()
        command = [program, 'build', *build_options, *select_compression(program, self.entry)]
        for name, value in arguments.items():
            if f'{{{{ {name} }}}}' in recipe:
                command += ['--build-arg', f'{name}={value}']
        print_progress(f"building the SIF with {Path(program).name}")
        run(
            'the build',
            [*command, new, 'image.def'],
            self.log,
            cwd=context,
            env=prepare_environment(self.options.work, work),
        )

    def prepare_base(self, work: Path) -> Optional[Path]:
        """Return the folder with the base system of the image.

        The result is None if the build downloads the base system from a registry.
        """
        if 'debian' in self.entry['base']:
            release = self.entry['base']['debian']
            return fetch.make_debian_base(release, self.options.work, self.log)
        if 'image' in self.entry['base']:
            # Apptainer would restore the owners of files in the SIF, and --fakeroot is not enough.
            unpack_image(self.resolve_base_image(), work / 'below')
            return work / 'below'
        return None


# ---- Apptainer or SingularityCE


def select_build_runtime() -> Tuple[str, List[str]]:
    """Return the path of apptainer or singularity, and the build options that this user needs.

    For an ordinary user, Apptainer needs the option --fakeroot, and SingularityCE needs the program
    PRoot (docs.sylabs.io, SingularityCE 4.1, "Unprivileged proot builds"). Raises ImageBuildError
    if neither apptainer nor singularity is installed, or if PRoot is needed but missing.
    """
    program = find_command('apptainer', 'singularity')
    if not program:
        raise ImageBuildError(
            "neither apptainer nor singularity is on PATH. Install Apptainer with "
            "tools/workstation/prerequisites.sh"
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
            "the program proot is not on PATH, but SingularityCE needs proot to build images for a user without an "
            "entry in /etc/subuid. Load the module that provides proot (on LUMI: module load LUMI PRoot), or "
            "build the image on another machine and copy the SIF file"
        )
    return program, []


def has_all_rights() -> bool:
    """Return whether this user is root and has all capabilities."""
    permitted = re.findall(r'CapPrm:\s*(\w+)', Path('/proc/self/status').read_text())[0]
    last_capability = int(Path('/proc/sys/kernel/cap_last_cap').read_text())
    return os.geteuid() == 0 and int(permitted, 16) == (1 << last_capability + 1) - 1


def has_subuid_entry() -> bool:
    """Return whether /etc/subuid lists this user.

    Without an entry in /etc/subuid, the option --fakeroot of SingularityCE fails.
    """
    user, lines = pwd.getpwuid(os.geteuid()), read_text('/etc/subuid').splitlines()
    return any(line.split(':')[0] in (user.pw_name, str(user.pw_uid)) for line in lines)


def select_compression(program: str, entry: Dict[str, Any]) -> List[str]:
    """Return the options of `apptainer build` that select the compression of the image.

    The list is empty if the default compression is used. Images that start from Debian packages are
    compressed with zstd, because containers then start faster. Images that start from an image in a
    registry are for LUMI and Alps, where the kernel mounts the SIF file. These images keep the
    default compression, because zstd was not tested with the kernels of LUMI and Alps.
    """
    while 'image' in entry['base']:
        entry = IMAGES[entry['base']['image']]
    help_text = subprocess.run(
        [program, 'build', '--help'], stdout=subprocess.PIPE, universal_newlines=True
    ).stdout
    if 'debian' in entry['base'] and '--mksquashfs-args' in help_text:
        return ['--mksquashfs-args', '-comp zstd -Xcompression-level 9']
    return []


#: Variables of the runtime that a build keeps: its folders, and its access to registries
KEPT_VARIABLES = re.compile(
    r'(APPTAINER|SINGULARITY)_(CACHEDIR|CONFIGDIR|DISABLE_CACHE|NOHTTPS|(DOCKER|LOGIN)_\w+)'
)
#: Variables that a build removes, because they would change the image or its test. Binds fail
#: because the image lacks their folders during the build (LUMI training 2026-04,
#: 205-Containers.md). Inside a job, mpiexec of the image's test would start its ranks with srun
#: (MPICH's Hydra 4.2.3). Settings of MPI and libfabric select the site's network, which the test
#: does not use.
DROPPED_VARIABLES = re.compile(
    r'(APPTAINER|SINGULARITY)(_|ENV_)|(SLURM|PMI|PMIX|PALS|HYDRA|FI|MPICH|MPIR_CVAR|OMPI|'
    r'PRTE|UCX|NCCL|RCCL)_'
)


def prepare_environment(work: Path, temporary: Path) -> Dict[str, str]:
    """Return the environment variables for the build of an image.

    Variables of Slurm, of MPI and of bind mounts are removed. The container runtime writes its
    temporary files to the folder `temporary`. The runtime's cache is in the folder `work`, unless
    the user has set another folder for the cache. /tmp and the home folder may be too small for
    temporary files and cache.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not DROPPED_VARIABLES.match(name) or KEPT_VARIABLES.fullmatch(name)
    }
    for prefix in ('APPTAINER', 'SINGULARITY'):
        environment[f'{prefix}_TMPDIR'] = str(temporary)
        environment.setdefault(f'{prefix}_CACHEDIR', str(Path(work) / 'cache'))
    return environment
