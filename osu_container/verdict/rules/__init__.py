"""
Collect the rules of the verdict; each file in this folder has the rules on one subject.

To add a rule, write a function with the decorator `rule` in the file of the subject. The docstring
of a rule states the condition that the rule checks. Insert the name of the rule in _ORDER, the
order of the findings in a report, and add cases in
tests/helpers/verdict_cases.py.
"""

from osu_container.verdict.rules import (  # noqa: F401  # the modules register their rules
    abi,
    described_host,
    fabric,
    gpu_fit,
    image_environment,
    loading,
    machine,
    start,
    started_scripts,
)
from osu_container.verdict.rules.finding import RULES_BY_NAME

#: Names of all rules. Findings of the same level are reported in this order.
_ORDER = """
host path missing
host not described
facts of the host
start of the container
unknown environment
privileges
mounted over
architecture
GPU vendor
static program
musl
overlay
entrypoint
interpreter
other MPI
two builds of Open MPI
two MPIs
standard ABI
missing library
symbol version
processor level
undefined symbol
injection defeated
provider of the image
image's variables
parameter files
no libfabric
netmod
UCX
libcxi and driver
no provider
card driver
libfabric API
capability set
not seen over cxi
TCP only
RCCL plugin
GPU transport layer
pointer query
CUDA release
ROCm release
ranks apart
PMI
no program
dry run
start
"""
RULES = [RULES_BY_NAME[name] for name in _ORDER.strip().splitlines()]
