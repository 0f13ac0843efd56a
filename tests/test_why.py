"""Every message of osu-container why is tried on what a program really printed; unknown text is called unknown."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import PROJECT, STATE, compile_library, run
from test_docs import headings

from osu_container import why

NAMES = [entry['name'] for entry in why.MESSAGES]
WHY = PROJECT / 'osu_container' / 'why.py'
BASH_COMMANDS = [PROJECT / 'easyconfigs/o/osu-container' / name for name in ('run-in-container', 'osu-gpu-bind')]
PORT = PROJECT / 'easyconfigs/o/osu-native/osu-port'

#: (names that explain() gives, text, where the text is from). Texts that can be had here in a moment are made by the
#: tests further down; 'recorded' is what this project saw on its workstation on 2026-11-21.
QUOTED = [
    (['libfabric too old'],
     "/usr/bin/osu_bw: /usr/lib/host/libfabric.so.1: version `FABRIC_1.7' not found (required by "
     "/usr/lib/libmpi.so.12)",
     'form of the loader; the releases: docs/troubleshooting.md'),
    (['C library too old'],
     "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.33' not found (required by /.singularity.d/libs/libnuma.so.1)\n"
     "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.28' not found (required by /.singularity.d/libs/libdrm.so.1)",
     'github.com/apptainer/apptainer, pull request 2606'),
    (['C library too old'],
     "/opt/OpenRV/lib/libc.so.6: version `GLIBC_ABI_DT_RELR' not found (required by /.singularity.d/libs/libGL.so.1)",
     'github.com/apptainer/apptainer, issue 3041'),
    (['no provider'],
     "Fatal error in PMPI_Init_thread\n"
     "open_fabric(1559)...........: OFI fi_getinfo() failed (ofi_init.c:1559:open_fabric:No data available)",
     'Cray MPICH; the end as in the README of github.com/DeiC-HPC/BitBulldozersLab'),
    (['no provider'],
     "MPIDI_OFI_find_provider(84): \n"
     "find_provider(126).........: OFI call getinfo failed (init_provider.c:126:find_provider:No data available)\n"
     "srun: error: node1: task 0: Exited with exit code 143", 'recorded, MPICH 4.2.3'),
    (['provider finds nothing'],
     "libfabric:518212:core:core:fi_getinfo_():1021<warn> fi_getinfo: provider usnic returned -61 (No data available)",
     'github.com/ofiwg/libfabric, issue 7324'),
    (['no data available'], "fi_endpoint: No data available", 'fi_errno(3), FI_ENODATA'),
    (['libfabric older than asked for'],
     "libfabric:123:1700000000::core:core:fi_getinfo():1317<warn> Requested version is newer than library",
     'libfabric, src/fabric.c'),
    (['no VNI on one node'],
     "libfabric:177842:1747000000::cxi:domain:cxip_domain():1675<warn> gpu001: cxip_gen_auth_key failed: -38:Function "
     "not "
     "implemented", 'libfabric, prov/cxi/src/cxip_dom.c'),
    (['no VNI on one node'],
     "Open MPI failed an OFI Libfabric library call (fi_domain).  This is highly\n"
     "unusual; your job may behave unpredictably (and/or abort) after this.\n"
     "  Location: mtl_ofi_component.c:1007\n  Error: Function not implemented (70368744177702)",
     'github.com/open-mpi/ompi, issue 13148'),
    (['one-node VNI not allowed'],
     "srun: error: Single-node VNI requested by user, but 'single_node_vni=<all|user>' not set in SwitchParameters",
     'Slurm, plugin switch/hpe_slingshot'),
    (['VNI not found'],
     "Request dest_addr: 32 caddr.nic: 0X19D1 caddr.pid: 1 rxc_id: 0  error: 0x26c450f0 (err: 5, VNI_NOT_FOUND)",
     'github.com/openpmix/prrte, issue 2004'),
    (['match entries used up'],
     "libfabric:177010:1728372637::cxi:core:cxip_ux_onload_cb():2659<warn> nid001056: RXC (0x3892:79) PtlTE "
     "375:[Fatal] LE "
     "resources not recovered during flow control. FI_CXI_RX_MATCH_MODE=[hybrid|software] is required",
     'libfabric, prov/cxi'),
    (['portal table entry not found'],
     "MPICH ERROR [Rank 519] [job id 947981.0] [Tue Jun 11 15:11:42 2024] [c1207] - Abort(539602063) (rank 519 in "
     "comm 0): "
     "Fatal error in PMPI_Iprobe: Other MPI error, error stack:\n"
     "MPIDI_OFI_handle_cq_error(1075): OFI poll failed (ofi_events.c:1077:MPIDI_OFI_handle_cq_error:Input/output "
     "error - "
     "PTLTE_NOT_FOUND)", 'github.com/ofiwg/libfabric, issue 10072'),
    (['GTL not linked'],
     "MPICH ERROR [Rank 0] [job id ] [Thu Dec 29 08:08:13 2022] [login31] - Abort(-1) (rank 0 in comm 0): "
     "MPIDI_CRAY_init: "
     "GPU_SUPPORT_ENABLED is requested, but GTL library is not linked\n (Other MPI error)",
     'github.com/sstsimulator/sst-core, issue 895'),
    (['DMABUF not usable'],
     "libfabric:65622:1753693496::core:core:rocr_is_dmabuf_supported():1134<info> DMABUF support: could not open "
     "kernel "
     "conf file /boot/config-5.14.21-150500.55.49_13.0.56-cray_shasta_c error",
     'github.com/DeiC-HPC/BitBulldozersLab, containers with CuPy'),
    (['RCCL without its plugin'],
     "nid005001:1234:1234 [0] NCCL INFO NET/Plugin : No plugin found (librccl-net.so), using internal implementation",
     'RCCL, src/net.cc'),
    (['RCCL without its plugin'], "NCCL INFO NET/Plugin: No plugin found, using internal implementation", 'RCCL'),
    (['file of another architecture'], "./osu_bw: cannot execute binary file: Exec format error", 'bash'),
    (['every rank alone'], "Hello from rank 0 of 1 on node1\nHello from rank 0 of 1 on node2",
     'form of mpi4py.bench helloworld; github.com/apptainer/singularity, issue 5131'),
    (['two tables in one output'], "two tables in one output. Did every rank run alone (wrong --mpi= for srun)?",
     'osu_container/osu_output.py'),
    (['C++ library too old'], "osu_bw: /usr/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./x)",
     'form of the loader'),
    (['bound file missing'],
     "WARNING: skipping mount of /usr/local/cuda: stat /usr/local/cuda: no such file or directory\n"
     "FATAL:   container creation failed: mount /usr/local/cuda->/usr/local/cuda error: while mounting "
     "/usr/local/cuda: "
     "mount source /usr/local/cuda doesn't exist", 'github.com/apptainer/singularity, issue 5887'),
    (['bound file missing'], "WARNING: skipping mount of /does/not/exist: no such file or directory",
     'github.com/apptainer/singularity, issue 2700'),
    (['no place for a bind'],
     "FATAL: container creation failed: mount hook function failure: mount /var/spool/slurmd->/var/spool/slurmd error: "
     "while mounting /var/spool/slurmd: destination /var/spool/slurmd doesn't exist in container",
     'LUMI training 2026-04'),
    (['no right to mount'], "fuse: device not found, try 'modprobe fuse' first", 'libfuse, lib/mount.c'),
    (['no right to mount'], "fuse: failed to open /dev/fuse: Permission denied", 'libfuse, lib/mount.c'),
    (['no user namespaces'],
     "ERROR  : Failed to create user namespace: user namespace disabled", 'Apptainer, cmd/starter/c/starter.c'),
    (['no user namespaces'],
     "FATAL:   while setting capabilities: Requesting capability set 0x1 while permitted capability set is 0x0",
     'Apptainer, form as in docs/troubleshooting.md'),
    (['two sets of binds'],
     "WARNING: SINGULARITY_BIND and APPTAINER_BIND have different values, using the latter", 'recorded, Apptainer '
                                                                                             '1.4.5'),
    (['two sets of binds'], "INFO:    Environment variable SINGULARITY_BIND is set, but APPTAINER_BIND is preferred",
     'Apptainer; form as recorded for SINGULARITYENV_'),
    (['older names of variables'],
     "INFO:    Environment variable SINGULARITYENV_B is set, but APPTAINERENV_B is preferred", 'recorded'),
    (['older names of variables'],
     "WARNING: Skipping environment variable [SINGULARITYENV_A=1], A is already overridden with different value [2]",
     'recorded'),
    (['image gone'], "Lmod has detected the following error: The image /p/x.sif is gone. Get it back with: cp a b",
     'easyblocks/generic/_mpicontainer_module.py'),
    (['host has changed'], "The host has changed since this module was installed: /opt/x/libmpi.so.12 is another file",
     'easyblocks/generic/_mpicontainer_module.py'),
    (['PMIx library missing'],
     "slurmstepd: error: mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:197: pmi/pmix: can not load PMIx library",
     'Slurm, src/plugins/mpi/pmix'),
    (['no controller'], "slurm_load_partitions: Unable to contact slurm controller (connect failure)", 'Slurm'),
    (['unknown account'],
     "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified", 'Slurm'),
    (['more than the job has'], "srun: error: Only allocated 1 nodes asked for 2", 'recorded, Slurm 22.05'),
    (['time limit'],
     "slurmstepd-node1: error: *** STEP 29.0 ON node1 CANCELLED AT 2026-11-21T13:39:27 DUE TO TIME LIMIT ***\n"
     "srun: Job step aborted: Waiting up to 7 seconds for job step to finish.\n"
     "srun: error: node1: task 0: Terminated", 'recorded, Slurm 22.05'),
    (['time limit'], "osu_bw did not end within 120 s", 'workstation/demo.py'),
    (['out of memory'],
     "slurmstepd: error: Detected 2 oom_kill events in StepId=JOBID.13. Some of the step tasks have been OOM Killed.\n"
     "srun: error: NODE: task 0: Out Of Memory", 'github.com/snakemake/snakemake-executor-plugin-slurm, pull request '
                                                 '371'),
    (['out of memory'],
     "slurmstepd: error: Detected 1 oom-kill event(s) in step 3495064.0 cgroup. Some of your processes may have been "
     "killed by the cgroup out-of-memory handler.", 'github.com/hafs-community/HAFS, issue 101'),
    (['node failed'],
     "srun: error: Node failure on nid005001\n"
     "slurmstepd: error: *** JOB 1 ON nid005001 CANCELLED AT 2026-01-01T00:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD "
     "LOG "
     "FOR DETAILS ***", 'Slurm, src/slurmd/slurmstepd'),
    (['MPI stopped the job'],
     "Abort(673834383): Fatal error in internal_Init: Other MPI error, error stack:\n"
     "internal_Init(49162).......: MPI_Init(argc=(nil), argv=(nil)) failed", 'recorded, MPICH 4.2.3, its first two '
                                                                             'lines'),
    (['output cut off'], "run: the table of osu_bw ends at 1024 bytes, wanted 4194304: the run was cut off",
     'osu_container/osu_output.py'),
    (['unknown module'],
     'Lmod has detected the following error:  The following module(s) are unknown: "osu-container/hybrid"', 'Lmod'),
    (['no MPI library', 'missing library'],
     "RuntimeError: cannot load MPI library\n  /opt/cray/lib/libmpi.so.12: cannot open shared object file",
     'mpi4py, form as its MPI.pyx prints it'),
    (['container runtime gone'],
     "osu_bw: the container runtime /opt/bin/apptainer is not there. It was when the module was installed; install it "
     "again.",
     'recorded'),
    (['no GPU support'], "ROCm Support Not Enabled\nPlease recompile benchmark with ROCm support",
     'OSU Micro-Benchmarks, c/util/osu_util_options.c'),
]
#: Names that the tests with real programs make. Together with QUOTED they must be all.
MADE = {
    'libfabric too old', 'C library too old', 'library of another version', 'missing library', 'undefined symbol',
    'preloaded library missing', 'file of another architecture',
    'unknown MPI type', 'unknown partition', 'more than the partition has', 'more than the job has',
    'program not found', 'program failed', 'segmentation fault', 'task killed', 'step waits for another',
    'no controller',
    'ranks without PMI', 'no provider', 'program not in the image', 'image cannot be read', 'bound file missing',
    'two sets of binds', 'no GPU support', 'wrong number of ranks', 'every rank alone', 'wrong arguments',
    'started inside the container', 'module not loaded', 'image gone', 'container runtime gone', 'no command',
    'osu-gpu-bind without a map', 'osu-gpu-bind outside of srun', 'more ranks than GPUs', 'part of the GPUs',
    'cores far from the GPU', 'unknown option of osu-gpu-bind', 'osu-explain without its data',
    'port not installed rightly',
}


def names(text):
    return [each['name'] for each in why.explain(text)]


# ---- the table

def test_names_are_unique_and_every_message_is_tried_on_a_text():
    assert len(set(NAMES)) == len(NAMES)
    tried = MADE | {name for wanted, _, _ in QUOTED for name in wanted}
    assert set(NAMES) == tried


@pytest.mark.parametrize('entry', why.MESSAGES, ids=NAMES)
def test_entry_says_cause_remedy_source_and_how_sure(entry):
    assert set(entry) - {'times', 'last', 'unless'} == {'name', 'pattern', 'cause', 'remedy', 'source', 'evidence'}
    assert entry['evidence'] in {'measured', 'derived', 'untested'}
    for key in ('cause', 'remedy', 'source'):
        assert len(entry[key]) > 10
    assert set(entry.get('unless', [])) <= set(NAMES)
    groups = set(re.compile(entry['pattern']).groupindex)
    assert set(re.findall(r'\{(\w+)\}', entry['cause'] + entry['remedy'])) <= groups
    for path in re.findall(r'\b(?:docs|easyconfigs|osu_container)/[\w./-]*\w', entry['source'] + ' ' + entry['remedy']):
        assert (PROJECT / path).exists(), path


@pytest.mark.parametrize('wanted, text, source', QUOTED, ids=[f'{item[0][0]}-{n}' for n, item in enumerate(QUOTED)])
def test_quoted_messages_are_known(wanted, text, source):
    assert source
    found = why.explain('# OSU MPI Bandwidth Test v7.5\n1    2.0\n' + text + '\n')
    assert [each['name'] for each in found] == wanted
    assert found[0]['line'] in text and found[0]['number'] >= 3
    for each in found:
        assert not re.search(r'\{\w+\}|  ', each['cause'] + each['remedy']), each
        assert each['cause'][:1] != ' ' and each['source']


@pytest.mark.parametrize('text', [
    '', '# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1         0.19\n4194304   5918.0\n',
    'rank 0 of 2\nrank 1 of 2\n', 'all is well: version 1.7 was found\n', '\0\1\2 \x1b[0m binary \udcff'])
def test_what_is_no_message_is_called_unknown(text):
    assert why.explain(text) == [] and why.reason(text) is None


@pytest.mark.parametrize('line', ['1024      123.45', 'a' * 5000, '/a/path/' * 400 + ': no', '"' * 5000,
                                  'x: (1): ' * 400])
def test_long_logs_are_read_in_one_go(line):
    """A pattern that tries again from every letter would take minutes, and is stopped after one."""
    text = (line + '\n') * (1_000_000 // len(line)) + 'x: undefined symbol: f7\n'
    code = 'import sys; sys.path.insert(0, sys.argv[1]); from osu_container import why; ' \
           "print([each['name'] for each in why.explain(sys.stdin.read())])"
    done = run([sys.executable, '-c', code, PROJECT], input=text, timeout=60)
    assert done.stdout == "['undefined symbol']\n", done.stderr


def test_one_rank_that_is_alone_is_no_error():
    assert names('Hello from rank 0 of 1\n') == []


def test_a_consequence_is_named_only_where_nothing_else_is_known():
    failed = 'srun: error: node1: task 0: Exited with exit code 1'
    assert names(failed) == ['program failed']
    assert names(failed + "\n./m: undefined symbol: f7\n") == ['undefined symbol']


def test_colours_carriage_returns_and_labels_of_srun_are_no_hindrance():
    line = '{}: \x1b[31mFATAL:  \x1b[0m "osu_x": executable file not found in $PATH\r\n'
    text = line.format(0) + line.format(1)
    found = why.explain(text)
    assert [each['name'] for each in found] == ['program not in the image']
    assert found[0]['times'] == 2 and found[0]['line'].startswith('0: FATAL:') and 'osu_x' in found[0]['cause']


def test_causes_come_in_the_order_of_their_lines():
    text = ("a: undefined symbol: f7\n./b: error while loading shared libraries: libx.so.1: "
            "cannot open shared object file")
    assert names(text) == ['undefined symbol', 'missing library']
    assert names('\n'.join(reversed(text.splitlines()))) == ['missing library', 'undefined symbol']


# ---- our own messages, read from the programs that print them

@pytest.mark.parametrize('path', BASH_COMMANDS, ids=lambda path: path.name)
def test_every_message_of_the_wrapper_and_of_the_binding_is_known(path):
    messages = re.findall(r'fail "(.+)"', path.read_text())
    assert len(messages) >= 6
    for message in messages:
        text = re.sub(r'\$\{#lines\[@\]\}|\$SLURM_LOCALID|\$SLURM_GPUS_ON_NODE|\$SLURM_STEP_NUM_TASKS', '4', message)
        text = re.sub(r'\$\{[^}]*\}|\$\w+', 'X', text)
        found = names(f'osu_bw: {text}')
        assert len(found) == 1 and found[0] in MADE, message


@pytest.mark.parametrize('arguments, wanted', [
    (['osu_bw', 'D', 'D'], 'no GPU support'), (['osu_bw', 'X', 'H'], 'wrong arguments'),
    (['osu_bw', '-m', '8:1'], 'wrong arguments'), (['osu_bw', '-m', '2:8'], 'wrong arguments'),
    (['osu_bw', '-i', '0'], 'wrong arguments'), (['osu_bw', '-c'], 'wrong arguments'),
    (['osu_nonesuch'], 'port not installed rightly'),
    (['osu_bw'], 'port not installed rightly'), (['no mpi4py'], 'port not installed rightly')])
def test_every_message_of_the_ports_is_known(tmp_path, arguments, wanted):
    """The real port, called wrongly or with an mpi4py that fits no Python; it starts no MPI for that."""
    (tmp_path / 'libexec' / 'ports').mkdir(parents=True)
    (tmp_path / 'libexec' / 'ports' / 'osu_bw.py').write_text('def osu_bw(): pass\n')
    (tmp_path / 'libexec' / 'osu-port').write_bytes(PORT.read_bytes())
    (tmp_path / 'lib' / 'python' / 'mpi4py').mkdir(parents=True)
    (tmp_path / 'lib' / 'python' / 'mpi4py' / '__init__.py').write_text("__version__ = '0'\n")
    if arguments == ['no mpi4py']:
        (tmp_path / 'lib' / 'python' / 'mpi4py').rename(tmp_path / 'elsewhere')
        arguments = ['osu_bw']
    command = tmp_path / arguments[0]
    command.symlink_to(tmp_path / 'libexec' / 'osu-port')
    done = run([sys.executable, command, *arguments[1:]])
    assert done.returncode != 0 and names(done.stderr) == [wanted], done.stderr


def test_osu_explain_without_its_data_is_known(tmp_path):
    (tmp_path / 'bin').mkdir()
    command = tmp_path / 'bin' / 'osu-explain'
    command.write_bytes((PROJECT / 'easyconfigs/o/osu-container/osu-explain').read_bytes())
    done = run([sys.executable, command])
    assert done.returncode != 0 and names(done.stderr) == ['osu-explain without its data'], done.stderr


def running_headings():
    """Return the messages of troubleshooting.md about loading and running, with something in place of the dots."""
    text = (PROJECT / 'docs' / 'troubleshooting.md').read_text()
    sections = re.split(r'^## ', text, flags=re.M)
    wanted = ''.join(part for part in sections if part.startswith(('Loading a module', 'Running')))
    return [message.replace('...', 'X') for message, _ in headings()
            if f'`{message}`' in wanted and 'Cannot load module' not in message]  # which no job prints


@pytest.mark.parametrize('message', running_headings())
def test_what_troubleshooting_says_about_running_is_known_here_too(message):
    text = message.replace('X tasks', '4 tasks').replace('has X GPUs', 'has 8 GPUs')
    text = text.replace('local rank X', 'local rank 9').replace('the job has X of', 'the job has 4 of')
    text = text.replace("the node's X GPUs", "the node's 8 GPUs").replace('X is not set. Load', 'SIF is not set. Load')
    assert why.explain(f'srun: {text}\n'), text


# ---- the loader, really

@pytest.fixture
def loader(tmp_path):
    """Function (version of the library when linked, when run) that runs a program and returns what the loader says."""
    def call(soname, linked, found, symbol='f7', **environment):
        folders = {}
        for name, version in (('linked', linked), ('found', found)):
            script = version and f'{version} {{ global: f7; }};\n'
            folders[name] = tmp_path / name
            source = 'int f7(void) { return 7; }\n' if name == 'linked' or symbol == 'f7' else 'int other;\n'
            if version is not False:
                compile_library(folders[name] / soname, version_script=script, source=source)
        (tmp_path / 'main.c').write_text('int f7(void);\nint main(void) { return f7() - 7; }\n')
        done = run(['gcc', '-o', tmp_path / 'main', tmp_path / 'main.c', folders['linked'] / soname, '-lc'])
        assert done.returncode == 0, done.stderr
        done = run([tmp_path / 'main'], env={'LD_LIBRARY_PATH': str(folders['found']), 'LC_ALL': 'C', **environment})
        assert done.returncode != 0
        return done.stderr
    return call


@pytest.mark.parametrize('soname, linked, found, symbol, wanted, word', [
    ('libfabric.so.1', 'FABRIC_1.7', 'FABRIC_1.6', 'f7', 'libfabric too old', 'FABRIC_1.7'),
    ('libgrape.so.1', 'GRAPE_2', 'GRAPE_1', 'f7', 'library of another version', 'GRAPE_2'),
    ('libstdc++.so.6', 'GLIBCXX_3.4.99', 'GLIBCXX_3.4.1', 'f7', 'C++ library too old', 'GLIBCXX_3.4.99'),
    ('libfabric.so.1', 'FABRIC_1.7', False, 'f7', 'missing library', 'libfabric.so.1'),
    ('libplain.so.1', None, None, 'other', 'undefined symbol', 'f7'),
])
def test_what_the_loader_says_is_known(loader, soname, linked, found, symbol, wanted, word):
    text = loader(soname, linked, found, symbol)
    each, = why.explain(text)
    assert each['name'] == wanted and word in each['cause'], text


def test_a_c_library_that_is_too_old_is_known(tmp_path):
    """A library that says it needs GLIBC_2.99 of libc.so.6, met by the real one."""
    newer = compile_library(tmp_path / 'newer' / 'libc.so.6', version_script='GLIBC_2.99 { global: f7; };\n',
                            source='int f7(void) { return 7; }\n')
    needs = compile_library(tmp_path / 'libneeds.so', needed=[newer],
                            source='int f7(void);\nint needs(void) { return f7(); }\n')
    done = run([sys.executable, '-c', f'import ctypes; ctypes.CDLL({str(needs)!r})'])
    each, = why.explain(done.stderr)
    assert each['name'] == 'C library too old' and 'GLIBC_2.99' in each['cause'], done.stderr


def test_a_preloaded_library_that_is_gone_and_a_file_that_is_none_are_known(tmp_path):
    done = run(['/bin/true'], env={'LD_PRELOAD': str(tmp_path / 'libmpi.so.12')})
    assert names(done.stderr) == ['preloaded library missing'], done.stderr
    (tmp_path / 'libtext.so').write_text('GROUP ( libmpi.so.12 ) padding so that it is longer than an ELF header is, '
                                         'yes\n')
    done = run([sys.executable, '-c', f'import ctypes; ctypes.CDLL({str(tmp_path / "libtext.so")!r})'])
    assert names(done.stderr) == ['file of another architecture'], done.stderr


# ---- the command

def command(*arguments, **kwargs):
    return run([PROJECT / 'bin' / 'osu-container', 'why', *arguments], **kwargs)


def test_the_command_reads_a_file_and_a_pipe_and_says_cause_remedy_and_source(tmp_path):
    text = "fine\n./m: old/libfabric.so.1: version `FABRIC_1.7' not found (required by ./m)\n"
    log = tmp_path / 'job.out'
    log.write_text(text)
    done = command(log)
    assert done.returncode == 0, done.stderr
    for part in ('libfabric too old, line 2', 'cause', 'remedy', 'opensource', 'measured; libfabric'):
        assert part in done.stdout
    assert command('-', input=text).stdout == command(input=text).stdout == done.stdout
    found = json.loads(command('--json', log).stdout)
    assert found == why.explain(text)


@pytest.mark.parametrize('text, said', [('nothing that is known\n', 'None of the'), ('', 'empty')])
def test_the_command_says_when_it_knows_nothing(text, said):
    done = command(input=text)
    assert done.returncode == 1 and said in done.stdout


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    done = command(tmp_path / 'none')
    assert done.returncode == 1 and 'none' in done.stderr and 'Traceback' not in done.stderr


def test_text_in_another_encoding_is_read(tmp_path):
    (tmp_path / 'log').write_bytes(b'\xff\xfe caf\xe9\nx: undefined symbol: f7\n')
    done = run([sys.executable, WHY, tmp_path / 'log'])
    assert done.returncode == 0 and 'undefined symbol' in done.stdout


def test_it_runs_with_the_python_of_the_system_alone(tmp_path):
    done = run(['/usr/bin/python3', '-I', WHY, '-'], input='x: undefined symbol: f7\n', cwd=tmp_path)
    assert done.returncode == 0 and 'undefined symbol, line 1' in done.stdout, done.stderr


def test_it_needs_no_newer_python_than_3_6():
    import ast
    ast.parse(WHY.read_text(), feature_version=(3, 6))
    imported = set(re.findall(r'^(?:import|from) (\w+)', WHY.read_text(), re.M))
    assert imported <= {'argparse', 'json', 're', 'sys', 'textwrap'}


# ---- Slurm and the container, really

@pytest.fixture(scope='module')
def slurm():
    """Function (script) that runs bash with the private Slurm and returns its output and errors as one text."""
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr

    def call(script, **variables):
        environment = {'PATH': f"{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin", 'HOME': os.environ['HOME'],
                       'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'), 'LC_ALL': 'C.UTF-8', **variables}
        return run(['bash', '--norc', '-c', script], env=environment, stderr=subprocess.STDOUT, timeout=120).stdout
    return call


@pytest.mark.slurm
@pytest.mark.parametrize('script, wanted', [
    ('srun --mpi=nonesuch true', 'unknown MPI type'),
    ('srun -p nonesuch -N1 -n1 true', 'unknown partition'),
    ('srun -N1 -n1 --mem=900000G true', 'more than the partition has'),
    ('srun -N1 -n1 --gpus=1 true', 'more than the partition has'),
    ('salloc -Q -N1 -n1 srun -n40 true', 'more than the job has'),
    ('salloc -Q -N1 -n1 srun -N2 -n2 true', 'more than the job has'),
    ('srun -N1 -n1 osu_nonesuch', 'program not found'),
    ("srun -N1 -n1 sh -c 'exit 7'", 'program failed'),
    ("srun -N1 -n1 sh -c 'kill -SEGV $$'", 'segmentation fault'),
    ("srun -N1 -n1 sh -c 'kill -KILL $$'", 'task killed'),
    ("salloc -Q -N1 -n1 sh -c 'srun -n1 --exact sleep 3 & sleep 1; srun -n1 --exact true; wait'",
     'step waits for another'),
    ('SLURM_CONF=/nonesuch timeout 3 srun true', 'no controller'),
])
def test_what_slurm_says_is_known(slurm, script, wanted):
    text = slurm(script)
    assert names(text) == [wanted], text


@pytest.fixture(scope='module')
def modules(slurm, tmp_path_factory):
    """Function (script) as slurm's, with osu-container/pure and osu-native installed in a folder of the tests."""
    folder = tmp_path_factory.mktemp('installed')
    ready = f'export EASYBUILD_PREFIX={folder}; . {PROJECT}/env.sh; '
    text = slurm(ready + 'eb osu-container-pure.eb -r && eb osu-native.eb -r && echo installed')
    assert text.rstrip().endswith('installed'), text[-3000:]
    return lambda script, **variables: slurm(ready + script, **variables)


