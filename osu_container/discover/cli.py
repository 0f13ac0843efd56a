"""
Survey the MPI, network, GPUs and Slurm of this system, and describe the system as a site.

    osu-container discover                        print a report
    osu-container discover -o site.py             write a site file for eb
    srun -N1 osu-container discover -o node.py    write a site file on a compute node
    osu-container discover --facts FILE           write a description of the host's libraries
"""

import argparse
import datetime
import json
import os
import re
import sys
from typing import Any, Dict, Mapping, Optional

from osu_container.base import outputs, shell
from osu_container.base.places import STATE
from osu_container.data.records import redact
from osu_container.discover import entry
from osu_container.discover.host import SurveyedHost, find_root_problem
from osu_container.discover.survey import Survey
from osu_container.discover.write import format_survey_report, render_site_file
from osu_container.verdict.site_choice import resolve_site


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container discover` to the parser."""
    parser.description = __doc__
    parser.add_argument(
        '-o',
        '--output',
        metavar='FILE',
        help="write the description of the site to FILE, as Python source for eb",
    )
    parser.add_argument(
        '--facts',
        metavar='FILE',
        help="write a description of the host's libraries to FILE as JSON; `osu-container check "
        "--facts FILE` on another machine reads the FILE",
    )
    parser.add_argument('--force', action='store_true', help="replace an existing FILE")
    parser.add_argument(
        '--name',
        help="name of the site (default: the name of the Slurm cluster, or without Slurm the name of the node)",
    )
    parser.add_argument('--sysroot', help=argparse.SUPPRESS)  # a folder to read in place of /
    parser.add_argument(
        '--json', action='store_true', help="print all results in machine-readable form (JSON)"
    )
    parser.set_defaults(
        function=main,
        prog='osu-container discover',
        errors=(OSError,),
        after_interrupt='nothing was written',
    )


def discover_system(
    root: str = '', name: Optional[str] = None, environment: Optional[Dict[str, str]] = None
) -> Dict[str, Any]:
    """
    Survey the system and return the results as a dict of plain data.

    Keys of the dict:

        name, node, kind, date, root    the site, the node, 'login' or 'compute', the day, the sysroot
        site          entry of the site, in the format of data/sites/schema.py
        facts         {key: fact}, the facts for the report
        missing       missing parts of the system, each with its consequence
        remarks       sentences on unusual files
        approaches    list of (name of an approach, problem or None)
        silent        one line for each command that failed
        libraries     {name of a library: dict with path, family and release}
    """
    host = SurveyedHost(root, environment)
    survey = Survey(host, datetime.date.today().isoformat()).survey_system()
    name = name or entry.derive_site_name(survey)
    site = entry.build_site_entry(survey, name)
    return redact(
        {
            'name': name,
            'node': survey.get_value('node'),
            # slurmd sets the variable for batch scripts and steps, but not for the shell of
            # salloc on the login node.
            'kind': 'compute' if host.environment.get('SLURMD_NODENAME') else 'login',
            'date': survey.today,
            'root': host.root,
            'facts': {key: fact for key, fact in survey.facts.items() if fact['section']},
            'approaches': entry.list_approach_problems(survey, site, name),
            'missing': survey.missing,
            'remarks': host.remarks,
            'silent': [
                '`%s`: %s' % (each.command, each.problem)
                for each in host.command_results.values()
                if each.problem
            ],
            'libraries': survey.libraries,
            'site': site,
        }
    )


def main(options: argparse.Namespace) -> int:
    """Survey the system, print or write the results, and return the exit code."""
    if os.environ.get('SLURM_PROCID', '0') != '0':
        return 0  # srun -N1 may start several tasks: only the first surveys the node
    if options.name and not re.match(r'[A-Za-z0-9][\w.-]*$', options.name):
        return print_usage_error(
            "--name %s is not valid. Use letters, digits, '.', '_' and '-', for example: "
            "frontier-2026" % options.name
        )
    root = find_demo_root(os.environ) if options.sysroot is None else options.sysroot
    problem = find_root_problem(root) if root else None
    if problem:
        return print_usage_error(problem)
    if options.facts and (options.output or options.json):
        return print_usage_error(
            "the option --facts FILE cannot be combined with -o or --json. Omit -o and --json"
        )
    target = options.output or options.facts
    if target:  # report a problem before the survey, which takes seconds
        outputs.require_writable(target, options.force)
    system = discover_system(root, options.name)
    if options.facts:
        return write_host_description(system, options)
    if options.output:
        return write_site_file(system, options)
    sys.stdout.write(
        json.dumps(system, indent=1) + '\n' if options.json else format_survey_report(system)
    )
    return 0


def find_demo_root(environment: Mapping[str, str]) -> str:
    """
    Return the folder with the simulated host of `make demo`, '' if the demo is not in use.

    The command `. ./env.sh` selects the demo: env.sh adds the demo's easyblock to
    EASYBUILD_INCLUDE_EASYBLOCKS. With this setting, eb and `osu-container check` also read the
    host's files below the folder of the simulated host.
    """
    files = environment.get('EASYBUILD_INCLUDE_EASYBLOCKS', '')
    folder = os.path.realpath(str(STATE / 'host'))
    return folder if str(STATE / 'local') in files and os.path.isdir(folder) else ''


def print_usage_error(text: str) -> int:
    """Print a usage error to stderr and return the exit code 2."""
    print("osu-container discover: error: %s" % text, file=sys.stderr)
    return 2


def write_site_file(system: Dict[str, Any], options: argparse.Namespace) -> int:
    """Write the site file, print the next commands, and return the exit code."""
    outputs.write_file(options.output, render_site_file(system), options.force)
    path = os.path.abspath(options.output)
    installable = [approach for approach, problem in system['approaches'] if problem is None]
    print(
        "wrote %s: site %s with %d facts; missing: %s\n"
        "Can be installed:   %s\n"
        "Check an image:     osu-container check IMAGE.sif --site %s"
        % (
            options.output,
            system['name'],
            len(system['facts']),
            ', '.join(entry['what'] for entry in system['missing']) or 'nothing',
            ', '.join(installable) or 'nothing yet',
            shell.quote(os.path.join('.', options.output)),
        )
    )
    easyconfig = entry.select_easyconfig(system)
    if easyconfig is None:
        print(
            "To do:              %s"
            % '; '.join(sorted({problem for _, problem in system['approaches']}))
        )
    elif not re.match(r'[^\s,]+\.py$', path):  # eb accepts no blank or comma
        print(
            "Install:            copy the file to a path FILE.py without blanks and commas, then run: eb %s -r "
            "--try-amend=site=FILE.py" % easyconfig
        )
    else:
        print(
            "Install:            eb %s -r %s"
            % (easyconfig, shell.quote('--try-amend=site=' + path))
        )
    return 0


def write_host_description(system: Dict[str, Any], options: argparse.Namespace) -> int:
    """Write the host description, print the command that reads the description, and return 0."""
    from osu_container.discover import library_facts
    from osu_container.discover.host_facts import format_description

    site = resolve_site(system['name'], {system['name']: system['site']})
    data = library_facts.describe_host(
        site, system['root'], system['name'], system['date'], system['node']
    )
    outputs.write_file(options.facts, format_description(data), options.force)
    print(
        "wrote %s: %d libraries\nOn another machine, run: osu-container check IMAGE.sif --site NAME --facts %s"
        % (options.facts, len(data['libraries']), shell.quote_path(options.facts))
    )
    return 0
