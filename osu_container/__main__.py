"""
Run osu-container with the current Python: python -m osu_container. Python 3.6.
"""

import sys

from osu_container.cli import run_command

if __name__ == '__main__':
    sys.exit(run_command())
