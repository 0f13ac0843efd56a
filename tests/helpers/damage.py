"""
Damage by chance, for all that `osu-container check` reads: ELF files, ld.so.cache, scripts and a SIF.

python -m tests.helpers.damage FOLDER SEED COUNT judges COUNT mutants of what samples() has put into FOLDER, all in one
process of little memory, and prints a line for each that ended in anything else than an answer or a plain error.
"""
import contextlib
import io
import os
import random
import resource
import shutil
import signal
import struct
import sys
import traceback
from pathlib import Path

#: What one process may take for all of its mutants: bytes of memory, seconds for each
MEMORY, SECONDS = 500_000_000, 30
#: Values that lengths, places and counts are set to
ODD = [0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff]
#: Kind of mutant -> path of what is damaged, in the FOLDER
ELF = ['libmpi.so.12', 'libfabric.so.1', 'libc.so.6', 'ld.so', 'program']
IN_IMAGE = ['opt/mpich/lib/libmpi.so.12', 'usr/lib/libfabric.so.1', 'opt/osu/bin/osu_latency', 'etc/ld.so.cache',
            '.singularity.d/env/10-docker2singularity.sh', '.singularity.d/runscript', 'ld.so']
#: What may stand in a script
WORDS = [b'"', b"'", b'`', b'$(', b'${', b'}', b'\\', b'\n', b'\0', b'\xff\xfe', b'<<EOF\n', b';', b'&&', b'if ',
         b'fi\n', b'for ', b'done\n', b'export LD_LIBRARY_PATH=', b'$LD_LIBRARY_PATH', b':',
         b'${X:+:', b'. /opt/other\n',
         b'()', b'{', b'case ', b'esac\n', b'eval ', b'\xc3\xa4', b'A' * 5000, b'${A:-' * 300, b'$((' * 200]


def mutant(chance, data):
    """Return data (bytes) with some damage by chance (random.Random): bits, lengths, copies of parts, cuts."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        size = len(data)
        # most of what is said of places and sizes stands at the begin and at the end
        place = chance.choice([chance.randrange(size), chance.randrange(min(size, 1024)),
                               size - 1 - chance.randrange(min(size, 4096))])
        kind = chance.randrange(10)
        if kind < 3:
            data[place] ^= 1 << chance.randrange(8)
        elif kind < 7:
            width = chance.choice([2, 4, 8])
            value = chance.choice([*ODD, size, size - 1, place, chance.getrandbits(64)])
            place -= place % width
            data[place:place + width] = struct.pack('<Q', value)[:width]
            del data[size:]
        elif kind == 7:
            length = chance.randrange(1, min(size, 512) + 1)
            other = chance.randrange(size)
            data[place:place + length] = data[other:other + length]
        elif kind == 8:
            length = chance.randrange(1, 4096)
            data[place:place + length] = bytes(min(length, size - place))
        elif chance.random() < 0.3:
            del data[chance.randrange(size):]
    return bytes(data)


def script(chance, data):
    """Return a script (bytes) with words put into it that shells know, or damaged as any file."""
    if chance.random() < 0.2:
        return mutant(chance, data)
    for _ in range(chance.randrange(1, 12)):
        place = chance.randrange(len(data) + 1)
        data = data[:place] + chance.choice(WORDS) + data[place + chance.choice([0, 0, 1, 5]):]
    return data


def judged(arguments):
    """Run the command in this process; raise what it raises. Returns its exit code and what it said."""
    from osu_container.cli import main
    out, err = (io.TextIOWrapper(io.BytesIO(), 'ascii', errors='backslashreplace', write_through=True)
                for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(['check', *arguments])
    return code, err.buffer.getvalue().decode()


class TooLong(BaseException):
    """A mutant takes too long. No Exception: nothing that is caught on the way."""


class Samples:
    """The files of a FOLDER that are damaged, and how each kind is read."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.options = (self.folder / 'options').read_text().splitlines()
        self.image, self.kept = self.folder / 'image', self.folder / 'kept'
        self.sif = (self.folder / 'good.sif').read_bytes()
        self.scratch = Path(os.environ['TMPDIR'])
        #: where tables stand in the SIF, and in its squashfs: damage of the contents of files would hardly be noticed
        self.hot = [0, 128, int((self.folder / 'offset').read_text())]

    def of_elf(self, chance):
        """An ELF file by itself, for all that reads one."""
        from osu_container.core.reading import elf, libraries, system, traits
        name = chance.choice(ELF)
        data = mutant(chance, (self.folder / name).read_bytes())
        path = self.scratch / 'mutant'
        path.write_bytes(data)
        with contextlib.suppress(elf.ElfError):
            elf.elf_facts(str(path))
        with contextlib.suppress(ValueError):
            libraries.read_library(str(path))
        with contextlib.suppress(ValueError):
            traits.mpi_traits(data)
        with contextlib.suppress(ValueError):
            traits.fabric_traits(data)
        system.default_folders(data, [])
        system.subfolders(data, ('x86_64', 'GenuineIntel', set()))
        return name

    def of_cache(self, chance):
        """An ld.so.cache by itself."""
        from osu_container.core.reading.system import read_cache
        read_cache(mutant(chance, (self.folder / 'ld.so.cache').read_bytes()), 'Advanced Micro Devices X86-64',
                   ['x86-64-v3'])
        return 'ld.so.cache'

    def of_image(self, chance):
        """A file in the folder of an image."""
        name = chance.choice(IN_IMAGE)
        target = self.image / name
        if name == 'ld.so':
            target = self.image / 'lib64/ld-linux-x86-64.so.2'
        kept = target.read_bytes()
        damage = script if '.singularity.d' in name else mutant
        try:
            target.write_bytes(damage(chance, kept))
            self.check(self.image)
        finally:
            target.write_bytes(kept)
        return name

    def of_sif(self, chance):
        """A SIF."""
        data, place = bytearray(self.sif), chance.choice(self.hot)
        end = min(len(data), place + chance.choice([128, 1200, 4096]))
        if chance.random() < 0.2:
            place, end = len(data) - 8192, len(data)
        part = mutant(chance, bytes(data[place:end]))
        data[place:end] = part if chance.random() < 0.8 else part[:end - place].ljust(end - place, b'\0')
        path = self.scratch / 'mutant.sif'
        path.write_bytes(bytes(data))
        self.check(path)
        return 'SIF'

    def check(self, image):
        """Ask for the verdict on the image (Path). Raises AssertionError if the answer is none of those promised."""
        code, said = judged([str(image), *self.options])
        assert code in (0, 1, 4, 5, 6) and (code != 1 or said.startswith('osu-container check: error: ')), (code, said)


def main(folder, seed, count):
    """Judge mutants; print those that went wrong, and how many were judged."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def too_long(*_):
        raise TooLong
    signal.signal(signal.SIGALRM, too_long)
    samples = Samples(folder)
    for number in range(seed, seed + count):
        chance = random.Random(number)
        kind = chance.choices([samples.of_elf, samples.of_cache, samples.of_image, samples.of_sif], [4, 1, 3, 2])[0]
        signal.alarm(SECONDS)
        try:
            kind(chance)
        except BaseException as err:
            print(f'seed {number}, {kind.__name__}: {err!r}\n{traceback.format_exc()}')
        finally:
            signal.alarm(0)
            for left in samples.scratch.glob('mpicontainer-*'):
                print(f'seed {number}: {left} is left behind')
                shutil.rmtree(left)
    print(f'{count} judged')


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
