/*
 * A GPU of tests only: device memory is RAM that the processor may not touch.
 *
 * One source, several libraries, chosen by -D:
 *   FAKE_CUDA       libcuda.so.1, the driver library of CUDA
 *   FAKE_HIP        libamdhip64.so.6 (or .so.5), the runtime library of HIP, as far as osu-port and MPICH call it
 *   FAKE_CUDART     libcudart.so.13, of which only the version is asked
 *   FAKE_CCL        libnccl.so.2 or librccl.so.1 on top of one of the first two, for ranks on one node
 *   FAKE_HIP_MPI    in front of an MPI that was built without HIP: says that it takes addresses of HIP
 *
 * A block of device memory is a file, mapped twice: at the address that programs get without any right, and again
 * where only this file looks. A program or an MPI that takes a device address for host memory ends in SIGSEGV, as it
 * does on a GPU. Another process maps the same file by a handle (cuIpcOpenMemHandle).
 *
 *   FAKE_GPU_FOLDER    where the files are; needed
 *   FAKE_GPU_COUNT     devices, 2 without it; CUDA_/HIP_/ROCR_VISIBLE_DEVICES hide them
 *   FAKE_GPU_MEMORY    bytes of each device, 1 GiB without it
 *   FAKE_GPU_VERSION   of the driver (12040 is CUDA 12.4), and of HIP
 *   FAKE_GPU_FAIL      NAME=CODE,...: these functions return this error
 *   FAKE_GPU_UNIFIED   1: the processor may touch device memory, as on an APU
 *   FAKE_GPU_WRONG     1: an asynchronous copy from the device, as MPI makes them, has a wrong first byte
 *   FAKE_CUDART_VERSION  of libcudart, 13000 without it
 *   FAKE_CCL_START     seconds that the first communicator takes, as NCCL needs one or two; 0 without it
 *   FAKE_GPU_LOG       file that gets a line "PID NAME" for each function called
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 100, BAD_DEVICE = 101 };
enum { BLOCKS = 4096 };

struct block {
    char *device, *shadow;
    size_t size;
    int number, owner, managed;
};
static struct block blocks[BLOCKS];
static int numbers;
static size_t used;
static int current;

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

/* Note the call; return the error that the function was told to give, else OK. */
static int called(const char *name) {
    const char *log = getenv("FAKE_GPU_LOG"), *fail = setting("FAKE_GPU_FAIL", "");
    if (log) {
        FILE *file = fopen(log, "a");
        if (file) {
            fprintf(file, "%d %s\n", getpid(), name);
            fclose(file);
        }
    }
    for (const char *at = fail; (at = strstr(at, name)); at++)
        if ((at == fail || at[-1] == ',') && at[strlen(name)] == '=')
            return atoi(at + strlen(name) + 1);
    return OK;
}
#define CALLED() do { int told = called(__func__); if (told) return told; } while (0)

/* Return how many devices are visible; where number is one of them, make it the number that the hardware has. */
static int visible(int *number) {
    static const char *hiding[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};
    enum { MOST = 64 };
    int count = atoi(setting("FAKE_GPU_COUNT", "2")), left[MOST];
    for (int n = 0; n < count; n++)
        left[n] = n;
    for (int n = 0; n < 3; n++) {
        const char *shown = getenv(hiding[n]);
        if (shown) { /* numbers up to the first that is none */
            int seen = 0, before[MOST];
            memcpy(before, left, sizeof left);
            while (*shown >= '0' && *shown <= '9' && atoi(shown) < count && seen < MOST) {
                left[seen++] = before[atoi(shown)];
                shown += strcspn(shown, ",");
                shown += *shown == ',';
            }
            count = seen;
        }
    }
    if (number && *number < count)
        *number = left[*number];
    return count;
}
static int devices(void) { return visible(NULL); }

/* As on real machines, the address on the bus does not depend on what is hidden. */
static int address_of(char *name, int size, const char *form, int device) {
    visible(&device);
    snprintf(name, size, form, device + 1);
    return OK;
}

static size_t memory(void) { return (size_t)atoll(setting("FAKE_GPU_MEMORY", "1073741824")); }

static struct block *block_of(const void *address) {
    for (int n = 0; n < BLOCKS; n++)
        if (blocks[n].device && (const char *)address >= blocks[n].device &&
            (const char *)address < blocks[n].device + blocks[n].size)
            return &blocks[n];
    return NULL;
}

/* Return where the bytes of an address really are. */
static char *real(const void *address) {
    struct block *block = block_of(address);
    return block ? block->shadow + ((const char *)address - block->device) : (char *)address;
}

