"""
Makes a small archive with the layout and the build interface of the OSU Micro-Benchmarks
archive.

It exercises the way from the archive to C programs where the real archive cannot be had. The
programs measure, and print in the format of the real ones, but say in their first line that they
are not these.

    python3 -m tests.helpers.osu_archive FILE.tar.gz        writes the archive and prints its sha256
"""

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

from osu_container.build.recipes.versions import SOURCES

#: The release that everything here is for, and the name of its archive
RELEASE, ARCHIVE = SOURCES['osu']['version'], SOURCES['osu']['file']
PROGRAMS = ('osu_bw', 'osu_latency')

CONFIGURE = """\
#!/bin/sh
# Takes what the real configure takes: --prefix=DIR, CC=..., CXX=..., CFLAGS=..., from arguments or the environment.
set -e
prefix=/usr/local
for argument in "$@"; do
    case $argument in
        --prefix=*) prefix=${argument#*=} ;;
        CC=*) CC=${argument#*=} ;;
        CFLAGS=*) CFLAGS=${argument#*=} ;;
        LDFLAGS=*) LDFLAGS=${argument#*=} ;;
        LIBS=*) LIBS=${argument#*=} ;;
        --enable-rcclomb) rccl='c/xccl/collective/osu_xccl_allreduce' ;;
    esac
done
CC=${CC:-mpicc}
printf '#include <mpi.h>\\nint main(void) { return MPI_SUCCESS; }\\n' >conftest.c
if ! $CC -o conftest conftest.c >config.log 2>&1; then
    cat config.log >&2
    echo "configure: error: $CC cannot build MPI programs" >&2
    exit 77
fi
rm -f conftest conftest.c
{
    printf 'prefix = %s\\nCC = %s\\nCFLAGS = %s\\n' "$prefix" "$CC" "${CFLAGS--g -O2}"
    printf 'LDFLAGS = %s\\nLIBS = %s\\nrccl = %s\\n' "${LDFLAGS-}" "${LIBS-}" "${rccl-}"
    cat Makefile.in
} >Makefile
"""

MAKEFILE = """\
folder = $(DESTDIR)$(prefix)/libexec/osu-micro-benchmarks/mpi/pt2pt
programs = c/mpi/pt2pt/osu_bw c/mpi/pt2pt/osu_latency $(rccl)

all: $(programs)

%: %.c c/util/small.h
\t$(CC) $(CFLAGS) $(LDFLAGS) -Ic/util -o $@ $< $(LIBS)

install: all
\tmkdir -p "$(folder)"
\tcp $(programs) "$(folder)"

.PHONY: all install
"""

HEADER = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long first = 1, last = 1 << 22, loops = 100, skip = 10;
static char *buffer;
static int rank, check;

static void usage(const char *name)
{
    printf("Usage: %s [options] [RANK0 RANK1]\\n  RANK0 and RANK1: H (host memory)\\n"
           "  -m [MIN:]MAX  message sizes\\n  -i ITER  iterations\\n  -x ITER  warm-up iterations\\n"
           "  -c  check what arrives\\n", name);
}

/* Reads the arguments, starts MPI and prints the head. Wrong arguments end the program before MPI is started. */
static void begin(int argc, char **argv, const char *title, const char *column)
{
    int i, size;

    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
            usage(argv[0]);
            exit(0);
        } else if (!strcmp(argv[i], "-m") && i + 1 < argc) {
            char *colon = strchr(argv[++i], ':');
            if (colon)
                first = atol(argv[i]);
            last = atol(colon ? colon + 1 : argv[i]);
        } else if (!strcmp(argv[i], "-i") && i + 1 < argc) {
            loops = atol(argv[++i]);
        } else if (!strcmp(argv[i], "-x") && i + 1 < argc) {
            skip = atol(argv[++i]);
        } else if (!strcmp(argv[i], "-c")) {
            check = 1;
        } else if (!strcmp(argv[i], "D") || !strcmp(argv[i], "M")) {
            fprintf(stderr, "%s: built without GPU support, %s is not possible\\n", argv[0], argv[i]);
            exit(1);
        } else if (strcmp(argv[i], "H")) {
            fprintf(stderr, "%s: unknown argument %s\\n", argv[0], argv[i]);
            usage(argv[0]);
            exit(1);
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        if (rank == 0)
            fprintf(stderr, "This test requires exactly two processes\\n");
        MPI_Finalize();
        exit(1);
    }
    buffer = calloc(last ? last : 1, 1);
    if (rank == 0) {
        printf("# Test archive, not the OSU Micro-Benchmarks: %s\\n", title);
        printf("# Datatype: MPI_CHAR.\\n# Size      %s%s\\n", column, check ? "        Validation" : "");
        fflush(stdout);
    }
}

