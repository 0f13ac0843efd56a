"""
Hook of MkDocs (mkdocs.yml): the site has results/report.html, the published results as
`osu-container report` shows.

The page is 1.4 MB and follows from data and code, so it is made with the site and not kept in the
repository.
"""

import subprocess
import tempfile
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from osu_container.base.places import PROJECT

COMMAND = PROJECT / 'scripts' / 'osu-container'
#: Where the page is in the site; docs/results/index.md leads to it
PLACE = 'results/report.html'


def on_files(files, config):
    """Add the page. Raises PluginError with what the command says if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / 'report.html'
        done = subprocess.run(
            [COMMAND, 'report', '--published', '-o', page],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise PluginError(f"`osu-container report --published` failed: {done.stderr.strip()}")
        files.append(File.generated(config, PLACE, content=page.read_text(encoding='utf-8')))
    return files