static void file_of(char *path, size_t size, int owner, int number) {
    snprintf(path, size, "%s/device-memory-%d-%d", setting("FAKE_GPU_FOLDER", "/nowhere"), owner, number);
}

static int map(void **address, size_t size, int owner, int number, int managed) {
    char path[512];
    file_of(path, sizeof path, owner, number);
    int mine = owner == getpid(), file = open(path, O_RDWR | (mine ? O_CREAT | O_EXCL : 0), 0600);
    if (file < 0 || (mine && ftruncate(file, size))) {
        perror(path);
        return INVALID;
    }
    for (int n = 0; n < BLOCKS; n++)
        if (!blocks[n].device) {
            int open_to_all = managed || *setting("FAKE_GPU_UNIFIED", "") == '1';
            int rights = open_to_all ? PROT_READ | PROT_WRITE : PROT_NONE;
            blocks[n] = (struct block){mmap(NULL, size, rights, MAP_SHARED, file, 0),
                                       mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), size, number,
                                       owner, managed};
            close(file);
            *address = blocks[n].device;
            return OK;
        }
    return NO_MEMORY;
}

static int give(void **address, size_t size, int managed) {
    if (!size)
        return INVALID;
    size = (size + 4095) / 4096 * 4096;
    if (used + size > memory())
        return NO_MEMORY;
    used += size;
    return map(address, size, getpid(), ++numbers, managed);
}

static void drop(struct block *block) {
    char path[512];
    munmap(block->device, block->size);
    munmap(block->shadow, block->size);
    if (block->owner == getpid()) {
        file_of(path, sizeof path, block->owner, block->number);
        unlink(path);
        used -= block->size;
    }
    memset(block, 0, sizeof *block);
}

static int take_back(void *address) {
    struct block *block = block_of(address);
    if (!block || block->device != address)
        return INVALID;
    drop(block);
    return OK;
}

__attribute__((destructor)) static void at_end(void) {
    for (int n = 0; n < BLOCKS; n++)
        if (blocks[n].device)
            drop(&blocks[n]);
}

static int move_bytes(void *to, const void *from, size_t size) {
    memmove(real(to), real(from), size);
    return OK;
}

static int choose(int device) {
    if (device < 0 || device >= devices())
        return BAD_DEVICE;
    current = device;
    return OK;
}

static const char *meaning(int code) {
    switch (code) {
        case OK: return "no error";
        case INVALID: return "invalid argument";
        case NO_MEMORY: return "out of memory";
        case 35: return "insufficient driver";
        case NO_DEVICE: return "no GPU is detected";
        case BAD_DEVICE: return "invalid device ordinal";
        default: return "an error of the fake GPU";
    }
}

/* What another process opens memory by: 64 bytes, as CUDA and HIP have them. */
typedef struct { int owner, number; size_t size, offset; char rest[40]; } handle;

static int handle_of(handle *made, void *address) {
    struct block *block = block_of(address);
    if (!block)
        return INVALID;
    *made = (handle){block->owner, block->number, block->size, 0, {0}};
    return OK;
}

static int range_of(void **base, size_t *size, void *address) {
    struct block *block = block_of(address);
    if (!block)
        return INVALID;
    if (base)
        *base = block->device;
    if (size)
        *size = block->size;
    return OK;
}

static int move_later(void *to, const void *from, size_t size) {
    move_bytes(to, from, size);
    if (size && block_of(from) && *setting("FAKE_GPU_WRONG", "") == '1')
        *real(to) ^= 1;
    return OK;
}

