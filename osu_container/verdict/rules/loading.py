"""What ld.so would say: libraries, symbol versions, symbols, and whether the host's come first."""
import posixpath
import re
from collections import OrderedDict

from osu_container.image.environment import in_process
from osu_container.image.loader import load, of_name, undefined_symbols, version_problems, where
from osu_container.image.scripts import PYTHON
from osu_container.verdict.commands import has_mpi_inside
from osu_container.verdict.dry_run import interpreter_of
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.injection import TARGET
from osu_container.verdict.rules.described_host import may_offer
from osu_container.verdict.rules.finding import NOTE, finding, in_order, last_version, rule, shown
from osu_container.verdict.rules.gpu_fit import gpu_maker
from osu_container.verdict.trial import OF_DRIVER, Container, opened_names


@rule('static program', source='ld.so(8)')
def static_program(trial):
    """Nothing can be put in front of the libraries of a static program; one without MPI in it starts another one."""
    if trial.start.static and not has_mpi_inside(trial.image.content(trial.start.program)):
        yield finding('unknown', "%s is linked statically and has no MPI in it: which program it starts is not known"
                      % trial.start.program, [('image:' + trial.start.program, 'no MPI_Init')],
                      'name the program that uses MPI: --program PATH')
    elif trial.start.static:
        word = 'fails' if trial.approach['inject'] else NOTE
        yield finding(word, "%s is linked statically: no library can be put in front of its own" % trial.start.program,
                      [('image:' + trial.start.program, 'no dynamic section')],
                      'take pure or opensource, or link the program with shared libraries')


#: Family of a host's MPI -> [(what it opens by its name, the function that does, for what)], beside what the site
#: injects for each run: the GTL and xpmem, ROCm's for libfabric. The name is one of opened_as of the site's library
OPENED = {'Cray MPICH': [('liblustreapi.so', 'MPI_File_open', 'a file on Lustre')]}


def called(trial):
    """Return the functions of MPI (set of str) that the image's program and libraries call, but for mpi4py's."""
    return set(name.partition('@')[0] for one in trial.process.loaded
               if one.origin == 'image' and '/mpi4py/' not in one.name for name in one.facts.undefined)


@rule('opened while running', source='github.com/underworldcode/underworld2/issues/668, Pawsey\'s newsletter of '
                                     '2023-03-13: Assertion failed, liblustreapi != NULL')
def opened_while_running(trial):
    """What the host's MPI opens by its name, in some function, is injected or in the image."""
    mpi = of_name(trial.process, trial.soname)
    names = opened_names(trial.approach, trial.site, trial.host, trial.taken.injected)
    for name, function, what in OPENED.get((trial.mpi or {}).get('family'), ()) if mpi and mpi.origin == 'host' else ():
        if name not in names and name not in trial.image.libraries:
            word = 'unknown' if function in called(trial) else NOTE
            yield finding(word, "the host's %s opens %s in %s for %s, and neither the host, as far as it is known, nor "
                          "the image has it: without it that call ends the program" % (
                              trial.mpi['family'], name, function, what), [(mpi.facts.path, 'opens ' + name)],
                          'name its path as %s of the site (libraries); or use an approach with the MPI of the image'
                          % name.partition('.')[0])


