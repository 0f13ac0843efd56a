"""The environment for CSCS's Container Engine: current, valid by its schema, and what the module sets."""
import json
import re

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.generate import edf
from osu_container.generate.described_facts import facts_of
from tests.helpers.machine import PROJECT

try:
    import tomllib
except ImportError:  # Python 3.9 and 3.10
    tomllib = pytest.importorskip('tomli')
jsonschema = pytest.importorskip('jsonschema')


MODULES = PROJECT / 'modules'
SCHEMA = json.loads((PROJECT / 'osu_container/generate/edf-schema.json').read_text())
FILES = sorted(MODULES.glob('*/container-engine/*.toml'))
ALPS = MODULES / 'alps' / 'container-engine' / 'osu-container-openmpi.toml'
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FACTS = facts_of('alps', 'osu-container/openmpi')


def problems(text):
    """Return what the schema says against an EDF (list of str: path and validator)."""
    return ['/'.join(map(str, error.absolute_path)) + ' ' + error.validator
            for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_the_schema_is_one_and_names_its_source():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert 'github.com/eth-cscs/cscs-docs' in SCHEMA['$comment']


def test_every_site_with_the_engine_has_its_files_and_no_other():
    sites = {name for name in SITES if site_entry(name).get('engine', {}).get('value') == edf.ENGINE}
    assert sites == {path.parent.parent.name for path in FILES} and 'alps' in sites


def test_checked_in_files_are_what_is_rendered_now():
    found = {str(path.relative_to(MODULES)): path.read_text() for path in FILES}
    assert found == edf.rendered(), 'stale, run `make modules`'


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_file_is_valid(path):
    assert problems(path.read_text()) == []
    assert max(map(len, path.read_text().splitlines())) < 220


def test_what_srun_reads_is_exported_before_it_and_not_set_in_the_container():
    text = ALPS.read_text()
    assert not re.search(r'^(#   )?SLURM_\w+ = ', text, re.M)
    assert re.search(r'^#   export SLURM_NETWORK=disable_rdzv_get ', text, re.M)


@pytest.mark.parametrize('text, wanted', [
    ('', ' anyOf'),
    ('image = 1', 'image type'),
    ('image = "a b"', 'image pattern'),
    ('image = "a"\nentrypoint = "false"', 'entrypoint type'),
    ('image = "a"\nwritable = 0', 'writable type'),
    ('image = "a"\nmounts = "/a:/b"', 'mounts type'),
    ('image = "a"\nmounts = ["/a"]', 'mounts/0 pattern'),
    ('image = "a"\nmounts = ["/a:b"]', 'mounts/0 pattern'),
    ('image = "a"\nmounts = ["/a:/b:ro private"]', 'mounts/0 pattern'),
    ('image = "a"\nworkdir = "relative"', 'workdir pattern'),
    ('image = "a"\nenviroment = {}', ' additionalProperties'),
    ('image = "a"\n[env]\nX = 1', 'env/X type'),
    ('image = "a"\n[env]\n"a-b" = "1"', 'env pattern'),
    ('image = "a"\n[annotations]\ncom.hooks.cxi.enabled = false', 'annotations/com/hooks/cxi/enabled'),
    ('image = "a"\n[annotations]\ncom.hooks.cxi.enabled = "no"', 'annotations/com/hooks/cxi/enabled enum'),
    ('image = "a"\n[annotations]\ncom.hook.cxi.enabled = "true"', 'annotations/com additionalProperties'),
    ('image = "a"\n[annotations]\ncom.hooks.aws_ofi_nccl.variant = "cuda11"', 'annotations/com/hooks/aws_ofi_nccl'),
    ('base_environment = []', 'base_environment oneOf'),
])
def test_what_is_wrong_is_found(text, wanted):
    found = problems(text)
    assert found and any(wanted.strip() in one for one in found), found
