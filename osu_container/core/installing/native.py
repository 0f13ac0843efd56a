"""
What a native build needs to know of its software stack: modules, the environment that they bring, what programs must be
linked with.
"""
import os
import re
import shutil

from osu_container.core.reading.elf import ElfError, elf_facts

#: What aws-ofi-nccl and aws-ofi-rccl install for RCCL (README of aws-ofi-nccl).
RCCL_PLUGIN = 'lib/librccl-net.so'
#: Libraries that only programs which use MPI need: libmpi.so.12, libmpi_amd.so.12, not the GPU transport layer.
USES_MPI = re.compile(r'libmpi(?!_gtl)')


def modules_of(native, prgenv):
    """Return the modules (list of str) that a native build loads; native: the site's value (dict); prgenv: str."""
    return ['PrgEnv-' + prgenv if name.startswith('PrgEnv-') else name for name in native.get('modules', [])]


def environment_problems(native, prgenv, environment):
    """
    Return sentences (list of str): what of the programming environment is not there.

    :param native: dict, the site's value; prgenv: str, 'amd' or 'gnu'; environment: dict of str, as it is now
    """
    problems = ["no command %s on PATH" % command for command in (native['mpicc'], native['mpicxx'])
                if not shutil.which(command)]
    # cc alone proves nothing: Linux has one that is gcc. Every PrgEnv-<name> sets PE_ENV to <NAME>.
    if environment.get('PE_ENV') != prgenv.upper():
        problems.append("PE_ENV is %s, wanted %s" % (environment.get('PE_ENV', 'not set'), prgenv.upper()))
    # the release comes with the stack that is loaded, not with the dependencies
    wanted = re.search(r'/mpich/([\d.]+)/', native['libmpi'])
    if wanted and environment.get('CRAY_MPICH_VERSION', wanted.group(1)) != wanted.group(1):
        problems.append("cray-mpich is %s, wanted %s: load the software stack of the site before eb"
                        % (environment['CRAY_MPICH_VERSION'], wanted.group(1)))
    needed = sorted(set(re.findall(r'\$(\w+)', native['configopts'])))
    return problems + ["%s is not set" % name for name in needed if not environment.get(name)]


def link_problems(bindir, programs, wanted, modules):
    """
    Return sentences (list of str): which programs use MPI and are not linked with what they should be.

    :param bindir: str, folder of the programs (list of names)
    :param wanted: list of str, sonames that every program which uses MPI must need
    :param modules: list of str, modules that a build with them loads
    """
    needs = {}
    for name in programs if wanted else []:
        try:
            needed = elf_facts(os.path.realpath(os.path.join(bindir, name))).needed
        except ElfError as err:
            return [str(err)]
        if any(USES_MPI.match(soname) for soname in needed):
            needs[name] = needed
    problems = []
    for soname in wanted:
        without = sorted(name for name in needs if soname not in needs[name])
        if without:
            problems.append("%s is not linked with %s, without which MPI fails on buffers in GPU memory. Build it "
                            "again after: module load %s (%s needs %s; %d of %d programs: %s)" % (
                                without[0], soname, ' '.join(modules), without[0], ' '.join(needs[without[0]]),
                                len(without), len(needs), ' '.join(without)))
    return problems