@rule('injection defeated', source='ld.so(8); DeiC-HPC/cotainr, example mpi4py on LUMI')
def injection_defeated(trial):
    """DT_RPATH comes before LD_LIBRARY_PATH, DT_RUNPATH after it."""
    path, environment = trial.inside.library_path, trial.inside.environment
    container = Container(trial.image, dict(trial.taken.injected), {})
    program = trial.process.loaded[0] if trial.start.program and trial.process.loaded else None
    for name, owner in sorted(trial.approach['comes_from'].items()):
        soname = trial.soname if name == 'libmpi' else 'libfabric.so.1'
        one = of_name(trial.process, soname)
        if owner != 'host' or one is None or one.origin == 'host':
            continue
        if soname not in trial.taken.injected:
            key = trial.approach['inject'][0] if name == 'libmpi' and trial.approach['inject'] else name
            named = trial.site['libraries'].get(key)
            path = trial.host.on(named['value']) if named else None
            others = [known for known, facts in trial.taken.injected.items() if facts.path == path]
            if others:
                yield finding('fails', "the host's %s would not be used: %s calls itself %s, and the image's own %s is "
                              "loaded" % (soname, path, others[0], soname), [(path, 'DT_SONAME ' + others[0])],
                              'an approach with the library of the image')
            continue
        if '/' in one.name and one.name in trial.start.opens:
            yield finding('fails', "the host's %s would not be used: %s opens %s by its path" % (
                soname, 'mpi4py' if re.match(PYTHON, posixpath.basename(program.path)) else shown(program), one.path),
                          [(one.facts.path, 'is found first')], 'in a Python take it out (pip uninstall), or set '
                          'MPI4PY_LIBMPI=libmpi.so.12 in the image, which makes mpi4py ask ld.so')
            continue
        if INJECT_FOLDER not in path:
            at = (environment.variables.get('LD_LIBRARY_PATH') or environment.lost)
            yield finding('fails', "the host's %s would not be used: the image sets LD_LIBRARY_PATH anew after the "
                          "module's file has put them in front (%s)" % (soname, at.at if at else 'unset'),
                          [(at.at if at else trial.image.path, 'LD_LIBRARY_PATH')],
                          'set it in a script whose name comes before %s' % posixpath.basename(TARGET))
            continue
        there, why = where(soname, one.by, container, path, program, one.facts.machine)
        found = (posixpath.dirname(one.path), why if there == one.path else 'its path')
        asking, by = one.by, None
        while asking is not None and by is None:  # whose DT_RPATH it is: that of who needs it, or of who brought that
            by = asking if asking.facts.rpath or asking.by is None else None
            asking = asking.by
        by = by.facts.path if by else 'the program'
        if found[1] == 'LD_LIBRARY_PATH' or one.path in (preloaded for preloaded, _ in trial.inside.preload):
            yield finding('fails', "the host's %s would not be used: the image %s %s, which comes first"
                          % (soname, 'puts into LD_LIBRARY_PATH' if found[1] == 'LD_LIBRARY_PATH' else 'preloads',
                             found[0] if found[1] == 'LD_LIBRARY_PATH' else one.path),
                          [(one.facts.path, 'is found first')], 'take it out of the environment scripts of the image')
            continue
        yield finding('fails', "the host's %s would not be used: %s has %s %s, which ld.so searches before "
                      "LD_LIBRARY_PATH, and the image's own is there" % (soname, by, found[1], found[0]),
                      [(by, '%s %s' % (found[1], found[0])), (one.facts.path, 'is found first')],
                      'in the image: patchelf --set-rpath writes DT_RUNPATH instead, which LD_LIBRARY_PATH precedes')


def _processes(trial):
    """Return the Processes (list) in which everything must load: the program's, and what an entrypoint tries."""
    return [trial.process] + ([trial.start.tried] if trial.start.tried else [])


@rule('missing library', source='ld.so(8)')
def missing_library(trial):
    """Every needed library is found, the host's dependencies included. NVIDIA's driver is the host's, in any image."""
    seen = set()
    for name, by in [pair for one in _processes(trial) for pair in one.missing if OF_DRIVER.match(pair[0])]:
        if gpu_maker(trial.site) != 'NVIDIA' and name not in seen:
            yield finding('fails', "%s, which comes with NVIDIA's driver, and this site has no GPU of NVIDIA"
                          % ('%s needs %s' % (shown(by), name) if by else 'the process begins with %s' % name),
                          [(by.facts.path if by else trial.image.path, 'needs ' + name)],
                          'use an image without CUDA, or one whose MPI opens the driver only when it is needed '
                          '(Open MPI)')
        seen.add(name)
    if trial.image.partial:
        return
    for soname, facts in trial.taken.lacking:
        seen.add(soname)
        yield finding('fails', "%s needs %s, which neither the host nor the image has" % (facts.path, soname),
                      [(facts.path, 'DT_NEEDED ' + soname)], 'if it is on the host in another folder, add that to '
                      'library_folders of the site')
    for path, by in [pair for one in _processes(trial) for pair in one.broken]:
        yield finding('fails', "%s is no library (a text, or damaged), and %s takes it for one"
                      % (path, shown(by) if by else 'the loader'), [(path, 'no ELF file')],
                      'put the library in its place; a linker script belongs to compilers, not to programs')
    for name, by in [pair for one in _processes(trial) for pair in one.missing]:
        if name not in seen:
            yield finding('fails', "%s, which is not on the library path in the container"
                          % ('%s needs %s' % (shown(by), name) if by else 'the process begins with %s' % name),
                          [(by.facts.path if by else trial.image.path, 'needs ' + name)],
                          'install it in the image, or name its folder in the LD_LIBRARY_PATH of the image')


@rule('symbol version',
      source='ld.so(8); libfabric.map.in by release: FABRIC_1.7 comes with 1.20, 1.8 with 2.0, 1.9 with 2.5')
def symbol_version(trial):
    """
    Each version that a library needs (FABRIC_x, GLIBC_x, GLIBCXX_x, ...) is defined by the library that it will
    meet, both ways.
    """
    problems = [problem for one in _processes(trial) for problem in version_problems(one)]
    for one, soname, lacking, provider in problems:
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
        ends = last_version(provider.facts.verdef, lacking[0])
        yield finding('fails', "%s needs %s of %s, but %s ends at %s"
                      % (shown(one), ', '.join(in_order(lacking)), soname, shown(provider), ends),
                      [(one.facts.path, 'needs ' + ', '.join(in_order(lacking))),
                       (provider.facts.path, 'defines up to ' + ends)], remedy)


def _some(names):
    """Return the first of names (list of str) as a text, and how many more there are."""
    return ', '.join(names[:5]) + (' and %d more' % (len(names) - 5) if len(names) > 5 else '')


