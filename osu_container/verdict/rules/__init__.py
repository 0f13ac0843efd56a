"""
Collect the rules of the verdict; each file in this folder has the rules on one subject.

To add a rule, write a function with the decorator `rule` in the file of the subject. The docstring
of a rule states the condition that the rule checks. Insert the rule in the list RULES, in which the
order of the rules is the order of their findings in a report, and add cases in
tests/helpers/verdict_cases.py.
"""

from osu_container.verdict.rules import (
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

#: All rules. Findings of the same level are reported in this order.
RULES = [
    machine.check_host_paths,
    described_host.unknown_host,
    described_host.unknown_facts,
    image_environment.check_container_start,
    image_environment.check_unknown_environment,
    image_environment.check_privileges,
    machine.check_mounts,
    machine.check_architecture,
    gpu_fit.check_gpu_vendor,
    loading.static_program,
    machine.check_musl,
    machine.check_overlay,
    started_scripts.check_entrypoint,
    started_scripts.check_interpreter,
    abi.other_mpi_family,
    abi.two_builds,
    abi.two_mpis,
    abi.check_standard_abi,
    loading.missing_library,
    loading.check_symbol_versions,
    machine.check_processor_level,
    loading.undefined_symbol,
    loading.injection_defeated,
    image_environment.check_image_provider,
    image_environment.check_image_variables,
    image_environment.check_parameter_files,
    fabric.no_libfabric,
    fabric.check_netmod,
    fabric.check_ucx,
    fabric.check_libcxi_driver,
    fabric.no_provider,
    fabric.check_card_driver,
    fabric.check_libfabric_api,
    fabric.check_capability_set,
    fabric.check_cxi_runs,
    fabric.tcp_only,
    gpu_fit.check_rccl_plugin,
    gpu_fit.check_gtl,
    gpu_fit.check_pointer_query,
    gpu_fit.check_cuda_release,
    gpu_fit.check_rocm_release,
    machine.check_rank_namespaces,
    abi.check_pmi,
    abi.no_program,
    loading.check_dry_run,
    start.check_start,
]
