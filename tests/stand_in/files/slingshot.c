/*
 * A Slingshot that can refuse: libcxi.so.1 of a stand-in tree, with a libfabric provider named cxi in the same file.
 *
 * Cray's libfabric contains the provider cxi and needs libcxi.so.1. The libfabric of a stand-in tree has no provider cxi,
 * but needs this file in place of libcxi. When the loader has loaded this file, the constructor adds this file to
 * FI_PROVIDER_PATH, and libfabric then finds a provider named cxi. The provider sends over TCP: a private copy of the
 * libfabric that loaded the provider, with FI_PROVIDER=tcp, does the work.
 *
 * The private copy is mapped as /memfd:slingshot-stand-in. No real system has a mapping of this name, so that
 * osu_container/proof/ reports "cxi (simulated)".
 *
 * Each refusal is derived from public sources, which the comment at the refusal names. Nothing here was measured on a
 * Slingshot network, and a real network may refuse more.
 *
 * Macros at compile time: TREE, the stand-in tree that contains this file, "" in an image; SHS, the release of the
 * Slingshot Host Software that this libcxi belongs to.
 * Variables that the task prolog of a tree sets (tests/stand_in/files/commands): STAND_IN_SLINGSHOT, the tree of the node,
 * and STAND_IN_NETWORK, the options of srun --network=.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

/* libfabric is loaded before libfabric calls this file: the two functions are there, although this file needs no library. */
#pragma weak fi_log
#pragma weak fi_log_enabled

const char osu_container_stand_in_cxi[] = "stand-in, not the real libcxi";

static struct fi_provider cxi;

/* The private copy of libfabric. */
static struct {
    void *library;
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
} tcp;

static int has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = words; found && (found = strstr(found, word)); found += length)
        if ((found == words || found[-1] == ',') && (!found[length] || found[length] == ','))
            return 1;
    return 0;
}

/* Set a variable and return a copy of the old value, NULL without. */
static char *exchange(const char *name, const char *value)
{
    char *old = getenv(name);
    old = old ? strdup(old) : NULL;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    return old;
}

static void restore(const char *name, char *old)
{
    free(exchange(name, old));
    free(old);
}

/*
 * The constructor runs before libfabric reads its variables. '+' before a path makes libfabric prefer this provider to
 * another provider named cxi (fi_provider(7)).
 */
__attribute__((constructor)) static void announce(void)
{
    Dl_info own;
    char text[2 * PATH_MAX], *old = getenv("FI_PROVIDER_PATH");
    if (dladdr(&cxi, &own) && !(old && strstr(old, own.dli_fname))) {
        snprintf(text, sizeof text, "+%s%s%s", own.dli_fname, old && *old ? ":" : "", old ? old : "");
        setenv("FI_PROVIDER_PATH", text, 1);
    }
}

/* Path of the libfabric that loaded this provider. */
static char libfabric[PATH_MAX];

static int open_private_copy(void)
{
    char path[64], buffer[65536];
    ssize_t count;
    if (tcp.library)
        return 1;
    int from = open(libfabric, O_RDONLY), to = memfd_create("slingshot-stand-in", 0);
    while (from >= 0 && to >= 0 && (count = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, count) != count)
            return 0;
    close(from);
    snprintf(path, sizeof path, "/proc/self/fd/%d", to);
    tcp.library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    close(to);
    if (!tcp.library)
        return 0;
    tcp.getinfo = dlsym(tcp.library, "fi_getinfo");
    tcp.freeinfo = dlsym(tcp.library, "fi_freeinfo");
    tcp.dupinfo = dlsym(tcp.library, "fi_dupinfo");
    tcp.fabric = dlsym(tcp.library, "fi_fabric");
    return tcp.getinfo && tcp.freeinfo && tcp.dupinfo && tcp.fabric;
}

/*
 * Write the name of the first visible card from `number` on into `name`. Return the number of this card, -1 without a card.
 *
 * Refusal: no card is visible. cxil_get_device_list() of libcxi lists the cards of the node, and cxip_query_if_list() of
 * libfabric (prov/cxi/src/cxip_if.c, af8ddbe92) then has no interface, so that fi_getinfo() ends with FI_ENODATA. Derived.
 * Refusal: libcxi belongs to another SHS release than the driver of the node: github.com/HewlettPackard/shs-libcxi/issues/18,
 * where libcxi 13.1 and 14.0 do not work on a host on which libcxi 13.0 works. Derived: which call of a real libcxi fails is
 * not known.
 * FI_CXI_DEVICE_NAME selects cards by name (cxip_query_if_list()). cxip_env_init() (prov/cxi/src/cxip_info.c) ignores a
 * value with another name than cxi and a number.
 */
