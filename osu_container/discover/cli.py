"""
osu-container discover: finds what a site of this project needs to know about a system, and writes it as a site.

    osu-container discover                              a report
    osu-container discover -o site.py                   a file from which eb installs
    osu-container discover --compare site.py            what has changed since
    srun -N1 osu-container discover --json >node.json   what a compute node has
    osu-container discover --facts FILE                 its libraries, for osu-container check elsewhere
"""
import datetime
import json
import os
import re
import sys
from collections import OrderedDict

from osu_container.core import outputs, shell
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.terminal import discreet

from . import differ, entry
from .differ import DifferError, read_look
from .entry import easyconfig_of
from .host import Host
from .survey import Survey
from .write import report_of, source_of

FORMAT = 1


def add_arguments(parser):
    """Add the arguments of `osu-container discover`."""
    parser.description = __doc__
    parser.add_argument('-o', '--output', metavar='FILE', help="write the site into FILE, in Python; in JSON where it "
                        "ends in .json")
    parser.add_argument('--facts', metavar='FILE', help="write what check needs of this host's libraries into FILE, in "
                        "JSON, for `osu-container check --facts` on another machine")
    parser.add_argument('--force', action='store_true', help="replace FILE")
    parser.add_argument('--name', help="name of the site; default: that of the Slurm cluster, else of the node")
    parser.add_argument('--from', dest='source', metavar='FILE', help="take what another look has seen: the file of "
                        "`osu-container try`, or that of --json")
    parser.add_argument('--sysroot', metavar='DIR', help="look below DIR, a folder that stands in for /")
    parser.add_argument('--json', action='store_true', help="everything, for programs and for --compare")
    parser.add_argument('--compare', nargs='+', metavar='A', help="how two looks differ: two files of this command, "
                        "one and this node now, or an installed module (name or folder) and this node now")
    parser.set_defaults(function=main, prog='osu-container discover', errors=(OSError,),
                        after_interrupt='nothing was written')


def found_now(root='', name=None, environment=None):
    """
    Look, and return what was found (OrderedDict of plain data).

    format, name, node, kind ('login' or 'compute'), date, root; site: the entry; facts: {key: fact}, what the report
    shows; missing, remarks; approaches: list of (approach, None or why not); commands: list of dict; libraries: {name:
    path, size, mtime, sha256, ...}; seen: {key: value}, the two that --compare reads
    """
    host = Host(root, environment)
    survey = Survey(host, datetime.date.today().isoformat()).look()
    name = name or entry.name_for(survey)
    site = entry.site_of(survey, name)
    said = host.said.values()
    return discreet(OrderedDict([
        ('format', FORMAT), ('name', name), ('node', survey.value('node')),
        # slurmd sets it, for batch scripts and steps; the shell of salloc, on the login node, has none
        ('kind', 'compute' if host.environment.get('SLURMD_NODENAME') else 'login'), ('date', survey.today),
        ('root', host.root), ('facts', OrderedDict(item for item in survey.facts.items() if item[1]['section'])),
        ('approaches', entry.approaches_of(survey, site, name)), ('missing', survey.missing), ('remarks', host.remarks),
        ('commands', [OrderedDict([('command', each.command), ('problem', each.problem),
                                   ('seconds', round(each.seconds, 2))]) for each in said]),
        ('libraries', survey.libraries),
        ('seen', OrderedDict((key, survey.facts[key]['note'] or survey.facts[key]['value'] if key == 'runtime' else
                              survey.facts[key]['value']) for key in differ.COMPARED if key in survey.facts)),
        ('site', site)]))


def main(options):
    """Look, or compare; return the exit code."""
    if os.environ.get('SLURM_PROCID', '0') != '0':
        return 0  # srun -N1 may start several tasks; the first one looks
    if options.name and not re.match(r'[A-Za-z0-9][\w.-]*$', options.name):
        return refuse("--name %s: wanted letters, digits, '.', '_' and '-', such as frontier-2026" % options.name)
    if options.sysroot and not os.path.isdir(options.sysroot):
        return refuse("--sysroot %s: there is no such folder. Name the one that stands for the system's /" %
                      options.sysroot)
    if options.sysroot and not os.access(options.sysroot, os.R_OK | os.X_OK):  # all in it would seem to be missing
        return refuse("--sysroot: the folder %s may not be read by you. Ask for that, or name another one" %
                      options.sysroot)
    if options.force and not (options.output or options.facts):
        return refuse("--force is for -o FILE and --facts FILE")
    if options.facts and (options.output or options.json):
        return refuse("--facts writes JSON into its FILE: leave -o and --json out")
    if options.source and (options.sysroot or options.compare or options.facts or options.name):
        return refuse("--from takes what FILE holds: leave --sysroot, --compare, --facts and --name out")
    if options.compare:
        if options.output or options.name or options.facts:
            return refuse("--compare writes nothing: leave -o, --facts and --name out")
        return compare(options)
    target = options.output or options.facts
    if target:  # said again when it is written; known now, it saves the look
        outputs.check(target, options.force)
    try:
        found = seen_before(options.source) if options.source else found_now(options.sysroot or '', options.name)
    except DifferError as err:
        return refuse(err)
    if options.facts:
        return write_facts(found, options)
    if options.output:
        return write(found, options)
    sys.stdout.write(json.dumps(found, indent=1) + '\n' if options.json else report_of(found))
    return 0


