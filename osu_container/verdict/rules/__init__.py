"""
Collect the rules of the verdict; each file in this folder has the rules on one subject.

To add a rule, write a function with the decorator rule() in the file of the subject, and add cases
in tests/helpers/verdict_cases.py. The docstring of a rule states the condition that the rule checks.
"""

from osu_container.verdict.rules import (
    abi,
    described_host,
    fabric,
    gpu_fit,
    image_environment,
    loading,
    machine,
    ranks,
    start,
)
from osu_container.verdict.rules.finding import Rule

#: All rules. A report lists findings of the same level in the order of RULES.
RULES = [
    rule
    for module in (
        machine,
        described_host,
        image_environment,
        start,
        abi,
        loading,
        fabric,
        gpu_fit,
        ranks,
    )
    for rule in vars(module).values()
    if isinstance(rule, Rule) and rule.check.__module__ == module.__name__
]
