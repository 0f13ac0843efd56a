"""
osu-container discover: finds what a site of this project needs to know about a system, and writes
it as a site.

    osu-container discover                              a report
    osu-container discover -o site.py                   a file from which eb installs
    srun -N1 osu-container discover -o node.py          what a compute node has
    osu-container discover --facts FILE                 its libraries, for osu-container check elsewhere
"""

import datetime
import json
import os
import re
import sys
from collections import OrderedDict

from osu_container.base import outputs, shell
from osu_container.base.terminal import redact_secrets
from osu_container.discover import entry
from osu_container.discover.host import SurveyedHost
from osu_container.discover.survey import Survey
from osu_container.discover.write import format_survey_report, render_site_file
from osu_container.verdict.site_choice import resolve_site


def add_arguments(parser):
    """Add the arguments of `osu-container discover`."""
    parser.description = __doc__
    parser.add_argument(
        '-o', '--output', metavar='FILE', help="write the site into FILE, in Python"
    )
    parser.add_argument(
        '--facts',
        metavar='FILE',
        help="write what check needs of this host's libraries into FILE, in "
        "JSON, for `osu-container check --facts` on another machine",
    )
    parser.add_argument('--force', action='store_true', help="replace FILE")
    parser.add_argument(
        '--name', help="name of the site; default: that of the Slurm cluster, else of the node"
    )
    parser.add_argument(
        '--sysroot', metavar='DIR', help="look below DIR, a folder that stands in for /"
    )
    parser.add_argument(
        '--json', action='store_true', help="print everything found, machine-readable"
    )
    parser.set_defaults(
        function=main,
        prog='osu-container discover',
        errors=(OSError,),
        after_interrupt='nothing was written',
    )


def discover_system(root='', name=None, environment=None):
    """
    Look, and return what was found (OrderedDict of plain data).

    name, node, kind ('login' or 'compute'), date, root; site: the entry; facts: {key: fact}, what
    the report shows; missing, remarks; approaches: list of (approach, None or why not); silent:
    lines on commands without an answer; libraries: {name: path, family, release}
    """
    host = SurveyedHost(root, environment)
    survey = Survey(host, datetime.date.today().isoformat()).survey_system()
    name = name or entry.derive_site_name(survey)
    site = entry.build_site_entry(survey, name)
    return redact_secrets(
        OrderedDict(
            [
                ('name', name),
                ('node', survey.get_value('node')),
                # slurmd sets it, for batch scripts and steps; the shell of salloc, on the login
                # node, has none
                ('kind', 'compute' if host.environment.get('SLURMD_NODENAME') else 'login'),
                ('date', survey.today),
                ('root', host.root),
                ('facts', OrderedDict(item for item in survey.facts.items() if item[1]['section'])),
                ('approaches', entry.list_approach_problems(survey, site, name)),
                ('missing', survey.missing),
                ('remarks', host.remarks),
                (
                    'silent',
                    [
                        '`%s`: %s' % (each.command, each.problem)
                        for each in host.command_results.values()
                        if each.problem
                    ],
                ),
                ('libraries', survey.libraries),
                ('site', site),
            ]
        )
    )


def main(options):
    """Look, and print or write what was found; return the exit code."""
    if os.environ.get('SLURM_PROCID', '0') != '0':
        return 0  # srun -N1 may start several tasks; the first one looks
    if options.name and not re.match(r'[A-Za-z0-9][\w.-]*$', options.name):
        return print_usage_error(
            "--name %s: wanted letters, digits, '.', '_' and '-', such as frontier-2026"
            % options.name
        )
    if options.sysroot and not os.access(
        options.sysroot, os.R_OK | os.X_OK
    ):  # all in it would seem to be missing
        return print_usage_error(
            "--sysroot: there is no folder %s that you may read. Name the one that stands for the system's /"
            % options.sysroot
        )
    if options.facts and (options.output or options.json):
        return print_usage_error("--facts writes JSON into its FILE: leave -o and --json out")
    target = options.output or options.facts
    if target:  # reported again when it is written; known now, it saves the look
        outputs.require_writable(target, options.force)
    found = discover_system(options.sysroot or '', options.name)
    if options.facts:
        return write_host_description(found, options)
    if options.output:
        return write_site_file(found, options)
    sys.stdout.write(
        json.dumps(found, indent=1) + '\n' if options.json else format_survey_report(found)
    )
    return 0


def print_usage_error(text):
    """Say what is wrong about the usage; return the exit code."""
    print("osu-container discover: error: %s" % text, file=sys.stderr)
    return 2


def write_site_file(found, options):
    """Write what was found into a file and print how it is used; return the exit code."""
    outputs.write_file(options.output, render_site_file(found), options.force)
    print(
        "wrote %s: site %s with %d facts; not found: %s"
        % (
            options.output,
            found['name'],
            len(found['facts']),
            ', '.join(entry['what'] for entry in found['missing']) or 'nothing that matters',
        )
    )
    path = os.path.abspath(options.output)
    can = [approach for approach, why in found['approaches'] if why is None]
    print("Can be installed:   %s" % (', '.join(can) or 'nothing yet'))
    print(
        "Does an image fit?  osu-container check IMAGE.sif --site-file %s"
        % shell.quote_path(options.output)
    )
    easyconfig = entry.select_easyconfig(found)
    if easyconfig is None:
        print(
            "To do:              %s" % '; '.join(sorted(set(why for _, why in found['approaches'])))
        )
    elif not re.match(r'[^\s,]+\.py$', path):  # eb takes no blank or comma
        print(
            "Use it:             copy it to a path without blanks that ends in .py, then eb %s -r "
            "--try-amend=site=FILE.py" % easyconfig
        )
    else:
        print(
            "Use it:             eb %s -r %s"
            % (easyconfig, shell.quote('--try-amend=site=' + path))
        )
    return 0


def write_host_description(found, options):
    """Write the libraries of what was found as a description; return the exit code."""
    from osu_container.discover import library_facts
    from osu_container.discover.host_facts import format_description

    site = resolve_site(found['name'], {found['name']: found['site']})
    data = library_facts.describe_host(
        site, found['root'], found['name'], found['date'], found['node']
    )
    outputs.write_file(options.facts, format_description(data), options.force)
    print(
        "wrote %s: %d files of libraries\nUse it elsewhere: osu-container check IMAGE.sif --site NAME --facts %s"
        % (options.facts, len(data['libraries']), shell.quote_path(options.facts))
    )
    return 0
