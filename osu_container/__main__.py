"""
python -m osu_container: what scripts/osu-container is, by the Python that is called. Python 3.6.
"""

import sys

from osu_container.cli import run_command

if __name__ == '__main__':
    sys.exit(run_command())
