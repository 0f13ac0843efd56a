"""Looking for the network: interfaces and cards, libfabric with its providers, libcxi."""
import os
import re

from osu_container.core.reading.elf import ElfError, elf_facts
from osu_container.core.reading.traits import fabric_traits

from .host import newest_first

LIBFABRIC = 'libfabric.so.1'


def network_cards(survey):
    """Interfaces, Slingshot's cards, InfiniBand."""
    host = survey.host
    names = [name for name in host.names('/sys/class/net')
             if not re.match(r'lo$|docker|veth|br-|virbr|bonding_masters|ifb|dummy|tap|tun', name)]
    if names:
        states = ['%s %s' % (name, host.text('/sys/class/net/%s/operstate' % name).strip() or 'state unknown')
                  for name in names]
        survey.fact('interfaces', names, "where TCP and RCCL's meetings go", '/sys/class/net', section='network',
                  note=', '.join(states))
    else:
        survey.lacks('network interfaces', '/sys/class/net', "TCP, and so pure, has no way to another node")
    cards = sorted(set(host.names('/sys/class/cxi')) | set(
        os.path.basename(path) for path in host.matching('/dev/cxi*') if re.search(r'/cxi\d+$', path)))
    hsn = [name for name in names if name.startswith('hsn')]
    survey.slingshot = bool(cards or hsn or host.exists('/opt/cray/libfabric'))
    if cards:
        survey.fact('cards', cards, "Slingshot's cards, which libfabric drives by its provider cxi",
                  '/sys/class/cxi, /dev/cxi*', section='network')
    else:
        survey.lacks("Slingshot's cards", '/sys/class/cxi, /dev/cxi*', "on this node nothing goes over Slingshot; "
                   "login nodes often have no card: look on a compute node, srun -N1 osu-container discover"
                   if survey.slingshot else "no Slingshot here: messages go over TCP", survey.slingshot)
    other = host.names('/sys/class/infiniband')
    other = [name for name in other if not re.match(r'cxi|hsn', name)]
    if other:
        survey.fact('infiniband', other, "InfiniBand or RoCE cards; no approach here is made for them",
                  '/sys/class/infiniband', section='network')
        survey.lacks('settings for InfiniBand', '/sys/class/infiniband: ' + ', '.join(other),
                   "the file says provider tcp, which reaches them at a part of their speed; "
                   "FI_PROVIDER='verbs;ofi_rxm' may do better and was not tried")


def libfabric(survey):
    """libfabric, its release and providers; the provider of the fast network."""
    of_mpi, of_system = _beside_mpi(survey), _of_system(survey)
    path = survey.library('libfabric', of_system + of_mpi if survey.cray else of_mpi + of_system,
                          "the host's network library, with the providers of its network", 'network', LIBFABRIC)
    if not path:
        survey.lacks(LIBFABRIC, 'pkg-config, LD_LIBRARY_PATH, /opt/cray/libfabric, RUNPATH of libmpi, ldconfig',
                     "bind and hybrid cannot be installed; pure and opensource bring their own")
    provider(survey, path, providers(survey, path) if path else [])


def _beside_mpi(survey):
    """Return [(path, source)] of the libfabric that libmpi names by its RUNPATH."""
    host, libmpi = survey.host, survey.value('libraries.libmpi')
    if not libmpi:
        return []
    try:
        facts = elf_facts(host.at(libmpi))
    except ElfError:
        return []
    if LIBFABRIC not in facts.needed:
        return []
    folders = [os.path.normpath(folder.replace('$ORIGIN', os.path.dirname(facts.path)))
               for folder in facts.runpath or facts.rpath]
    return [('%s/%s' % (host.inside(folder), LIBFABRIC), 'RUNPATH of libmpi: its own build') for folder in folders]


def _of_system(survey):
    """Return [(path, source)] of places of a libfabric: of pkg-config, modules, Cray, ld.so."""
    host, found = survey.host, []
    if host.said['libfabric'].good:
        found.append(('%s/%s' % (survey.of_system('libfabric').strip(), LIBFABRIC),
                      '`%s`' % host.said['libfabric'].command))
    found += [('%s/%s' % (folder, LIBFABRIC), '%s, by the loaded module libfabric' % name)
              for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH') for folder in host.folders_of(name)
              if '/libfabric/' in folder + '/']
    there = newest_first(path for lib in ('lib64', 'lib') for path in
                         host.matching('/opt/cray/libfabric/*/%s/%s' % (lib, LIBFABRIC)))
    several = '; the newest of ' + ', '.join(path.split('/')[4] for path in there) if len(there) > 1 else ''
    found += [(path, '/opt/cray/libfabric/*' + several) for path in there]
    found += [('%s/%s' % (folder, LIBFABRIC), 'LD_LIBRARY_PATH') for folder in host.folders_of('LD_LIBRARY_PATH')]
    return found + survey.usual(LIBFABRIC)


def provider(survey, path, there):
    """The provider for the network; path: of libfabric or None, there: its providers (list of str)."""
    cards, cxi = survey.value('cards', []), 'cxi' in there
    why = "libfabric's provider for the network of this system (FI_PROVIDER)"
    if cards and cxi:
        survey.fact('provider', 'cxi', why, '/sys/class/cxi, and the providers of libfabric', 'measured', 'network')
    elif cards and not path:
        survey.fact('provider', 'cxi', why, '/sys/class/cxi; no libfabric of the host was found, the image must have '
                    'the provider', 'derived', 'network')
    elif cxi and survey.slingshot:
        survey.fact('provider', 'cxi', why + ": libfabric has cxi, this node has no card", 'providers of libfabric; '
                    'login nodes often have no card', 'derived', 'network')
    else:
        survey.fact('provider', 'tcp', why + ": tcp is in every libfabric", 'no card of Slingshot in /sys/class/cxi'
                    if not cards else "the host's libfabric has no provider cxi for the cards", 'derived', 'network')
        if cards:
            survey.lacks('provider cxi', '%s has: %s' % (path, ', '.join(there) or 'none that is known'),
                         "bind and hybrid cannot reach the cards %s; the file says provider tcp. opensource can, "
                         "with libcxi in the image: set provider to cxi then" % ', '.join(cards))


def providers(survey, path):
    """Return the providers of the libfabric at path, kept as a fact."""
    host, said = survey.host, survey.host.said['providers']
    own = host.find('fi_info')
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(host.at(path))))
    why = "which networks the host's libfabric can drive"
    if said.good and own and os.path.realpath(own).startswith(prefix + '/'):
        names = re.findall(r'^([\w;-]+):\s*$', said.output, re.M)
        return survey.fact('providers', names, why, '`fi_info -l`', section='network')
    real = os.path.realpath(host.at(path))
    try:
        with open(real, 'rb') as handle:
            names = fabric_traits(handle.read())['providers']
    except (OSError, ValueError):
        names = []
    if names:
        survey.fact('providers', names, why, 'names of functions in the file', 'derived', 'network')
    else:
        survey.lacks('providers of libfabric', 'fi_info -l; names of functions in %s' % path,
                   "whether the host's libfabric drives the network is not known")
    return names


def libcxi(survey):
    """libcxi, by which libfabric reaches Slingshot's cards."""
    if not survey.library('libcxi', survey.usual('libcxi.so.1'), "libfabric's provider cxi reaches the Slingshot card "
                          "through it", 'network', 'libcxi.so.1'):
        survey.lacks('libcxi.so.1', ', '.join(survey.searched()),
                     "bind and hybrid cannot reach Slingshot, because the host's libfabric needs it; opensource "
                     "brings its own" if survey.slingshot else "not needed: no Slingshot here", survey.slingshot)