def seen_before(path):
    """
    Return what found_now() has returned, of a file (str, path) of somebody else's. Raises DifferError.

    What becomes Python (write.source_of) must be what this command writes: a site, names, a date.
    """
    found = read_look(path)
    try:
        name, date, kept = found['name'], found['date'], found['approaches']
        good = re.match(r'[A-Za-z0-9][\w.-]*\Z', name) and re.match(r'[\d-]{10}\Z', date) and all(
            approach in APPROACHES and (why is None or isinstance(why, str)) for approach, why in kept)
        site_entry(name, {name: found['site']})
        report_of(found)
        source_of(found)
    except (KeyError, TypeError, ValueError, AttributeError, SettingsError) as err:
        raise DifferError("%s does not hold all that a look finds: %s. `osu-container try` and `osu-container discover "
                          "--json` write it" % (path, err))
    if not good:
        raise DifferError("%s was not written by discover: its name, date or approaches are others than it writes"
                          % path)
    return found


def refuse(text):
    """Say what is wrong about the usage; return the exit code."""
    print("osu-container discover: error: %s" % text, file=sys.stderr)
    return 2


def write(found, options):
    """Write what was found into a file and say how it is used; return the exit code."""
    is_json = options.json or options.output.endswith('.json')
    text = json.dumps(found, indent=1) + '\n' if is_json else source_of(found)
    outputs.write(options.output, text, options.force)
    missing = [entry['what'] for entry in found['missing'] if entry['matters']]
    print("wrote %s: %s with %d facts; not found: %s" % (
        options.output, 'site ' + found['name'], len(found['facts']), ', '.join(missing) or 'nothing that matters'))
    if is_json:
        print("Compare it: osu-container discover --compare %s" % shell.path(options.output))
        return 0
    path = os.path.abspath(options.output)
    can = [approach for approach, why in found['approaches'] if why is None]
    print("Can be installed:   %s" % (', '.join(can) or 'nothing yet'))
    print("Does an image fit?  osu-container check IMAGE.sif --site-file %s" % shell.path(options.output))
    easyconfig = easyconfig_of(found)
    if easyconfig is None:
        for why in sorted(set(why for _, why in found['approaches'])):
            print("To do:              %s; the head of the file says more" % why)
    elif os.path.basename(path) == '_mpicontainer_local.py':
        print("Use it:             export EASYBUILD_INCLUDE_EASYBLOCKS=%s,$EASYBUILD_INCLUDE_EASYBLOCKS\n"
              "                    eb %s -r" % (shell.word(path), easyconfig))
    elif re.search(r'[\s,]', path):
        print("Use it:             copy it where no blank or comma is in its path, which eb cannot take, then eb %s -r "
              "--try-amend=site=FILE.py" % easyconfig)
    elif path.endswith('.py'):
        print("Use it:             eb %s -r %s" % (easyconfig, shell.word('--try-amend=site=' + path)))
    else:
        print("Use it:             give it a name that ends in .py, then eb %s -r --try-amend=site=FILE.py"
              % easyconfig)
    return 0


def write_facts(found, options):
    """Write the libraries of what was found as a description; return the exit code."""
    from ..check.host_facts import text_of
    from . import library_facts
    entry = dict(found['site'], name=found['name'])
    data, remarks = library_facts.description(entry, found['root'], found['name'], found['date'], found['node'])
    outputs.write(options.facts, text_of(data), options.force)
    for remark in remarks:
        print(remark)
    print("wrote %s: %d files of libraries\nUse it elsewhere: osu-container check IMAGE.sif --site NAME --facts %s" % (
        options.facts, len(data['libraries']), shell.path(options.facts)))
    return 0


def compare(options):
    """Compare two looks, or a module with today's host; return 0, 1 or 2."""
    if len(options.compare) > 2:
        return refuse("--compare takes one or two of them, found %d" % len(options.compare))
    try:
        first = options.compare[0]
        if not os.path.isfile(first):
            if len(options.compare) == 2:
                raise differ.DifferError("%s is no file: an installed module is compared with this node as it is now, "
                                         "so name nothing beside it" % first)
            folder = differ.installation(first, os.environ)
            facts = differ.recorded(folder)
            root = options.sysroot or facts['host'].get('root', '')
            if root and not os.path.isdir(root):
                raise differ.DifferError("the module was installed from %s, which is gone. Make it again, or look "
                                         "elsewhere by --sysroot DIR" % root)
            today = found_now(root)
            approach = os.path.basename(os.path.realpath(folder))
            entries = differ.changes(facts, today, approach)
            sides = ('module osu-container/%s as it was installed (%s)' % (approach, folder), side(today, 'now'))
        else:
            one = differ.read_look(first)
            if len(options.compare) == 2:
                other = differ.read_look(options.compare[1])
                sides = (side(one, first), side(other, options.compare[1]))
            else:
                root = options.sysroot or one.get('root') or ''
                if root and not os.path.isdir(root):
                    raise differ.DifferError("%s was written about %s, which is gone. Look elsewhere by --sysroot DIR"
                                             % (first, root))
                other = found_now(root)
                sides = (side(one, first), side(other, 'now'))
            entries = differ.differences(one, other, one.get('node') == other.get('node') and
                                         one.get('kind') == other.get('kind'))
    except differ.DifferError as err:
        return refuse(err)
    if options.json:
        print(json.dumps(entries, indent=1))
    else:
        sys.stdout.write(differ.table(entries, *sides))
    return 1 if entries else 0


def side(found, whence):
    """Return what one side of a comparison is (str)."""
    return '%s node %s, %s (%s)%s' % (
        found.get('kind', 'a'), found.get('node', 'unknown'), found.get('date', 'undated'), whence,
        ', below ' + found['root'] if found.get('root') else '')
