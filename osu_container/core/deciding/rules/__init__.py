"""
The rules of the verdict, in the order in which their findings are told. One file a subject.

To add a rule: write it in the file of its subject, with the decorator `rule` (name, source) and a docstring that says
what it decides; put it into RULES; give it cases in tests/helpers/verdict_cases.py. `make modules` puts it into
docs/check.md.
"""
from osu_container.core.deciding.rules import (
    described,
    environment,
    gpu,
    loading,
    machine,
    mpi,
    network,
    python_programs,
    scripts,
)

RULES = [
    machine.host_paths,
    described.unknown_host,
    described.unknown_facts,
    environment.start,
    environment.unknown,
    machine.architecture,
    gpu.gpu_vendor,
    loading.static_program,
    machine.musl,
    machine.overlay,
    scripts.entrypoint,
    scripts.interpreter,
    mpi.other_mpi_family,
    mpi.draft_abi,
    loading.missing_library,
    loading.symbol_version,
    loading.undefined_symbol,
    loading.injection_defeated,
    environment.loader_variables,
    environment.image_provider,
    environment.image_variables,
    python_programs.conda_mpi,
    python_programs.python_mpi,
    python_programs.mpi4py_finds,
    network.no_libfabric,
    network.netmod,
    network.ucx,
    network.no_provider,
    network.card_driver,
    network.libfabric_api,
    network.capability_set,
    network.not_seen_over_cxi,
    network.tcp_only,
    gpu.rccl_plugin,
    gpu.rocm_release,
    gpu.gpu_memory,
    network.cxi_fork_safe,
    machine.ranks_apart,
    mpi.pmi,
    mpi.no_program,
]
