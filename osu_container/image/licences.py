"""Licences of Debian packages as SPDX expressions, from copyright files in the machine-readable form (DEP 5)."""
import re
from pathlib import Path

#: SPDX's identifiers of licences, in lower case -> as SPDX writes them. licences.txt: spdx.org/licenses (CC0-1.0) as
#: license-expression 30.4 has it, which spdx-tools takes; a test compares.
KNOWN = {name.lower(): name for name in (Path(__file__).parent / 'licences.txt').read_text().split()}

# Debian's short names, in lower case, of licences that SPDX calls otherwise
_OTHERWISE = {
    'expat': 'MIT', 'mit/x11': 'MIT', 'apache-2': 'Apache-2.0', 'artistic': 'Artistic-1.0-Perl',
    'artistic-2': 'Artistic-2.0', 'gpl': 'GPL-1.0-or-later', 'lgpl': 'LGPL-2.0-or-later',
}
# GPL-2+, GPLv3+, LGPL-2.1, GFDL-1.3, AGPL-3.0+ ...
_GNU = re.compile(r'(a|l)?gpl-?v?([123](?:\.[01])?)(\+)?|gfdl-(1\.[123])(\+)?', re.I)


def declared(text, known):
    """Return (expression, references) of a copyright file (text), (None, {}) if it is not machine-readable.

    known: SPDX's identifiers, in lower case -> as SPDX writes them. expression: SPDX expression of all its licences.
    references: LicenseRef-... -> Debian's name, of those that SPDX does not list.
    """
    first = text.lstrip().split('\n', 1)[0]
    if not re.match(r'Format(-Specification)?:', first):
        return None, {}
    references, terms = {}, set()
    for name in re.findall(r'^License:[ \t]*(\S.*)$', text, re.M):
        if _is_name(name):
            for part in re.split(r',?\s+and\s+', ' '.join(name.split()), flags=re.I):
                terms.add(_either(part, known, references))
    return (' AND '.join(sorted(terms)) or None), references


def _is_name(name):
    """Return whether what follows License: is a short name and not the licence itself."""
    return len(name) < 60 and not re.search(r'[;"*]|\b(permission|redistribution|software|this|the)\b', name, re.I)


def _either(name, known, references):
    """Return names joined by 'or' as SPDX expression."""
    terms = sorted({_one(part.strip(' ,'), known, references)
                    for part in re.split(r'\s+(?:and/)?or\s+|_or_', name, flags=re.I)})
    return f"({' OR '.join(terms)})" if len(terms) > 1 else terms[0]


def _one(name, known, references):
    """Return the SPDX identifier of one licence, with a reference for what SPDX does not list."""
    same = _OTHERWISE.get(name.lower()) or known.get(name.lower())
    gnu = _GNU.fullmatch(name)
    if gnu and not same:
        kind, version, later, documentation, documentation_later = gnu.groups()
        if documentation:
            same = f"GFDL-{documentation}-{'or-later' if documentation_later else 'only'}"
        else:
            version = version if '.' in version else f'{version}.0'
            same = f"{(kind or '').upper()}GPL-{version}-{'or-later' if later else 'only'}"
        same = known.get(same.lower())
    if same:
        return same
    slug = re.sub(r'[^A-Za-z0-9.]+', '-', name.replace('+', ' or later ')).strip('-')
    reference = f'LicenseRef-Debian-{slug}'
    references[reference] = name
    return reference
