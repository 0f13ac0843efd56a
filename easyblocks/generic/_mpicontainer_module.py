"""
Settings -> text of a Lua module, written with EasyBuild's own module generator (given, never imported).

What EasyBuild's generator writes differently from one version to the next is avoided (append_paths with delim, values
with $NAME), so that EasyBuild 4.9 to 5.4 give the same text.
"""
import json


def lua_string(value):
    """Return value (str) as a Lua string literal. JSON's escapes of quotes, backslashes and line ends are Lua's too."""
    return json.dumps(value, ensure_ascii=False)


def help_lines(settings, programs_are, example):
    """
    Return the three lines (list of str) that a user reads in `module help`.

    :param settings: Settings
    :param programs_are: str, what the benchmark programs are, e.g. '7.5.2 C'
    :param example: str, a command to show behind srun
    """
    network = "%s over %s, provider %s" % (settings.mpi, settings.libfabric, settings.provider)
    return ["MPI:        %s" % network,
            "srun:       --mpi=%s, which this module sets (SLURM_MPI_TYPE): srun -N2 -n2 %s" % (settings.pmi, example),
            "benchmarks: %s (%s)" % (' '.join(settings.programs), programs_are)]


def default_line(variable):
    """
    Return the line (str) that gives variable (dict) its value unless the user has set one.

    pushenv keeps what was there before and restores it on unload; setenv in an `if not os.getenv(...)` would see its
    own value on unload and leave it behind.
    """
    return 'pushenv("%s", os.getenv("%s") or %s)\n' % (
        variable['name'], variable['name'], lua_string(variable['value']))


def reason(variable):
    """Return the comment text (str) for variable (dict): why, source, evidence, origin."""
    return "%s [%s; %s; %s]" % (variable['why'], variable['origin'], variable['source'], variable['evidence'])


def common_text(generator, settings, family):
    """Return the text that container and native modules share: family, --mpi= of srun, variables with defaults."""
    lines = ["\n", generator.comment("%s on site %s: %s" % (settings.approach, settings.site, settings.title)),
             'family("%s")\n' % family,
             generator.comment("MPI ranks find each other through PMI; with another --mpi= each rank is alone"),
             generator.set_environment('SLURM_MPI_TYPE', {'value': settings.pmi, 'pushenv': True})]
    for variable in settings.variables:
        lines += [generator.comment(reason(variable)), default_line(variable)]
    return ''.join(lines)


def container_text(generator, settings, sif, runtime_command, how_to_get_back):
    """
    Return the text of a container module: the image, the runtime, binds, library path, folders of programs.

    :param sif: str, file name of the SIF in the installation
    :param runtime_command: str, command of the container runtime
    :param how_to_get_back: str, what to type when the SIF was deleted
    """
    prefix = settings.env_prefix
    gone = 'LmodError("The image " .. pathJoin(root, %s) .. " is gone. Get it back with: %s")' % (
        lua_string(sif), how_to_get_back)
    lines = [
        generator.conditional_statement('mode() == "load" and not isFile(pathJoin(root, %s))' % lua_string(sif), gone),
        generator.comment("where the image is, under the names that LUMI's container modules use"),
        generator.set_environment('SIF', sif, relpath=True),
        generator.set_environment('SIFOSUCONTAINER', sif, relpath=True),
        generator.set_environment('CONTAINERROOT', '', relpath=True),
        generator.comment("read by bin/run-in-container: the runtime, and the variable that srun --mpi=%s gives a rank"
                          % settings.pmi),
        generator.set_environment('OSU_CONTAINER_RUNTIME', runtime_command),
        generator.set_environment('OSU_CONTAINER_PMI', '%s %s' % (settings.pmi, settings.pmi_variable or '')),
    ]
    for source, target, why in settings.binds:
        lines += [generator.comment(why), 'append_path("%s_BIND", %s, ",")\n' % (
            prefix, lua_string('%s:%s' % (source, target)))]
    for folder in reversed(settings.library_path):
        lines += [generator.comment("the libraries above go in front of the image's own (ld.so(8): LD_LIBRARY_PATH "
                                    "comes before RUNPATH and ld.so.cache)"),
                  'prepend_path("%sENV_LD_LIBRARY_PATH", %s)\n' % (prefix, lua_string(folder))]
    lines.append(generator.comment("the programs can be typed by name in the container"))
    for folder in reversed(settings.program_path):
        lines.append('prepend_path("%sENV_PREPEND_PATH", %s)\n' % (prefix, lua_string(folder)))
    return ''.join(lines)
