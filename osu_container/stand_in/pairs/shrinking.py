"""The smallest case that still differs: the fields of a Case go back to their plain value, one after another."""
from __future__ import annotations

from osu_container.stand_in.pairs.cases import CHOICES, sensible


def shrunk(case, differs, say=lambda text: None):
    """
    Return the Case that is left of case when every field is plain without which it still differs.

    :param differs: function of a Case: bool; asked once for each, never for case itself
    :param say: function of a str, for each step
    """
    seen = {case: True}
    smaller = True
    while smaller:
        smaller = False
        for field, choices in CHOICES.items():
            if getattr(case, field) == choices[0]:
                continue
            simpler = sensible(case._replace(**{field: choices[0]}))
            if simpler == case:
                continue
            if simpler not in seen:
                seen[simpler] = differs(simpler)
                say(f"{'still differs' if seen[simpler] else 'needed'}: {field} {getattr(case, field)}")
            if seen[simpler] and _odd(simpler) < _odd(case):
                case, smaller = simpler, True
    return case


def _odd(case):
    """Return how many fields of case are not plain (int)."""
    return sum(value != CHOICES[field][0] for field, value in case._asdict().items())