/* Rank 0 prints the line of a size. With -c one more message goes each way first, and what arrives is looked at. */
static void line(long size, double value)
{
    int wrong = 0, wrong_there = 0;
    long i;

    if (check) {
        for (i = 0; i < size; i++)
            buffer[i] = (char)(rank == 0 ? i * 7 + size : 0);
        if (rank == 0) {
            MPI_Send(buffer, size, MPI_CHAR, 1, 200, MPI_COMM_WORLD);
            memset(buffer, 0, size);
            MPI_Recv(buffer, size, MPI_CHAR, 1, 201, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_CHAR, 0, 200, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (i = 0; i < size; i++)
            wrong |= buffer[i] != (char)(i * 7 + size);
        if (rank == 1)
            MPI_Send(buffer, size, MPI_CHAR, 0, 201, MPI_COMM_WORLD);
        MPI_Reduce(&wrong, &wrong_there, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%-10ld%18.2f%18s\\n", size, value, !check ? "" : wrong_there ? "Fail" : "Pass");
    fflush(stdout);
}

static int end(void)
{
    free(buffer);
    MPI_Finalize();
    return 0;
}
"""

BANDWIDTH = """\
#include "small.h"
#define WINDOW 64

int main(int argc, char **argv)
{
    MPI_Request requests[WINDOW];
    long size, i, j;

    begin(argc, argv, "MPI Bandwidth Test", "Bandwidth (MB/s)");
    for (size = first; size <= last; size = size ? 2 * size : 1) {
        double start = 0, seconds;
        MPI_Barrier(MPI_COMM_WORLD);
        for (i = 0; i < loops + skip; i++) {
            if (i == skip)
                start = MPI_Wtime();
            for (j = 0; j < WINDOW; j++) {
                if (rank == 0)
                    MPI_Isend(buffer, size, MPI_CHAR, 1, 100, MPI_COMM_WORLD, &requests[j]);
                else
                    MPI_Irecv(buffer, size, MPI_CHAR, 0, 100, MPI_COMM_WORLD, &requests[j]);
            }
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            if (rank == 0)
                MPI_Recv(buffer, 1, MPI_CHAR, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(buffer, 1, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
        }
        seconds = MPI_Wtime() - start;
        line(size, size / 1e6 * loops * WINDOW / seconds);
    }
    return end();
}
"""

LATENCY = """\
#include "small.h"

int main(int argc, char **argv)
{
    long size, i;

    begin(argc, argv, "MPI Latency Test", "Avg Latency(us)");
    for (size = first; size <= last; size = size ? 2 * size : 1) {
        double start = 0, seconds;
        MPI_Barrier(MPI_COMM_WORLD);
        for (i = 0; i < loops + skip; i++) {
            if (i == skip)
                start = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(buffer, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(buffer, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(buffer, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
            }
        }
        seconds = MPI_Wtime() - start;
        line(size, seconds * 1e6 / (2.0 * loops));
    }
    return end();
}
"""

#: Built where configure gets --enable-rcclomb
RCCL = """\
#include <mpi.h>
int ncclGetUniqueId(void *);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return ncclGetUniqueId(argv);
}
"""

FILES = {
    'configure': CONFIGURE,
    'Makefile.in': MAKEFILE,
    'COPYRIGHT': "Made by the tests of this project, under its licence.\n",
    'c/util/small.h': HEADER,
    'c/mpi/pt2pt/osu_bw.c': BANDWIDTH,
    'c/mpi/pt2pt/osu_latency.c': LATENCY,
    'c/xccl/collective/osu_xccl_allreduce.c': RCCL,
}


def make_archive(path, version=RELEASE):
    """Write the archive, the same bytes at every call, and return its sha256 (64 hex digits).

    path: file to write, .tar.gz; version: that in the name of the archive's folder.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for name, text in FILES.items():
            member = tarfile.TarInfo(f'osu-micro-benchmarks-{version}/{name}')
            member.size = len(text.encode())
            member.mode = 0o755 if name == 'configure' else 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
    content = gzip.compress(plain.getvalue(), mtime=0)
    Path(path).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(make_archive(sys.argv[1]))
