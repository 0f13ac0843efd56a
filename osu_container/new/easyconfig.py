"""The text of an easyconfig for an image, the name of its module, and the commands that follow."""
import os
import re
import shlex
import textwrap

from osu_container.core.reading.libraries import sha256_of
from osu_container.places import PROJECT

#: What a module brings beside the programs; they lie here in the clone, and the easyblock finds them there
SOURCES = ['run-in-container', 'osu-gpu-bind', 'osu-explain', 'make-squashfs']
FOLDER = os.path.join(PROJECT, 'easyconfigs', 'o', 'osu-container')
#: Labels by which an image says what it is: OCI image-spec, annotations; label-schema.org before it
HOMEPAGE = ('org.opencontainers.image.url', 'org.opencontainers.image.source', 'org.label-schema.url',
            'org.label-schema.vcs-url')
DESCRIPTION = ('org.opencontainers.image.description', 'org.opencontainers.image.title', 'org.label-schema.description')
#: What EasyBuild can make a variable of (EBROOT<NAME>): it rewrites - + and ., and nothing else
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_+.-]*$')
#: Modules of this project, whose places these names would take
TAKEN = re.compile(r'osu-(container|native|mpi4py)$', re.I)
WIDTH = 118

TEXT = """easyblock = 'MPIContainer'

name = {name}
version = {approach}

homepage = {homepage}
description = {description}

toolchain = SYSTEM

image = {image}
image_sha256 = {sha256}
programs = {programs}
example = {example}

sources = {sources}
checksums = {checksums}
commands = ['osu-gpu-bind', 'osu-explain', 'make-squashfs']

sanity_check_commands = ['{plain}-exec true', 'osu-explain']

moduleclass = 'tools'
"""


def name_of(path):
    """Return a name (str) for the module of the image path: its file name up to the first release, or '' if none is."""
    stem = re.sub(r'\.(sif|simg|img)$', '', os.path.basename(path))
    stem = re.sub(r'[-_.:]v?\d+(\.\d+)*([-_.].*)?$', '', stem) or stem
    return stem if NAME.match(stem) else ''


def name_problem(name):
    """Return why name (str) is none for a module (str), None if it is one."""
    if not NAME.match(name):
        return ("%r is no name for a module: EasyBuild makes a variable of it, so it is of letters, digits, _ + - and "
                ". and begins with a letter or digit" % name)
    if TAKEN.match(name):
        return "%s is a module of this project, which this one would replace" % name
    return None


def listed(values):
    """Return values (list of str) as the text of a Python list, on several lines where it is long."""
    one = '[%s]' % ', '.join(repr(value) for value in values)
    if len(one) < 90:
        return one
    return '[\n%s,\n]' % textwrap.fill(', '.join(repr(value) for value in values), WIDTH, initial_indent='    ',
                                       subsequent_indent='    ', break_long_words=False, break_on_hyphens=False)


def _label(labels, names):
    """Return the first of the labels (dict) names (tuple of str) that says something, on one line; '' without."""
    return next((' '.join(labels[name].split()) for name in names if labels.get(name, '').strip()), '')


def text_of(name, approach, image, sha256, programs, example, title, labels):
    """
    Return the text (str) of an easyconfig.

    :param name: str, of the module; approach: str; title: str, what the approach does
    :param image: str, file name of the SIF, or its path in a folder of the site; sha256: str, of it
    :param labels: dict of str, of the image
    :param programs: list of str, names or whole paths in the image; example: str, a command
    """
    description = _label(labels, DESCRIPTION)
    return TEXT.format(
        name=repr(name), approach=repr(approach), plain=name, image=repr(image), sha256=repr(sha256),
        homepage=repr(_label(labels, HOMEPAGE) or 'unknown: the image has no label that says it'),
        description=repr('%s, in a container: %s.' % (description.rstrip('.') or name, title)),
        programs=listed(programs), example=repr(example), sources=repr(SOURCES),
        checksums='[\n%s]' % ''.join("    %r,\n" % sha256_of(os.path.join(FOLDER, source)) for source in SOURCES))


def following(path, name, approach, example, options=(), other=None):
    """
    Return the commands (list of str) that follow.

    :param path: str, the easyconfig; example: str, a command of the image
    :param options: list of str, what eb needs beside it; other: str or None, another approach to compare with
    """
    srun = 'srun -N2 -n2 %s' % example
    modules = ''.join(' --module %s/%s' % (name, one) for one in [other, approach] if one)
    return ['%s %s' % ('eb', ' '.join(shlex.quote(word) for word in [path] + list(options))),
            'module load %s/%s' % (name, approach), srun, 'osu-container proof -- ' + srun,
            'osu-container bench%s --run %s' % (modules, shlex.quote(example))]
