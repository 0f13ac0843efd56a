"""
Draw pairs of an image and a host at random, run each on two nodes, and put beside it what `osu-container check` says.

    stand-in/pairs                          30 pairs, of the parts that `make test` uses; exit code 1 if one is wrong
    stand-in/pairs --all --count 300        of all parts, as the nightly does (a gigabyte of downloads)
    stand-in/pairs --seed 4711 --count 1    that pair again
    stand-in/pairs --list ...               say what would run; nothing is made
    stand-in/pairs --kept                   the cases that once were wrong (stand-in/kept.json)

A pair is an image (an MPI, its libfabric, a Debian, how its program finds them, what its scripts set) and a host (its
libfabric, its MPI) with an approach. The settings are those of the module that would be installed, failing ones
included. A pair whose prediction is wrong is made smaller, field by field, until every odd thing in it is needed.

Needs the set-up of the workstation (make setup). Parts are kept in .workstation/pairs, downloads in sources/.
"""
from __future__ import annotations

import argparse
import datetime
import functools
import json
import signal
import sys

from osu_container.core.deciding.facts import FactsError
from osu_container.core.deciding.site_choice import SettingsError
from osu_container.image import ImageError as BuildError
from osu_container.places import PROJECT
from osu_container.stand_in.pairs import cases, running, shrinking
from osu_container.stand_in.tree import StandInError, run

say = functools.partial(print, file=sys.stderr, flush=True)
KEPT = PROJECT / 'stand-in' / 'kept.json'
COUNT = 10
WORDS = ('right', 'unknown', 'wrong')


def kept():
    """Return the cases that once were wrong (dict: what it was about -> Case)."""
    return {entry['about']: cases.Case(**{**cases.PLAIN._asdict(), **entry['case']})
            for entry in json.loads(KEPT.read_text())}


def odd(case):
    """Return what is not plain in a Case (dict), as files keep it."""
    return {field: value for field, value in case._asdict().items() if value != getattr(cases.PLAIN, field)}


def shrink(case):
    """Return the Tried of the smallest Case that is wrong as case is."""
    last = {}

    def differs(smaller):
        last[smaller] = running.tried(smaller)
        return last[smaller].agrees == 'wrong'
    smallest = shrinking.shrunk(case, differs, lambda text: say(f'    {text}'))
    return last.get(smallest) or running.tried(smallest)


def line(name, one):
    """Return a Tried as a line (str)."""
    text = f"{one.agrees:8}{name}: {cases.title(one.case)}: {one.verdict}, {one.outcome.happened}"
    return text + (f"\n        {one.why}" if one.why else '')


def parse(arguments):
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser(prog='stand-in/pairs', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--count', type=int, default=COUNT, metavar='N', help=f"how many pairs; default: {COUNT}")
    parser.add_argument('--seed', type=int, default=1, metavar='N', help="the first seed; default: 1; with 0 the date")
    parser.add_argument('--all', action='store_true', help="of all parts")
    which = parser.add_mutually_exclusive_group()
    which.add_argument('--kept', action='store_true', help="the cases that once were wrong instead")
    which.add_argument('--case', metavar='JSON', help="this case instead: {\"field\": \"value\", ...}, the rest plain")
    parser.add_argument('--list', action='store_true', help="say what would run")
    parser.add_argument('--json', action='store_true', help="a line of JSON for each pair, the output of the run too")
    parser.add_argument('--no-shrink', action='store_true', help="leave what is wrong as it was drawn")
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error(f"--count {options.count}: at least 1 is wanted")
    return options


def chosen(options):
    """Return the cases (dict: name -> Case) that options name. Raises StandInError."""
    if options.kept:
        return kept()
    if options.case:
        try:
            case = cases.Case(**{**cases.PLAIN._asdict(), **json.loads(options.case)})
        except (ValueError, TypeError) as err:
            raise StandInError(f"--case {options.case}: {err}. Wanted is a JSON object with fields of: "
                               f"{', '.join(cases.Case._fields)}") from err
        wrong = [f'{field} {value!r}' for field, value in case._asdict().items() if value not in cases.CHOICES[field]]
        if wrong:
            raise StandInError(f"--case: no such value: {', '.join(wrong)}. All are in "
                               "osu_container/stand_in/pairs/cases.py")
        return {'case': case}
    seed = options.seed or int(datetime.datetime.now().strftime('%Y%m%d')) * 1000
    return {f'seed {number}': case for number, case in cases.draws(seed, options.count, not options.all).items()}


def main():
    """Try the pairs; turn an expected failure into a message and exit code 2."""
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    results = {}
    try:
        todo = chosen(options)
        if options.list:
            for name, case in todo.items():
                print(f'{name}: {cases.title(case)}')
            return 0
        run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
        for number, (name, case) in enumerate(todo.items(), 1):
            one = results[name] = running.tried(case)
            print(json.dumps({'name': name, **running.as_data(one), 'output': one.outcome.output}) if options.json
                  else f'{number:4} of {len(todo)}  {line(name, one)}', flush=True)
            if one.agrees == 'wrong' and not options.no_shrink:
                smallest = shrink(case)
                say(f"    the smallest: --case '{json.dumps(odd(smallest.case), ensure_ascii=False)}'\n"
                    f"    {smallest.why}")
    except (StandInError, BuildError, FactsError, SettingsError, OSError) as err:
        print(f"stand-in/pairs: error: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stand-in/pairs: interrupted; repeat it", file=sys.stderr)
        return 130
    counts = {word: sum(one.agrees == word for one in results.values()) for word in WORDS}
    say(', '.join(f'{count} {word}' for word, count in counts.items()))
    return 1 if counts['wrong'] else 0


if __name__ == '__main__':
    sys.exit(main())