@rule('undefined symbol', source='ld.so(8), lazy binding; Python, sys.setdlopenflags(): RTLD_NOW')
def undefined_symbol(trial):
    """Each symbol that a library needs is offered by some library of the process."""
    if trial.image.partial or trial.process.missing or trial.process.broken:
        return
    if may_offer(trial):
        return  # the rule 'facts of the host' speaks
    all_now = in_process(trial.inside.environment, 'LD_BIND_NOW')
    told = set(one.facts.path for one, _, _, _ in version_problems(trial.process))
    by_library = OrderedDict()
    for one, symbol, at_once in undefined_symbols(trial.process):
        if one.facts.path not in told:
            by_library.setdefault(one.path, (one, []))[1].append((symbol, at_once))
    for one, symbols in by_library.values():
        now = all_now or any(at_once for _, at_once in symbols)
        names = [symbol for symbol, _ in symbols]
        some = _some(names)
        yield finding('fails' if now else 'unknown', "%s needs %s, which no library of the process has%s"
                      % (shown(one), some, '' if now else ': it ends when that is called'),
                      [(one.facts.path, 'undefined ' + some)], 'another release of the library that ought to have it: '
                      'of an MPI, a site with another stack (--try-amend=site=...), or the one of the image')


def _on_paper(trial):
    """Return (Container, Process) as the loader is asked: without what libraries open by themselves while they run."""
    names = opened_names(trial.approach, trial.site, trial.host, trial.taken.injected)
    container = Container(trial.image, names, {})
    return container, load(trial.start.names, container, trial.inside.library_path)


def differences(trial):
    """Return [(what the loader says, what the trial on paper has)] where the two differ (lists of str)."""
    listing, (container, process) = trial.listed, _on_paper(trial)
    if listing.problem:
        wrong = process.broken or process.missing or version_problems(process) or undefined_symbols(process)
        return [] if wrong or trial.inside.environment.ends else [(listing.problem, 'everything loads')]
    if process.broken:
        return [('it lists all', '%s is no library' % process.broken[0][0])]
    host = 'the host'

    def real(path, origin=None):
        """Return what stands for the file path in the container; what an entrypoint has linked is the host's."""
        if trial.approach.get('entrypoint'):
            return host if origin == 'host' or not trial.image.exists(path) else container.real(path)
        return container.real(path) if container.exists(path) else path
    loader = {interpreter_of(trial), trial.image.real(interpreter_of(trial))}
    theirs = dict((real(path), '%s => %s' % (name, path)) for name, path in listing.libraries.items())
    ours = dict((real(one.path, one.origin), '%s => %s' % (one.name, one.path)) for one in process.loaded[1:])
    lack = set(name for name, _ in process.missing)
    lists = [(listing.missing, lack, '%s => not found', '%s is found'),
             (listing.versions, set(name for _, _, names, _ in version_problems(process) for name in names),
              'version %s is not there', 'version %s is there')]
    if not any(one[0] or one[1] for one in lists):  # else what follows from that
        lists.append((listing.undefined, set(symbol.partition('@')[0] for _, symbol, _ in undefined_symbols(process)),
                      'undefined symbol: %s', 'symbol %s is defined'))
    found = []
    for said, thought, one, other in lists:
        found += [(one % name, other % name) for name in sorted(said - thought) if not OF_DRIVER.match(name)]
        found += [(other % name, one % name) for name in sorted(thought - said) if not OF_DRIVER.match(name)]
    found += [(theirs[path], 'not that file') for path in sorted(set(theirs) - set(ours) - loader)
              if path != real(process.loaded[0].path) and not OF_DRIVER.match(theirs[path])]
    return found or [('not that file', ours[path]) for path in sorted(set(ours) - set(theirs) - loader)]


@rule('dry run', source='ld.so(8), LD_TRACE_LOADED_OBJECTS, LD_WARN, LD_BIND_NOW; elf/rtld.c of glibc 2.36')
def dry_run(trial):
    """
    Where the image's own loader was asked (--dry-run), its list is that of the trial on paper. Of a script, Python and
    what a program opens while it runs it has no list.
    """
    listing = trial.listed
    if listing is None:
        return
    if listing.problem and not listing.sure:
        yield finding(NOTE, "the image's own loader was not asked: %s" % listing.problem)
        return
    what = trial.start.program or '%s alone, as no program is known whose list it could make' % trial.soname
    what += ', without what it opens while it runs' if trial.start.opens else ''
    found = differences(trial)
    if not found:
        yield finding(NOTE, "the image's own loader lists the same for %s (%d libraries, %.1f s)"
                      % (what, len(listing.libraries), listing.seconds) if not listing.problem else
                      "the image's own loader does not come further: %s" % listing.problem)
        return
    more = '; and %d more' % (len(found) - 1) if len(found) > 1 else ''
    yield finding('unknown', "the image's own loader says otherwise of %s: %s (on paper: %s)%s"
                  % ((what,) + found[0] + (more,)), [(trial.image.path, said) for said, _ in found[:5]],
                  'run it once: `osu-container proof` tells what a run loaded')
