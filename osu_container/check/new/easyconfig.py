"""The text of an easyconfig for an image, the name of its module, and the commands that follow."""

import os
import re

from osu_container.base import shell
from osu_container.base.terminal import escape_line

#: Labels by which an image says what it is: OCI image-spec, annotations; label-schema.org before it
HOMEPAGE_LABELS = (
    'org.opencontainers.image.url',
    'org.opencontainers.image.source',
    'org.label-schema.url',
    'org.label-schema.vcs-url',
)
DESCRIPTION_LABELS = (
    'org.opencontainers.image.description',
    'org.opencontainers.image.title',
    'org.label-schema.description',
)
#: What EasyBuild can make a variable of (EBROOT<NAME>): it rewrites - + and ., and nothing else
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_+.-]*\Z')
#: Modules of this project, whose places these names would take
RESERVED_NAMES = re.compile(r'osu-(container|native|mpi4py)$', re.I)
WIDTH = 118
#: Letters that are taken of a label
MAX_LABEL_LENGTH = 400

TEXT = """easyblock = 'MPIContainer'

name = {name}
version = {version}

homepage = {homepage}
description = {description}

toolchain = SYSTEM

image = {image}
image_sha256 = {image_sha256}
programs = {programs}
example = {example}

commands = ['osu-gpu-bind', 'osu-explain', 'make-squashfs']

sanity_check_commands = ['{plain}-exec true', 'osu-explain']

moduleclass = 'tools'
"""


def derive_module_name(path):
    """
    Return a name (str) for the module of the image path: its file name up to the first release,
    or '' if none is.
    """
    stem = re.sub(r'\.(sif|simg|img|squashfs|sqsh|sqfs)$', '', os.path.basename(path))
    stem = re.sub(r'[-_.:]v?\d+(\.\d+)*([-_.].*)?$', '', stem) or stem
    return stem if NAME.match(stem) else ''


def find_module_name_problem(name):
    """Return why name (str) is none for a module (str), None if it is one."""
    if not NAME.match(name):
        return (
            "%r is no name for a module: EasyBuild makes a variable of it, so it is of letters, digits, _ + - and "
            ". and begins with a letter or digit" % name
        )
    if RESERVED_NAMES.match(name):
        return "%s is a module of this project, which this one would replace" % name
    return None


def quote_value(value):
    """
    Return value (str) as text in an easyconfig: a Python string, in ASCII as eb may read it in any
    locale, in which eb finds no template (easybuild/framework/easyconfig/easyconfig.py,
    resolve_template: %(name)s).
    """
    return ascii(re.sub(r'%(?=%*\(\w+\)s)', '%%', value))


def format_list(values):
    """
    Return values (list of str) as the text of a Python list, on several lines where it is long.
    """
    texts = [quote_value(value) for value in values]
    one = '[%s]' % ', '.join(texts)
    if len(one) < 90:
        return one
    lines = ['']
    for text in texts:
        if len(lines[-1]) + len(text) > WIDTH - 6:
            lines.append('')
        lines[-1] += ' ' * bool(lines[-1]) + text + ','
    return '[\n%s]' % ''.join('    %s\n' % line for line in lines if line)


def _find_label(labels, names):
    """
    Return the first of the labels (dict) names (tuple of str) that says something, on one line;
    '' without.
    """
    found = next(
        (' '.join(labels[name].split()) for name in names if labels.get(name, '').strip()), ''
    )
    return escape_line(
        found[: MAX_LABEL_LENGTH - 3].rstrip() + '...' if len(found) > MAX_LABEL_LENGTH else found
    )


def build_parameters(name, approach, image, sha256, programs, example, title, labels):
    """
    Return {parameter: value} of an easyconfig, what is not the same in all.

    :param name: str, of the module; approach: str; title: str, what the approach does
    :param image: str, file name of the SIF, or its path in a folder of the site; sha256: str, of it
    :param labels: dict of str, of the image
    :param programs: list of str, names or whole paths in the image; example: str, a command
    """
    return {
        'name': name,
        'version': approach,
        'image': image,
        'image_sha256': sha256,
        'programs': list(programs),
        'example': example,
        'homepage': _find_label(labels, HOMEPAGE_LABELS)
        or 'none given (label %s of the image)' % HOMEPAGE_LABELS[0],
        'description': '%s, in a container: %s.'
        % (_find_label(labels, DESCRIPTION_LABELS).rstrip('.') or name, title),
    }


def render_easyconfig(values):
    """Return the text (str) of an easyconfig with values as of build_parameters()."""
    texts = dict(
        (key, format_list(value) if isinstance(value, list) else quote_value(value))
        for key, value in values.items()
    )
    return TEXT.format(plain=values['name'], **texts)


def list_next_commands(path, name, approach, example, start, options=(), other=None):
    """
    Return the commands (list of str) that follow.

    :param path: str, the easyconfig; example: str, a command of the image; start: str, how it is
        started
    :param options: list of str, what eb needs beside it; other: str or None, another approach to
        compare with
    """
    modules = ''.join(' --module %s/%s' % (name, one) for one in [other, approach] if one)
    return [
        shell.join_words(['eb', path] + list(options)),
        'module load %s/%s' % (name, approach),
        start,
        'osu-container proof -- ' + start,
        'osu-container bench%s --run %s' % (modules, shell.quote(example)),
    ]
