"""MkDocs hook (mkdocs.yml) that adds results/report.html, the page of `osu-container report`.

The page has 1.4 MB and follows from data and code, so it is generated with the site instead of
checked in.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from osu_container.base.places import PROJECT

COMMAND = PROJECT / 'scripts' / 'osu-container'
#: Path of the page in the site, to which docs/results/index.md links
PLACE = 'results/report.html'


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page. Raises PluginError with the command's error output if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / 'report.html'
        process = subprocess.run(
            [COMMAND, 'report', '--published', '-o', page],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if process.returncode:
            raise PluginError(
                f"`osu-container report --published` failed: {process.stderr.strip()}"
            )
        files.append(File.generated(config, PLACE, content=page.read_text(encoding='utf-8')))
    return files
