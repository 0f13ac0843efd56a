"""Samples: of many cases of one kind `make test` runs one, `make test-all` runs all (marker full)."""
import pytest


def one_of_each(values, kind=lambda *value: None):
    """
    Return values as cases of parametrize: of those of one kind all but the first are marked full.

    :param values: list, of tuples or pytest.param too; kind: function of a value, or of what is in its tuple, that
                   returns its kind; without it all are of one
    """
    seen, found = set(), []
    for value in values:
        case = value if hasattr(value, 'marks') else pytest.param(*(value if type(value) is tuple else [value]))
        what = kind(*case.values)
        found.append(pytest.param(*case.values, id=case.id, marks=[*case.marks, *(
            [pytest.mark.full] if what in seen else [])]))
        seen.add(what)
    return found


def all_pairs(first, second, some=None):
    """
    Return all pairs of two lists as cases of parametrize; all but enough to have each value once are marked full.

    :param some: list, those values of first that are enough; None: all
    """
    first, second, some = list(first), list(second), list(some or first)
    few = {(some[number % len(some)], second[number % len(second)]) for number in range(max(len(some), len(second)))}
    return [pytest.param(one, other, marks=[] if (one, other) in few else [pytest.mark.full])
            for one in first for other in second]
