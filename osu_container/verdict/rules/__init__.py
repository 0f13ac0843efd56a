"""
Collect the rules of the verdict; each file in this folder has the rules on one subject.

To add a rule, write a function with the decorator `Rule` in the file of the subject. The docstring
of a rule states the condition that the rule checks. Add a row to rules.csv, in which the order of the
rules is the order of their findings in a report, and add cases in tests/helpers/verdict_cases.py.
"""

from osu_container.verdict.rules import (  # noqa: F401  # the modules register their rules
    abi,
    described_host,
    fabric,
    gpu_fit,
    image_environment,
    loading,
    machine,
    start,
)
from osu_container.verdict.rules.finding import RULE_TABLE, RULES_BY_NAME

RULES = [RULES_BY_NAME[row['rule']] for row in RULE_TABLE.values()]
