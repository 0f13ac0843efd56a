"""
Run osu-container with the current Python (3.6 or newer): python -m osu_container.
"""

import sys

from osu_container.cli import run_command

if __name__ == '__main__':
    sys.exit(run_command())
