/*
 * A program that notices a wrong binary interface: it uses what differs between the interfaces of MPI libraries
 * (handles and constants, the layout of MPI_Status, derived types, operations of its own) and checks every result.
 *
 * It runs for the seconds that its argument says, then each rank prints "rank R of N: LIBRARY". Ends with 1 on the first
 * wrong result.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void larger(void *in, void *inout, int *length, MPI_Datatype *type)
{
    double *a = in, *b = inout;
    check(*type == MPI_DOUBLE, "type handed to an operation");
    for (int n = 0; n < *length; n++)
        b[n] = a[n] > b[n] ? a[n] : b[n];
}

/* A column of a matrix goes round the ring; the status says who sent how much under which tag. */
static void ring(void)
{
    double mine[4][4], left[4];
    int count, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Datatype column;
    MPI_Status status;
    MPI_Request request;

    for (int row = 0; row < 4; row++)
        for (int col = 0; col < 4; col++)
            mine[row][col] = 100 * rank + 10 * row + col;
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Isend(&mine[0][2], 1, column, to, 17, MPI_COMM_WORLD, &request);
    MPI_Recv(left, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    check(status.MPI_SOURCE == from && status.MPI_TAG == 17 && count == 4, "status of a message");
    for (int row = 0; row < 4; row++)
        check(left[row] == 100 * from + 10 * row + 2, "column of a matrix");
    check(request == MPI_REQUEST_NULL, "request after waiting");
    MPI_Type_free(&column);
}

static void collectives(void)
{
    int *out = malloc(size * sizeof(int)), *in = malloc(size * sizeof(int)), sum, half, halves;
    double value = rank, most = -1;
    MPI_Op op;
    MPI_Comm part;

    for (int n = 0; n < size; n++)
        out[n] = 1000 * rank + n;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int n = 0; n < size; n++)
        check(in[n] == 1000 * n + rank, "MPI_Alltoall");
    MPI_Allreduce(MPI_IN_PLACE, memcpy(&sum, &rank, sizeof(int)), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size * (size - 1) / 2, "MPI_Allreduce in place");
    MPI_Op_create(larger, 1, &op);
    MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    check(most == size - 1, "an operation of the program");
    MPI_Op_free(&op);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : MPI_UNDEFINED, rank, &part);
    check((part == MPI_COMM_NULL) == (rank % 2 == 0), "MPI_Comm_split");
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &half);
        MPI_Comm_free(&part);
    }
    halves = rank % 2 ? half : 0;
    check(halves == (rank % 2 ? size / 2 : 0), "size of a communicator");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], text[MPI_MAX_ERROR_STRING];
    int length, going = 1;
    double end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
    while (going) {
        ring();
        collectives();
        going = MPI_Wtime() < end;
        MPI_Bcast(&going, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    check(MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a rank that is not there");
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    check(length > 0, "MPI_Error_string");
    MPI_Get_library_version(library, &length);
    for (char *c = library; *c; c++)  /* on one line; Intel MPI's begins with a word, MPICH's has tabs */
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    printf("rank %d of %d: %.60s\n", rank, size, library);
    MPI_Finalize();
    return 0;
}
