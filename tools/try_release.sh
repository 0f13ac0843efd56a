#!/bin/bash
# Tries the files of a release on the clean system that release.sh made, as root of it: try_release.sh VERSION
#
# The sums, pip into a virtual environment, the command, a verdict on a small image, pip uninstall; then the set-up from the
# archive, two modules, `make demo` where containers start, and make uninstall.
# Each line "ok: ..." is a fact for the release notes; the first thing that is not as it should be ends it.
set -euo pipefail
version=$1
name=osu-container-$version
user=tester
home=/home/$user

ok() { printf 'ok: %s\n' "$*"; }
fail() { printf 'try_release.sh: %s\n' "$*" >&2; exit 1; }
# People do not install into a virtual environment as root.
as_user() { setpriv --reuid "$user" --regid "$user" --init-groups env HOME="$home" USER="$user" "$@"; }
# What an installation could leave: files of the user and of /usr/local, but what Python compiles
files() { find "$home" /usr/local /opt -name __pycache__ -prune -o -type f -print | sort; }

update-ca-certificates >/dev/null 2>&1
useradd --create-home --shell /bin/bash "$user"
cd /release
sha256sum --check --quiet SHA256SUMS || fail "the sums of the files are not those in SHA256SUMS"
# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "$PRETTY_NAME")
tar -C "$home" --no-same-owner -xzf "$name.tar.gz"
chown -R "$user:$user" "$home/$name"
cd "$home"
said=$(as_user "$name/scripts/osu-container" --version)
[[ $said == "osu-container $version "* ]] || fail "scripts/osu-container --version of the archive says '$said', not $version"
ok "$system, $(python3 --version): the archive has its sums, and its command says $version"

# --- the wheel

as_user python3 -m venv venv
mapfile -t easybuild < <(grep '^easybuild-' "$name/tools/workstation/requirements.txt")
as_user venv/bin/pip install --quiet --no-compile "${easybuild[@]}"
before=$(files)
as_user venv/bin/pip install --quiet --no-compile --no-deps /release/*.whl
said=$(as_user venv/bin/osu-container --version)
[[ $said == "osu-container $version "* ]] || fail "osu-container --version of the wheel says '$said', not $version"
as_user venv/bin/python -c 'from easybuild.easyblocks.generic.mpicontainer import MPIContainer' ||
    fail "EasyBuild does not find the easyblock of the wheel"
listed=$(as_user env EB_PYTHON="$home/venv/bin/python" \
    LMOD_CMD=/usr/share/lmod/lmod/libexec/lmod venv/bin/eb --search-short '^osu-container-hybrid.eb' 2>&1) || true
[[ $listed == *osu-container-hybrid.eb* ]] || fail "eb does not find osu-container-hybrid.eb of the wheel: $listed"
ok "the wheel installs with pip beside EasyBuild ${easybuild[0]#*==} in a virtual environment; eb finds easyblock and easyconfigs"

# --- a verdict on a small image: this system's own libraries, and an MPI from PyPI

mpich=4.2.3 # that of the images for a workstation
mkdir -p image/usr/local
cp -a /usr/lib /usr/lib64 image/usr/ 2>/dev/null || true
for link in bin lib lib64; do ln -s "usr/$link" "image/$link"; done
as_user python3 -m venv mpi
as_user mpi/bin/pip install --quiet --no-deps "mpich==$mpich"
cp -a mpi image/opt
mksquashfs image image.squashfs -noI -noD -noF -quiet -no-progress -all-root
(cd "$name" && python3 -B -c "
import pathlib, sys
from tests.helpers.elf_folder import write_sif
write_sif(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[1]).read_bytes())" ../image.squashfs ../image.sif)
chown "$user" image.sif
code=0
said=$(as_user venv/bin/osu-container check image.sif --site lumi-25.03 --program /opt/bin/mpichversion --json) || code=$?
printf '%s\n' "$said" >check.json
verdicts=$(python3 -c "
import json
found = json.load(open('check.json'))
print(', '.join(sorted({one['approach'] + ' ' + one['verdict'] for one in found['verdicts']})))") ||
    fail "check ended with $code and said: $said"
ok "osu-container check of a small image with MPICH $mpich, for LUMI: $verdicts"
rm -rf image image.squashfs image.sif check.json mpi

as_user venv/bin/pip uninstall --quiet --yes osu-container
left=$(comm -13 <(echo "$before") <(files))
[[ -z $left ]] || fail "pip uninstall leaves: $left"
ok "pip uninstall leaves no file"

# --- the set-up from the archive

# The set-up installs packages, so it is run by root here, which may do that without sudo.
cd "/root"
before=$(find /root -type f | sort)
tar -C /root --no-same-owner -xzf "/release/$name.tar.gz"
cd "$name"
make prerequisites python-env image host-mpi
ok "make prerequisites python-env image host-mpi: $(.workstation/venv/bin/python --version), $(
    PATH=$PWD/.workstation/bin:$PATH apptainer --version), Lmod $(dpkg-query --showformat='${Version}' --show lmod), Slurm $(
    dpkg-query --showformat='${Version}' --show slurm-wlm)"
# shellcheck disable=SC2016  # expanded by the inner shell
bash -euc '
    . ./env.sh
    eb osu-container-pure.eb osu-native.eb -r
    module load osu-container/pure
    osu-explain
    osu-exec true || echo "no container starts here: exit code $?"
' 2>&1 | tee installed.log
grep -q 'osu-container/pure' installed.log || fail "osu-explain says nothing of osu-container/pure"
if grep -q '^no container starts here' installed.log; then
    starts=0
    ok "eb installs osu-container/pure and osu-native, and module load works; no container starts in this system, which has no right to mount"
else
    starts=1
    ok "eb installs osu-container/pure and osu-native, module load works, and a command runs in the container"
fi
if (( starts )); then
    make demo
    for file in table.txt report.html; do
        compgen -G ".workstation/results/*/$file" >/dev/null || fail "make demo has left no $file in .workstation/results"
    done
    ok "make demo: a private Slurm of two nodes, five modules, their table and report"
fi
make uninstall
cd /root
rm -rf "${name:?}"
# What pip and Apptainer keep in a home folder, whoever starts them, is theirs
left=$(comm -13 <(echo "$before") <(find /root -type f ! -path '/root/.cache/*' ! -path '/root/.apptainer/*' | sort))
[[ -z $left ]] || fail "make uninstall leaves: $left"
ok "make uninstall leaves no file but packages, and what pip and Apptainer keep in a home folder"