static int find_card(int number, char name[16])
{
    const char *tree = getenv("STAND_IN_SLINGSHOT"), *wanted = getenv("FI_CXI_DEVICE_NAME");
    char path[PATH_MAX], release[64] = "";
    for (; number < 16; number++) {
        snprintf(name, 16, "cxi%d", number);
        snprintf(path, sizeof path, "%s/dev/%s", tree && *tree ? tree : TREE, name);
        FILE *card = fopen(path, "r");
        if (!card)
            continue;
        int known = fscanf(card, "stand-in, not a card; SHS %63[^\n]", release);
        fclose(card);
        if (known == 1 && strcmp(release, SHS)) {
            FI_WARN(&cxi, FI_LOG_DOMAIN, "cxil_get_device_list failed (stand-in: libcxi of SHS %s, driver of SHS %s)\n",
                    SHS, release);
            return -1;
        }
        if (!wanted || strspn(wanted, "cxi0123456789,") != strlen(wanted) || strstr(wanted, name))
            return number;
    }
    return -1;
}

/*
 * Return whether the step has a service and a VNI for the card.
 *
 * cxip_nic_get_rgroup_vni_ss_env() of libfabric (prov/cxi/src/cxip_nic.c, af8ddbe92) reads the first VNI of SLINGSHOT_VNIS
 * and, from SLINGSHOT_SVC_IDS, the service at the place of the card in SLINGSHOT_DEVICES. Derived. A system whose
 * administrators permit a default service for everybody needs no variable; the stand-in has none.
 */
static int has_service(const char *card)
{
    const char *vnis = getenv("SLINGSHOT_VNIS"), *devices = getenv("SLINGSHOT_DEVICES");
    if (!vnis || atoi(vnis) <= 0 || !getenv("SLINGSHOT_SVC_IDS") || !devices)
        return 0;
    if (!has_word(devices, card)) {
        FI_WARN(&cxi, FI_LOG_FABRIC, "Failed to find %s in SLINGSHOT_DEVICES: %s\n", card, devices);
        return 0;
    }
    return 1;
}

/*
 * Set or remove the capability FI_HMEM. The provider cxi has FI_HMEM (fi_cxi(7)), the provider tcp has not. The memory of
 * a GPU is never sent here.
 */
static void set_memory(struct fi_info *info, uint64_t bits)
{
    info->caps = (info->caps & ~FI_HMEM) | bits;
    if (info->tx_attr)
        info->tx_attr->caps = (info->tx_attr->caps & ~FI_HMEM) | bits;
    if (info->rx_attr)
        info->rx_attr->caps = (info->rx_attr->caps & ~FI_HMEM) | bits;
}

/* Replace the name of a domain or provider. */
static void rename_to(char **name, const char *text)
{
    free(*name);
    *name = text ? strdup(text) : NULL;
}

/* Name of the domain of the provider tcp: an interface. */
static char *interface;

static int cxip_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                        const struct fi_info *hints, struct fi_info **info)
{
    char card[16];
    const char *asked = hints && hints->fabric_attr ? hints->fabric_attr->prov_name : NULL;
    const char *domain = hints && hints->domain_attr ? hints->domain_attr->name : NULL;
    if ((asked && !strstr(asked, "cxi")) || find_card(0, card) < 0 || !open_private_copy())
        return -FI_ENODATA;
    if (!has_service(card))
        FI_WARN(&cxi, FI_LOG_FABRIC, "Failed to find valid default rgroup and vni for %s\n", card);
    struct fi_info *changed = tcp.dupinfo(hints), *found = NULL, **next = info;
    if (!changed)
        return -FI_ENOMEM;
    set_memory(changed, 0);
    rename_to(&changed->fabric_attr->prov_name, "tcp");
    rename_to(&changed->fabric_attr->name, NULL);
    rename_to(&changed->domain_attr->name, NULL);
    changed->ep_attr->type = FI_EP_RDM; /* the only type of endpoint that cxi has (fi_cxi(7)) */
    changed->addr_format = FI_SOCKADDR_IN;
    char *providers = exchange("FI_PROVIDER", "tcp"), *paths = exchange("FI_PROVIDER_PATH", "/nonexistent");
    int rc = tcp.getinfo(version, node, service, flags, changed, &found);
    restore("FI_PROVIDER", providers);
    restore("FI_PROVIDER_PATH", paths);
    tcp.freeinfo(changed);
    if (rc)
        return rc;
    rename_to(&interface, found->domain_attr->name);
    /* One entry for each card, as cxi returns. libfabric writes the name of this provider. */
    *info = NULL;
    for (int number = -1; (number = find_card(number + 1, card)) >= 0;) {
        if (domain && strcmp(domain, card))
            continue;
        struct fi_info *entry = tcp.dupinfo(found);
        rename_to(&entry->fabric_attr->prov_name, NULL);
        rename_to(&entry->domain_attr->name, card);
        set_memory(entry, FI_HMEM);
        *next = entry;
        next = &entry->next;
    }
    tcp.freeinfo(found);
    return *info ? 0 : -FI_ENODATA;
}