@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('script, wanted', [
    ('module load osu-container/pure; srun --mpi=none -N2 -n2 osu_bw H H', 'ranks without PMI'),
    ('module load osu-container/pure; FI_PROVIDER=nonesuch srun -N2 -n2 osu_latency H H', 'no provider'),
    ('module load osu-native; FI_PROVIDER=nonesuch srun -N2 -n2 osu_latency H H', 'no provider'),
    ('module load osu-container/pure; srun -N1 -n1 osu-exec nonesuch', 'program not in the image'),
    ('module load osu-container/pure; srun -N2 -n2 osu_bw D D', 'no GPU support'),
    ('module load osu-native; srun -N2 -n3 osu_bw H H', 'wrong number of ranks'),
    ('module load osu-native; srun --mpi=none -N2 -n2 osu_bw H H', 'wrong number of ranks'),
    ('module load osu-native; cd $EBROOTOSUMINNATIVE; srun --mpi=none -N2 -n2 /usr/bin/python3 -I -c "import os, sys; '
     "sys.path.insert(0, 'lib/python'); os.environ['MPI4PY_LIBMPI'] = os.path.realpath('lib/libmpi.so.12'); from "
     "mpi4py "
     "import MPI; print('rank', MPI.COMM_WORLD.rank, 'of', MPI.COMM_WORLD.size)\"", 'every rank alone'),
    ('module load osu-container/pure; osu-exec "$CONTAINERROOT/bin/osu_bw" H H', 'started inside the container'),
    ('module load osu-container/pure; APPTAINER_BIND=/nonesuch osu-exec true', 'bound file missing'),
    ('module load osu-container/pure; SINGULARITY_BIND=/tmp APPTAINER_BIND=/usr:/mnt apptainer exec $SIF true',
     'two sets of binds'),
    ('apptainer exec /nonesuch.sif true', 'image cannot be read'),
    ('head -c 4096 /dev/zero >$HOME/x.sif; apptainer exec $HOME/x.sif true', 'image cannot be read'),
])
def test_what_runs_say_is_known(modules, script, wanted, tmp_path):
    text = modules(script, HOME=str(tmp_path))
    assert names(text) == [wanted], text
