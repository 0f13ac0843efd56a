"""Define rules and findings of the verdict, and the registry of all rules."""

import re
from typing import Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple, Union

from osu_container.data.approaches import APPROACHES
from osu_container.image.loader import LoadedFile
from osu_container.verdict.trial import Change, Trial

#: Levels of a verdict, from the best to the worst. 'no use': the program runs, but the approach
#: changes nothing for this image.
LEVELS = ['works', 'works slowly', 'no use', 'unknown', 'fails']
#: Level of a finding that does not change the verdict
NOTE = 'note'
#: Remedy where only a start of the command shows which libraries the command loads
START_REMEDY = (
    'let check start the command and read which libraries the command loads: `osu-container check '
    'IMAGE --start -- COMMAND`, where COMMAND is the command line in the container'
)
#: A remedy. `check` judges the image again with a Change, and prints the remedy only if the finding
#: disappears. `check` cannot apply a str: the user then builds another image, corrects the site file,
#: or runs a command that shows more.
Remedy = Union[Change, str]
#: Any approach with which the finding disappears
OTHER_APPROACHES = Change('', [name for name in APPROACHES if APPROACHES[name]['container']])

#: Kinds of facts on which a finding can depend: runtime and PMI, provider of the network, GPUs, and
#: libraries of the host. A verdict lists untested facts in this order.
FACT_KINDS = ('runtime', 'pmi', 'provider', 'gpu', 'host')


class Finding(NamedTuple):
    """A reason for a verdict, which one of the rules reports."""

    rule: str  #: name of the rule
    level: str  #: one of LEVELS or NOTE
    reason: str  #: one sentence without a full stop
    evidence: List[Tuple[str, str]]  #: (file, what was found there)
    remedy: str  #: what the user can do, '' without a remedy
    source: str  #: source of the rule
    remedies: Sequence[Remedy] = ()  #: the alternatives of which `remedy` is the text


class Rule:
    """A rule: its name, its source, and the function that looks for problems in a Trial."""

    def __init__(
        self,
        check: Callable[[Trial], Iterable[Finding]],
        name: str,
        source: str,
        facts: Sequence[str],
        needs_process: bool,
        superseded: str,
    ) -> None:
        self.check, self.name, self.source = check, name, source
        self.facts, self.needs_process, self.superseded = facts, needs_process, superseded

    def __call__(self, trial: Trial) -> List[Finding]:
        return [self.label_finding(finding) for finding in self.check(trial)]

    def label_finding(self, finding: Finding) -> Finding:
        """Return a copy of the finding, with the name and the source of this rule added."""
        return finding._replace(rule=self.name, source=self.source)


#: Name -> rule, filled by the decorator rule()
RULES_BY_NAME: Dict[str, Rule] = {}


def rule(
    name: str,
    source: str,
    facts: Sequence[str] = (),
    needs_process: bool = False,
    superseded: str = '',
) -> Callable[[Callable[[Trial], Iterable[Finding]]], Rule]:
    """
    Return the decorator that registers a function as a rule.

    The decorated function gets a Trial and looks for problems. For each problem with evidence, the
    function yields a result of make_finding().

    facts: kinds in FACT_KINDS on which the findings depend. needs_process: whether
    downgrade_uncertain() changes a finding 'fails' of this rule to 'unknown' when the libraries in
    the process are uncertain. superseded: libraries of a started process ('of MPI', or 'of MPI and
    libfabric') that make the findings of this rule unnecessary, '' if none.
    """

    def decorate(check: Callable[[Trial], Iterable[Finding]]) -> Rule:
        RULES_BY_NAME[name] = Rule(check, name, source, facts, needs_process, superseded)
        return RULES_BY_NAME[name]

    return decorate


def make_finding(
    level: str, reason: str, evidence: Iterable[Tuple[str, str]] = (), *remedies: Remedy
) -> Finding:
    """
    Return a Finding; later, the decorator rule() adds the name and source of the rule.

    remedies: alternatives, of which the user needs only one.
    """
    return Finding(
        '', level, reason, list(evidence), '; or '.join(map(format_remedy, remedies)), '', remedies
    )


def report_problem(
    level: str, reason: str, file: Union[str, LoadedFile], found: str, *remedies: Remedy
) -> Finding:
    """Return a Finding with one item of evidence: a file, and the content found in the file."""
    path = file.facts.path if isinstance(file, LoadedFile) else file
    return make_finding(level, reason, [(path, found)], *remedies)


def format_remedy(remedy: Remedy) -> str:
    """Return a remedy as text for the user."""
    if isinstance(remedy, str):
        return remedy
    names = re.sub(r', (\w+)$', r' or \1', ', '.join(remedy.approaches))
    return 'use approach ' * bool(names) + names + remedy.text
