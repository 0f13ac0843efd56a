/*
 * The program of the images of the pairs: two ranks exchange messages, then each says on one line which MPI it has
 * and which libraries it has loaded. It asks the kernel (/proc/self/maps), nothing of this project.
 *
 * -DMPI4  calls, behind a condition that never holds, a function that came with MPI 4
 * -DSTARTS=PATH  instead of all that, becomes the program PATH
 * -DOPENS=PATH   opens the library PATH, which is this program with -Dmain=begin, and calls it
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined STARTS
int main(int argc, char **argv)
{
    execv(STARTS, argv);
    perror(STARTS);
    return argc != 0;
}
#elif defined OPENS
int main(int argc, char **argv)
{
    void *library = dlopen(OPENS, RTLD_NOW | RTLD_GLOBAL);
    int (*begin)(int, char **) = library ? (int (*)(int, char **)) dlsym(library, "begin") : NULL;
    if (!begin)
        fprintf(stderr, "%s\n", dlerror());
    return begin ? begin(argc, argv) : 1;
}
#else
#include <mpi.h>

#define LARGEST (256 * 1024)

static int rank, size;
static char mine[LARGEST], other[LARGEST];

/* Messages of this many bytes, eager and by rendezvous, with a pattern that each rank can check. */
static void exchange(int bytes, int turn)
{
    int peer = 1 - rank;
    memset(mine, 'a' + (turn + rank) % 20, bytes);
    MPI_Sendrecv(mine, bytes, MPI_CHAR, peer, turn, other, bytes, MPI_CHAR, peer, turn, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int n = 0; n < bytes; n++)
        if (other[n] != 'a' + (turn + peer) % 20) {
            fprintf(stderr, "rank %d: wrong data in a message of %d bytes\n", rank, bytes);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* Paths of loaded libraries, each once: the lines of a file lie together. */
static void loaded(void)
{
    char line[8192], last[8192] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (!path || strcmp(path, last) == 0)
            continue;
        strcpy(last, path);
        path[strcspn(path, "\n")] = 0;
        if (strstr(path, ".so") || strstr(path, "/lib"))
            printf("LOADED %d %s\n", rank, path);
    }
}

int main(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], node[256] = "";
    int length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef MPI4
    if (argc > 100) {
        MPI_Request request;
        MPI_Isendrecv(mine, 1, MPI_CHAR, 0, 0, other, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    }
#endif
    if (size == 2)
        for (int turn = 0; turn < 40; turn++)
            exchange(turn % 2 ? 8 : LARGEST, turn);
    MPI_Get_library_version(library, &length);
    for (char *c = library; *c; c++)
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    if (getenv("SLURMD_NODENAME"))
        strncpy(node, getenv("SLURMD_NODENAME"), sizeof node - 1);
    loaded();
    printf("RANK %d of %d on %s: %.60s\n", rank, size, node, library);
    fflush(stdout);
    MPI_Finalize();
    printf("ENDED %d\n", rank);
    return 0;
}
#endif
