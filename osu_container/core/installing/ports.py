"""
mpi4py's ports of the benchmarks, where the archive of the C programs cannot be had: which files, and where they go.
"""
import os
import shutil
import subprocess
import tarfile
import zipfile

#: Ports that the launcher has in itself, because mpi4py has none (OWN in osu-port)
OF_THE_LAUNCHER = ['osu_get_bw']


def python_tag(python):
    """Return the tag (str, e.g. 'cp311') that a wheel for the Python at the path python (str) has in its name."""
    show_tag = 'import sys; print("cp%d%d" % sys.version_info[:2])'
    return subprocess.check_output([python, '-c', show_tag], universal_newlines=True).strip()


def files_of_ports(names, tag):
    """
    Return {'archive': name, 'wheel': name, 'launcher': name} of the file names (list of str); no 'wheel' if none fits.

    :param tag: str, as python_tag() gives it
    """
    kinds = {}
    for name in names:
        if not name.endswith('.whl'):
            kinds['archive' if '.tar' in name else 'launcher'] = name
        elif '-%s-' % tag in name:
            kinds['wheel'] = name
    return kinds


def install_ports(ports, folder, program_prefix, libmpi):
    """
    Lay out the ports, mpi4py and the launcher under folder as the launcher expects them, each with a link in bin.

    :param ports: dict of paths (str): archive, wheel, launcher
    :param program_prefix: str, how the names of the ports start
    :param libmpi: str, path of the library that the launcher gives to mpi4py
    """
    scripts, python, bindir = (os.path.join(folder, *parts) for parts in (
        ('libexec', 'ports'), ('lib', 'python'), ('bin',)))
    for path in (scripts, python, bindir):
        os.makedirs(path)
    with tarfile.open(ports['archive']) as archive:
        for member in archive.getmembers():
            name = os.path.basename(member.name)
            if os.path.dirname(member.name).endswith('/demo') and name.startswith(program_prefix):
                with open(os.path.join(scripts, name), 'wb') as port:
                    port.write(archive.extractfile(member).read())
    with zipfile.ZipFile(ports['wheel']) as wheel:
        wheel.extractall(python)
    launcher = os.path.join(folder, 'libexec', os.path.basename(ports['launcher']))
    shutil.copy(ports['launcher'], launcher)
    os.chmod(launcher, 0o755)
    os.symlink(libmpi, os.path.join(folder, 'lib', os.path.basename(libmpi)))
    for port in os.listdir(scripts) + OF_THE_LAUNCHER:
        os.symlink(os.path.join('..', 'libexec', os.path.basename(launcher)),
                   os.path.join(bindir, os.path.splitext(port)[0]))