/*
 * Return whether the provider uses the rendezvous protocol alt_read.
 *
 * cxip_env_init() of libfabric (prov/cxi/src/cxip_info.c, af8ddbe92) reads '-' as '_'. For an unknown word in this or another
 * variable FI_CXI_..., libfabric prints a warning and uses the default value: libfabric refuses no value. For an unknown
 * FI_MR_CACHE_MONITOR, libfabric prints nothing; the real libfabric of a stand-in reads this variable. Derived.
 */
static int uses_alt_read(void)
{
    const char *protocol = getenv("FI_CXI_RDZV_PROTO");
    if (!protocol || !strcmp(protocol, "default"))
        return 0;
    if (!strcmp(protocol, "alt_read") || !strcmp(protocol, "alt-read"))
        return 1;
    FI_WARN(&cxi, FI_LOG_DOMAIN, "Unrecognized rendezvous protocol: %s\n", protocol);
    return 0;
}

static char operations[512];
static struct fi_ops_fabric *tcp_operations;

/*
 * Refusal: no VNI. cxip_gen_auth_key() of libfabric (prov/cxi/src/cxip_info.c, af8ddbe92) returns FI_ENOSYS, and
 * cxip_domain() prints the message of github.com/uiuc-hpc/lci/issues/110 and github.com/open-mpi/ompi/issues/12913. Derived.
 * Refusal: the rendezvous protocol alt_read without srun --network=disable_rdzv_get (HPE's RCCL tuning guide in
 * github.com/HewlettPackard/shs-ccl-docs, and the warning of CSCS' container engine). A real system hangs at the first
 * large message; the stand-in ends with FI_EOPNOTSUPP, so that a test ends. Derived.
 */
static int cxip_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    char *name = info->fabric_attr->prov_name, *card = info->domain_attr->name;
    if (!has_service(card)) {
        FI_WARN(&cxi, FI_LOG_DOMAIN, "cxip_gen_auth_key failed: %d:%s\n", -FI_ENOSYS, strerror(FI_ENOSYS));
        return -FI_ENOSYS;
    }
    if (uses_alt_read() && !has_word(getenv("STAND_IN_NETWORK"), "disable_rdzv_get")) {
        FI_WARN(&cxi, FI_LOG_DOMAIN, "stand-in: FI_CXI_RDZV_PROTO=alt_read without --network=disable_rdzv_get\n");
        return -FI_EOPNOTSUPP;
    }
    set_memory(info, 0); /* for fi_endpoint() too, which goes to the provider tcp */
    info->fabric_attr->prov_name = "tcp";
    info->domain_attr->name = interface;
    int rc = tcp_operations->domain(fabric, info, domain, context);
    info->fabric_attr->prov_name = name;
    info->domain_attr->name = card;
    return rc;
}

static int cxip_domain2(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, uint64_t flags,
                        void *context)
{
    return flags ? -FI_ENOSYS : cxip_domain(fabric, info, domain, context);
}

static int cxip_fabric(struct fi_fabric_attr *attributes, struct fid_fabric **fabric, void *context)
{
    struct fi_fabric_attr changed = *attributes;
    changed.prov_name = "tcp";
    int rc = tcp.fabric(&changed, fabric, context);
    if (rc)
        return rc;
    size_t size = (*fabric)->ops->size;
    struct fi_ops_fabric *ours = (struct fi_ops_fabric *) operations;
    if (size > sizeof operations)
        return -FI_ENOSYS;
    tcp_operations = (*fabric)->ops;
    memcpy(ours, tcp_operations, size);
    ours->domain = cxip_domain;
    if (size > offsetof(struct fi_ops_fabric, domain2))
        ours->domain2 = cxip_domain2;
    (*fabric)->ops = ours;
    return 0;
}

static void cxip_cleanup(void) {}

/* libfabric calls this function when libfabric loads the provider: the caller's file is the libfabric to copy. */
struct fi_provider *fi_prov_ini(void)
{
    Dl_info caller;
    if (!dladdr(__builtin_return_address(0), &caller))
        return NULL;
    snprintf(libfabric, sizeof libfabric, "%s", caller.dli_fname);
    uint32_t (*version)(void) = dlsym(dlopen(libfabric, RTLD_NOW | RTLD_NOLOAD), "fi_version");
    if (!version)
        return NULL;
    cxi.version = FI_VERSION(122, 0);
    cxi.fi_version = version();
    cxi.name = "cxi";
    cxi.getinfo = cxip_getinfo;
    cxi.fabric = cxip_fabric;
    cxi.cleanup = cxip_cleanup;
    return &cxi;
}