/* ---- libcuda.so.1 ------------------------------------------------------------------------------------------------ */
#ifdef FAKE_CUDA
int cuInit(unsigned flags) { CALLED(); return devices() ? OK : NO_DEVICE; }
int cuDriverGetVersion(int *version) { CALLED(); *version = atoi(setting("FAKE_GPU_VERSION", "12040")); return OK; }
int cuDeviceGetCount(int *count) { CALLED(); *count = devices(); return OK; }
int cuDeviceGet(int *device, int number) { CALLED(); *device = number; return number < devices() ? OK : BAD_DEVICE; }
int cuDeviceGetName(char *name, int size, int device) { CALLED(); snprintf(name, size, "fake GPU"); return OK; }
int cuDeviceGetPCIBusId(char *name, int size, int device) {
    CALLED();
    return address_of(name, size, "0000:%02d:00.0", device);
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    CALLED();
    visible(&device);
    *value = attribute == 75 ? 9 : attribute == 33 ? device + 1 : 1; /* compute capability 9.1, PCI bus, "yes" */
    return OK;
}
int cuDeviceGetUuid(char *uuid, int device) { CALLED(); visible(&device); memset(uuid, device + 1, 16); return OK; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    CALLED();
    *flags = 0, *active = 1;
    return OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    CALLED();
    *context = (void *)(uintptr_t)(device + 1);
    return device < devices() ? OK : BAD_DEVICE;
}
int cuDevicePrimaryCtxRelease_v2(int device) { CALLED(); return OK; }
int cuDevicePrimaryCtxRelease(int device) { CALLED(); return OK; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
    CALLED();
    *context = (void *)(uintptr_t)(device + 1);
    return choose(device);
}
int cuCtxSetCurrent(void *context) { CALLED(); return context ? choose((int)(uintptr_t)context - 1) : OK; }
int cuCtxGetCurrent(void **context) { CALLED(); *context = (void *)(uintptr_t)(current + 1); return OK; }
int cuCtxGetDevice(int *device) { CALLED(); *device = current; return OK; }
int cuCtxSynchronize(void) { CALLED(); return OK; }
int cuGetErrorString(int code, const char **text) { *text = meaning(code); return OK; }
int cuMemGetInfo_v2(size_t *available, size_t *total) {
    CALLED();
    *total = memory();
    *available = *total - used;
    return OK;
}
int cuMemAlloc_v2(void **address, size_t size) { CALLED(); return give(address, size, 0); }
int cuMemAllocManaged(void **address, size_t size, unsigned flags) { CALLED(); return give(address, size, 1); }
int cuMemFree_v2(void *address) { CALLED(); return take_back(address); }
int cuMemcpy(void *to, const void *from, size_t size) { CALLED(); return move_bytes(to, from, size); }
int cuMemcpyAsync(void *to, const void *from, size_t size, void *stream) { CALLED(); return move_later(to, from, size); }
int cuMemsetD8_v2(void *to, unsigned char value, size_t size) { CALLED(); memset(real(to), value, size); return OK; }
int cuMemHostRegister_v2(void *address, size_t size, unsigned flags) { CALLED(); return OK; }
int cuMemHostUnregister(void *address) { CALLED(); return OK; }
int cuMemGetAddressRange_v2(void **base, size_t *size, void *address) { CALLED(); return range_of(base, size, address); }
int cuPointerGetAttribute(void *data, int attribute, void *address) {
    CALLED();
    struct block *block = block_of(address);
    if (!block)
        return INVALID;
    switch (attribute) {
        case 1: *(void **)data = (void *)(uintptr_t)(current + 1); break;  /* context */
        case 2: *(unsigned *)data = 2; break;                             /* memory type: device */
        case 3: *(void **)data = address; break;                          /* device pointer */
        case 4: *(void **)data = block->managed ? address : NULL; break;  /* host pointer */
        case 7: *(unsigned long long *)data = block->owner * 100000ULL + block->number; break; /* buffer id */
        case 8: *(unsigned *)data = block->managed; break;                /* is managed */
        case 9: *(int *)data = current; break;                            /* device ordinal */
        case 11: *(void **)data = block->device; break;                   /* start of the range */
        case 12: *(size_t *)data = block->size; break;                    /* its size */
        default: *(int *)data = 1;
    }
    return OK;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **data, void *address) {
    for (unsigned n = 0; n < count; n++)
        if (cuPointerGetAttribute(data[n], attributes[n], address))
            memset(data[n], 0, 4);
    return OK;
}
int cuIpcGetMemHandle(handle *made, void *address) { CALLED(); return handle_of(made, address); }
int cuIpcOpenMemHandle_v2(void **address, handle theirs, unsigned flags) {
    CALLED();
    return map(address, theirs.size, theirs.owner, theirs.number, 0);
}
int cuIpcCloseMemHandle(void *address) { CALLED(); return take_back(address); }
/* All is done when a function returns: streams and events have nothing to wait for. */
int cuStreamCreate(void **stream, unsigned flags) { CALLED(); *stream = (void *)1; return OK; }
int cuStreamDestroy_v2(void *stream) { CALLED(); return OK; }
int cuStreamSynchronize(void *stream) { CALLED(); return OK; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { CALLED(); return OK; }
int cuEventCreate(void **event, unsigned flags) { CALLED(); *event = (void *)1; return OK; }
int cuEventDestroy_v2(void *event) { CALLED(); return OK; }
int cuEventRecord(void *event, void *stream) { CALLED(); return OK; }
int cuEventQuery(void *event) { CALLED(); return OK; }
int cuEventSynchronize(void *event) { CALLED(); return OK; }
/* No kernel runs here. */
int cuModuleLoadFatBinary(void **module, const void *image) { CALLED(); *module = (void *)1; return OK; }
int cuModuleUnload(void *module) { CALLED(); return OK; }
int cuModuleGetFunction(void **function, void *module, const char *name) { CALLED(); *function = (void *)1; return OK; }
int cuModuleGetGlobal_v2(void **address, size_t *size, void *module, const char *name) { CALLED(); return 500; }
int cuLaunchKernel(void) { CALLED(); return 801; }
int cuOccupancyMaxPotentialBlockSize(void) { CALLED(); return 801; }
#endif

/* ---- libamdhip64.so.6 -------------------------------------------------------------------------------------------- */
#ifdef FAKE_HIP
int hipInit(unsigned flags) { CALLED(); return devices() ? OK : NO_DEVICE; }
int hipRuntimeGetVersion(int *version) {
    CALLED();
    *version = atoi(setting("FAKE_GPU_VERSION", "60342134"));
    return OK;
}
int hipGetDeviceCount(int *count) { CALLED(); *count = devices(); return *count ? OK : NO_DEVICE; }
int hipDeviceGetPCIBusId(char *name, int size, int device) {
    CALLED();
    return address_of(name, size, "0000:c%d:00.0", device);
}
int hipSetDevice(int device) { CALLED(); return choose(device); }
int hipGetDevice(int *device) { CALLED(); *device = current; return OK; }
int hipDeviceSynchronize(void) { CALLED(); return OK; }
const char *hipGetErrorString(int code) { return meaning(code); }
int hipMemGetInfo(size_t *available, size_t *total) {
    CALLED();
    *total = memory();
    *available = *total - used;
    return OK;
}
int hipMalloc(void **address, size_t size) { CALLED(); return give(address, size, 0); }
int hipMallocManaged(void **address, size_t size, unsigned flags) { CALLED(); return give(address, size, 1); }
int hipFree(void *address) { CALLED(); return take_back(address); }
int hipMemcpy(void *to, const void *from, size_t size, int kind) { CALLED(); return move_bytes(to, from, size); }
int hipMemset(void *to, int value, size_t size) { CALLED(); memset(real(to), value, size); return OK; }
/* What follows is called by MPICH and its Yaksa: nm -u of their objects. */
int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    CALLED();
    return move_later(to, from, size);
}
/* As in HIP 5 (hip_runtime_api.h): 1 is device memory, and managed memory is said apart. */
struct attributes { int type, device; void *device_pointer, *host_pointer; int managed; unsigned flags; };
int hipPointerGetAttributes(struct attributes *found, void *address) {
    CALLED();
    struct block *block = block_of(address);
    if (!block)
        return INVALID;
    *found = (struct attributes){1, current, address, block->managed ? address : NULL, block->managed, 0};
    return OK;
}
int hipMemGetAddressRange(void **base, size_t *size, void *address) { CALLED(); return range_of(base, size, address); }
int hipIpcGetMemHandle(handle *made, void *address) { CALLED(); return handle_of(made, address); }
int hipIpcOpenMemHandle(void **address, handle theirs, unsigned flags) {
    CALLED();
    return map(address, theirs.size, theirs.owner, theirs.number, 0);
}
int hipIpcCloseMemHandle(void *address) { CALLED(); return take_back(address); }
int hipHostMalloc(void **address, size_t size, unsigned flags) {
    CALLED();
    *address = malloc(size);
    return *address ? OK : NO_MEMORY;
}
int hipHostFree(void *address) { CALLED(); free(address); return OK; }
int hipHostRegister(void *address, size_t size, unsigned flags) { CALLED(); return OK; }
int hipHostUnregister(void *address) { CALLED(); return OK; }
int hipDeviceCanAccessPeer(int *can, int device, int other) { CALLED(); *can = 1; return OK; }
int hipDeviceEnablePeerAccess(int other, unsigned flags) { CALLED(); return OK; }
int hipGetDeviceProperties(void *properties, int device) { CALLED(); return OK; } /* of the kernels, which do not run */
int hipStreamCreateWithFlags(void **stream, unsigned flags) { CALLED(); *stream = (void *)1; return OK; }
int hipStreamDestroy(void *stream) { CALLED(); return OK; }
int hipStreamSynchronize(void *stream) { CALLED(); return OK; }
int hipStreamWaitEvent(void *stream, void *event, unsigned flags) { CALLED(); return OK; }
int hipEventCreate(void **event) { CALLED(); *event = (void *)1; return OK; }
int hipEventDestroy(void *event) { CALLED(); return OK; }
int hipEventRecord(void *event, void *stream) { CALLED(); return OK; }
int hipEventQuery(void *event) { CALLED(); return OK; }
int hipLaunchKernel(void) { CALLED(); return 801; }
void **__hipRegisterFatBinary(const void *binary) { static void *module; return &module; }
void __hipUnregisterFatBinary(void **module) { }
void __hipRegisterFunction(void) { }
int __hipPopCallConfiguration(void) { CALLED(); return 801; }
#endif

