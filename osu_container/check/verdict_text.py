"""Verdicts as text for people and as data for programs."""
import os

from osu_container.core import shell
from osu_container.core.deciding.rules.finding import NOTE
from osu_container.core.deciding.verdict import said
from osu_container.core.terminal import one_line

from .. import columns
from .site import described


def image_facts(image):
    """Return what is said of the open Image first (dict): path, labels that tell, programs, MPI libraries."""
    return {
        'path': image.path, 'described': image.partial, 'mpi': [{'family': family, 'soname': soname, 'path': path}
                                    for family, soname, path in image.mpis()],
        'programs': len(image.programs), 'rocm': image.rocm(), 'cuda': image.cuda(),
        'labels': dict(item for item in sorted(image.labels.items()) if item[0].startswith('org.osu-container')),
    }


def as_data(facts, site, host, runtime, verdicts, best):
    """Return all that page() says, and the container runtime (dict or None), as plain data (dict)."""
    return {
        'image': facts, 'described': host.partial, 'host': described(host) or 'read',
        'site': site['name'], 'sysroot': host.root or None, 'runtime': runtime,
        'recommended': best,
        'verdicts': [{
            'approach': one.approach, 'verdict': one.level, 'untested': one.untested, 'mpi': one.mpi,
            'libfabric': one.libfabric, 'mpi_type': one.launch,
            'findings': [{'rule': finding.rule, 'verdict': finding.level, 'reason': finding.reason,
                          'evidence': [{'file': name, 'found': found} for name, found in finding.evidence],
                          'remedy': finding.remedy, 'source': finding.source} for finding in one.findings],
        } for one in verdicts],
    }


def _wrapped(title, words):
    """Return lines of a paragraph with a title in front."""
    return columns.fill(words, '    %-10s' % title, ' ' * 14)


def page(facts, site, host, verdicts, best, single, chosen=((), ())):
    """Return the text for people; single: bool, one approach was asked for; chosen: as of site.chosen_site()."""
    others = [one for one in verdicts if not single and
              [finding.rule for finding in one.findings if finding.level == 'fails'][:1] == ['other MPI']]
    lines = _head(facts, site, host)
    for one in verdicts:
        if one not in others:
            lines += _verdict_lines(one)
    if others:
        lines.append(columns.fill("Not for this image, whose MPI is another one: %s." % ', '.join(
            one.approach for one in others)))
        # what to do is the same for most of them: once is enough, with the shortest reason
        first = {}
        for one in sorted((one.findings[0] for one in others), key=lambda one: len(one.reason)):
            first.setdefault(one.remedy, one)
        lines += [line for one in first.values() for line in _finding_lines(one)] + ['']
    if not single:
        lines += _advice(best, facts, verdicts, chosen)
    return '\n'.join(lines).rstrip()


def _head(facts, site, host):
    """Return the lines (list of str) on the image and the site."""
    libraries = ', '.join('%s in %s' % (one['soname'], os.path.dirname(one['path'])) for one in facts['mpi'])
    gpu = ''.join('; %s %s' % (name, facts[key]) for name, key in (('ROCm', 'rocm'), ('CUDA', 'cuda')) if facts[key])
    lines = [facts['path'], "    MPI: %s%s" % (libraries or 'none', gpu)]
    if facts['described']:
        lines.append("    described by its name: nothing of it was looked into")
    lines.append("    on site %s (%s)%s" % (site['name'], site['title'], ' below ' + host.root if host.root else ''))
    lines += ["    host: " + described(host)] if host.partial else []
    return [one_line(lines[0])] + [columns.fill(one_line(line).strip(), ' ' * 4, ' ' * 8) for line in lines[1:]] + ['']


def _verdict_lines(verdict):
    """Return the lines (list of str) on one Verdict: its word, what would run, each finding."""
    lines = [columns.fill(said(verdict).replace(verdict.level, verdict.level.upper(), 1), '%-12s' % verdict.approach,
                          ' ' * 14)]
    if verdict.mpi != 'none':
        lines.append(_wrapped('would run', '%s over %s, srun --mpi=%s' % (verdict.mpi, verdict.libfabric,
                                                                         verdict.launch)))
    return lines + [line for finding in verdict.findings for line in _finding_lines(finding)] + ['']


def _finding_lines(finding):
    """Return the lines (list of str) on one Finding."""
    lines = [_wrapped('note' if finding.level == NOTE else 'because', finding.reason)]
    if finding.level != NOTE:
        lines += [_wrapped('evidence', '%s: %s' % item) for item in finding.evidence]
    return lines + ([_wrapped('do', finding.remedy)] if finding.remedy else [])


def _advice(best, facts, verdicts, chosen):
    """Return the last lines (list of str): what to install, for the site that was chosen (see page())."""
    unknown = [one.approach for one in verdicts if one.level == 'unknown']
    if best is None:
        return ["No approach is recommended: none is known to work with this image here."]
    level = next(one.level for one in verdicts if one.approach == best)
    lines = ["Unknown, and faster if it runs: %s" % ', '.join(unknown)] if unknown and level == 'works slowly' else []
    for_eb, for_us = (''.join(' ' + shell.word(word) for word in words) for words in chosen)
    if not facts['programs']:  # it is not for our easyconfigs
        return lines + ["Recommended: %s\n    osu-container new %s%s" % (best, shell.path(facts['path']), for_us)]
    return lines + ["Recommended: %s\n    eb osu-container-%s.eb -r %s%s" % (
        best, best, shell.word('--try-amend=image=' + os.path.basename(facts['path'])), for_eb)]
