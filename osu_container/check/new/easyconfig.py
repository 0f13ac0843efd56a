"""Render the easyconfig of an image, and derive the name of the module."""

import os
import re
from typing import Any, Dict, List, Optional, Sequence

from osu_container.base.terminal import escape_line
from osu_container.data.approaches import APPROACHES

#: Labels with descriptions of an image: of the OCI image-spec, then of the older label-schema.org
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
#: Names that EasyBuild can use in a variable (EBROOT<NAME>), in which it replaces only - + and .
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_+.-]*\Z')
#: Names of this project's modules
RESERVED_NAMES = re.compile(r'osu-(container|native|mpi4py)$', re.I)
#: Maximum number of characters that the easyconfig quotes from a label
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


def derive_module_name(path: str) -> str:
    """
    Return a module name: the part of an image's file name that precedes the release.

    The result is '' if this part is not a valid name.
    """
    stem = re.sub(r'\.(sif|simg|img|squashfs|sqsh|sqfs)$', '', os.path.basename(path))
    stem = re.sub(r'[-_.:]v?\d+(\.\d+)*([-_.].*)?$', '', stem) or stem
    return stem if NAME.match(stem) else ''


def find_module_name_problem(name: str) -> Optional[str]:
    """Return why `name` is not a valid name for a module, None if `name` is valid."""
    if not NAME.match(name):
        return (
            "the module name %r is not valid: EasyBuild accepts only letters, digits and the "
            "characters _ + - . and requires a letter or a digit at the start" % name
        )
    if RESERVED_NAMES.match(name):
        return "the module name %s is reserved for a module of this project" % name
    return None


def quote_value(value: str) -> str:
    """
    Return a value as a Python string literal in ASCII for an easyconfig.

    The literal is in ASCII because eb may read the file in any locale. Templates such as %(name)s
    are escaped, because eb replaces templates (resolve_template() of
    easybuild/framework/easyconfig/easyconfig.py).
    """
    return ascii(re.sub(r'%(?=%*\(\w+\)s)', '%%', value))


def format_list(values: List[str]) -> str:
    """Return `values` as the text of a Python list, with one value on each line of a long list."""
    texts = [quote_value(value) for value in values]
    single_line = '[%s]' % ', '.join(texts)
    if len(single_line) < 90:
        return single_line
    return '[\n%s]' % ''.join('    %s,\n' % text for text in texts)


def _find_label(labels: Dict[str, str], names: Sequence[str]) -> str:
    """Return the first nonempty value of the labels `names` as one line, '' without a value."""
    label = next(
        (' '.join(labels[name].split()) for name in names if labels.get(name, '').strip()), ''
    )
    return escape_line(
        label[: MAX_LABEL_LENGTH - 3].rstrip() + '...' if len(label) > MAX_LABEL_LENGTH else label
    )


def build_parameters(
    name: str,
    approach: str,
    image: str,
    sha256: str,
    programs: List[str],
    example: str,
    labels: Dict[str, str],
) -> Dict[str, Any]:
    """
    Return the easyconfig parameters that differ between images.

    image: file name of the SIF, or the path of a SIF that the site provides.
    programs: names of programs, or absolute paths of programs in the image.
    labels: labels of the image.
    """
    return {
        'name': name,
        'version': approach,
        'image': image,
        'image_sha256': sha256,
        'programs': list(programs),
        'example': example,
        'homepage': _find_label(labels, HOMEPAGE_LABELS)
        or 'unknown, because the image has no label %s' % HOMEPAGE_LABELS[0],
        'description': '%s, in a container: %s.'
        % (
            _find_label(labels, DESCRIPTION_LABELS).rstrip('.') or name,
            APPROACHES[approach]['title'],
        ),
    }


def render_easyconfig(values: Dict[str, Any]) -> str:
    """Return the text of an easyconfig; `values` is the result of build_parameters()."""
    texts = {
        key: format_list(value) if isinstance(value, list) else quote_value(value)
        for key, value in values.items()
    }
    return TEXT.format(plain=values['name'], **texts)