#ifdef FAKE_CUDART
int cudaRuntimeGetVersion(int *version) {
    CALLED();
    *version = atoi(setting("FAKE_CUDART_VERSION", "13000"));
    return OK;
}
#endif

#ifdef FAKE_HIP_MPI
int MPIX_Query_hip_support(void) { return 1; }
#endif

/* ---- libnccl.so.2, librccl.so.1 ---------------------------------------------------------------------------------- */
#ifdef FAKE_CCL
enum { RANKS = 4, ROOM = 1 << 22, INVALID_USAGE = 5 };
struct id { char bytes[128]; };
struct box { volatile long filled, emptied; char data[ROOM]; };
struct shared {
    volatile int arrived, devices[RANKS];
    volatile long steps[RANKS];
    struct box boxes[RANKS][RANKS]; /* from, to */
    float sums[RANKS][ROOM / 4];
};
static struct shared *all;
static int ranks, rank;
static int (*copy)(void *, const void *, size_t, int);
static int (*device_of)(int *);

const char *ncclGetErrorString(int code) { return code == INVALID_USAGE ? "invalid usage" : "an error of fake NCCL"; }
int ncclGetVersion(int *version) { CALLED(); *version = 22203; return OK; }
int ncclGetUniqueId(struct id *id) {
    CALLED();
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, sizeof id->bytes, "%d", getpid());
    return OK;
}
static void wait_for_all(void) {
    all->steps[rank]++;
    for (int n = 0; n < ranks; n++)
        while (all->steps[n] < all->steps[rank])
            sched_yield();
}
int ncclCommInitRank(void **comm, int number, struct id id, int mine) {
    CALLED();
    char path[512];
    void *gpu = dlopen(GPU_LIBRARY, RTLD_NOW);
    if (!gpu || number > RANKS)
        return 3;
    copy = dlsym(gpu, GPU_COPY);
    device_of = dlsym(gpu, GPU_DEVICE);
    snprintf(path, sizeof path, "%s/ccl-%s", setting("FAKE_GPU_FOLDER", "/nowhere"), id.bytes);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *all))
        return 2;
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    ranks = number, rank = mine;
    int device;
    device_of(&device);
    all->devices[rank] = device + 1;
    sleep(atoi(setting("FAKE_CCL_START", "0")));
    wait_for_all();
    unlink(path);
    for (int n = 0; n < ranks; n++) /* as NCCL: "Duplicate GPU detected" */
        if (n != rank && all->devices[n] == device + 1)
            return INVALID_USAGE;
    *comm = all;
    return OK;
}
int ncclCommDestroy(void *comm) { CALLED(); wait_for_all(); return OK; }
int ncclGroupStart(void) { CALLED(); return OK; }
int ncclGroupEnd(void) { CALLED(); return OK; }
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream) {
    CALLED();
    struct box *box = &all->boxes[rank][peer];
    while (box->filled > box->emptied)
        sched_yield();
    copy(box->data, from, count, 4);
    __sync_synchronize();
    box->filled++;
    return OK;
}
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream) {
    CALLED();
    struct box *box = &all->boxes[peer][rank];
    while (box->filled == box->emptied)
        sched_yield();
    copy(to, box->data, count, 4);
    __sync_synchronize();
    box->emptied++;
    return OK;
}
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *comm, void *stream) {
    CALLED();
    copy(all->sums[rank], from, 4 * count, 4);
    wait_for_all();
    float *sum = malloc(4 * count);
    for (size_t at = 0; at < count; at++) {
        sum[at] = 0;
        for (int n = 0; n < ranks; n++)
            sum[at] += all->sums[n][at];
    }
    copy(to, sum, 4 * count, 4);
    free(sum);
    wait_for_all();
    return OK;
}
#endif
