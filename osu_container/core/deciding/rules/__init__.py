"""
The rules of the verdict, in the order in which their findings are told. One file a subject.

To add a rule: write it in the file of its subject, with the decorator `rule` (name, source) and a docstring that says
what it decides; put it into RULES; give it cases in tests/helpers/verdict_cases.py. `make modules` puts it into
docs/check.md.
"""
from osu_container.core.deciding.rules import (
    abi,
    described_host,
    fabric,
    gpu_fit,
    image_environment,
    loading,
    machine,
    started_scripts,
)

RULES = [
    machine.host_paths,
    described_host.unknown_host,
    described_host.unknown_facts,
    image_environment.start,
    image_environment.unknown,
    machine.architecture,
    gpu_fit.gpu_vendor,
    loading.static_program,
    machine.musl,
    machine.overlay,
    started_scripts.entrypoint,
    started_scripts.interpreter,
    abi.other_mpi_family,
    abi.two_builds,
    abi.two_mpis,
    loading.missing_library,
    loading.symbol_version,
    loading.undefined_symbol,
    loading.opened_while_running,
    loading.injection_defeated,
    image_environment.loader_variables,
    image_environment.image_provider,
    image_environment.image_variables,
    image_environment.parameter_files,
    fabric.no_libfabric,
    fabric.netmod,
    fabric.ucx,
    fabric.libcxi_and_driver,
    fabric.no_provider,
    fabric.card_driver,
    fabric.libfabric_api,
    fabric.capability_set,
    fabric.not_seen_over_cxi,
    fabric.tcp_only,
    gpu_fit.rccl_plugin,
    gpu_fit.gtl,
    gpu_fit.cuda_release,
    gpu_fit.rocm_release,
    fabric.cxi_fork_safe,
    machine.ranks_apart,
    abi.pmi,
    abi.no_program,
    loading.dry_run,
]
