"""The options by which OSU's configure finds RCCL, tried with a compiler on a made-up tree of ROCm's layout."""
import re
import shlex

import pytest

from osu_container.core.data.osu_configure import with_rccl
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.recipes.slingshot import osu_with_rocm
from tests.helpers.machine import compile_library, run

NATIVE = {name: (site_entry(name)['native']['value'] or {}).get('configopts', '') for name in SITES}
#: Every place that builds for RCCL -> its options, and what stands there for the folder of ROCm
OPTIONS = {**{name: (options, '$ROCM_PATH') for name, options in NATIVE.items() if '--enable-rcclomb' in options},
           'image': (' '.join(osu_with_rocm('/opt/rocm-6.3.4')), '/opt/rocm-6.3.4')}


@pytest.fixture(scope='module')
def rocm(tmp_path_factory):
    """A folder with the header of RCCL where ROCm has it, and the library."""
    folder = tmp_path_factory.mktemp('rocm')
    (folder / 'include' / 'rccl').mkdir(parents=True)
    (folder / 'include' / 'rccl' / 'rccl.h').write_text('int ncclGetUniqueId(void *id);\n')
    compile_library(folder / 'lib' / 'librccl.so', 'librccl.so.1', source='int ncclGetUniqueId(void *id) {return 0;}\n')
    (folder / 'lib' / 'librccl.so.1').symlink_to('librccl.so')
    return folder


def configured(options, folder):
    """
    Return (includes rccl.h, links with RCCL): what configure.ac of OSU 7.4 would find, by its rules.

    It puts the folders of --with-rccl in front of CPPFLAGS and LDFLAGS, -lrccl among the latter, and has LIBS behind
    the program. The linker drops what is not needed, as Ubuntu's does.
    """
    words = dict(word.partition('=')[::2] for word in shlex.split(options))
    prefix = words['--with-rccl']
    flags = [f'-I{prefix}/include', *words.get('CPPFLAGS', '').split()]
    link = [f'-L{prefix}/lib', f'-Wl,-rpath={prefix}/lib', '-lrccl']
    source = folder / 'conftest.c'
    source.write_text('#include <rccl.h>\nint main(void) { return ncclGetUniqueId(0); }\n')
    included = run(['gcc', *flags, '-E', source]).returncode == 0
    source.write_text('char ncclGetUniqueId();\nint main(void) { return ncclGetUniqueId(); }\n')
    linked = run(['gcc', '-Wl,--as-needed', *flags, *link, '-o', folder / 'conftest', source,
                  *words.get('LIBS', '').split()])
    return included, linked.returncode == 0 and run([folder / 'conftest']).returncode == 0


@pytest.mark.parametrize('place', OPTIONS)
def test_configure_finds_rccl_with_the_options_of_every_build(place, rocm, tmp_path):
    options, variable = OPTIONS[place]
    assert with_rccl(variable) in options, 'it stands once'
    kept = re.sub(r'LDFLAGS="[^"]*"', '', options)  # paths of the site's MPI
    assert configured(kept.replace(variable, str(rocm)), tmp_path) == (True, True)


def test_with_rccl_alone_is_not_enough(rocm, tmp_path):
    assert configured(f'--enable-rcclomb --with-rccl={rocm}', tmp_path) == (False, False)
    assert len(OPTIONS) > 3
