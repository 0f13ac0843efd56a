"""Signing images, and whether signatures fit. The runtime does it; nothing here waits unseen for a passphrase.

A signature of `apptainer sign` covers a group of objects: the squashfs, the labels and the bill of materials.
"""
import re
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

from osu_container.core.writing import shell

from . import ImageError
from .sbom import changed, sif_file, sif_objects

WAIT = 120  # seconds that signing may take where nobody can be asked: it is one pass over the image

UNSIGNED = 'unsigned'
UNKNOWN = 'signed, key not at hand'


class Key(NamedTuple):
    """A secret key of the user's keyring. index: as the runtime counts. name: with the mail address."""

    index: int
    name: str
    fingerprint: str


def secret_keys(runtime):
    """Return the secret keys (list of Key) in the user's keyring, [] if there is none.

    runtime: path of apptainer or singularity.
    """
    done = subprocess.run([str(runtime), 'key', 'list', '--secret'], stdin=DEVNULL, stdout=PIPE, stderr=PIPE,
                          universal_newlines=True, errors='replace')
    found = re.findall(r'^(\d+)\)\s*User:\s*(.*?)\s*$.*?^\s*Fingerprint:\s*([0-9A-Fa-f]+)', done.stdout, re.M | re.S)
    return [Key(int(index), name, fingerprint.upper()) for index, name, fingerprint in found]


def sign(sif, runtime, key=None):
    """Sign a SIF, which changes in one step or not at all, and check the signature.

    runtime: path of apptainer or singularity. key: path of a private key (PEM without passphrase), the end of a
    fingerprint in the user's keyring, or None for the first key there. Raises ImageError if there is no such key, or
    the key has a passphrase and no terminal is there to ask for it.
    """
    sif = Path(sif)
    _signatures(sif)  # what is no SIF says so before anybody is asked for a key
    options = _key_options(runtime, key)
    asked = sys.stdin is not None and sys.stdin.isatty()
    with changed(sif) as new:
        before = len(_signatures(new))
        # To a terminal the runtime writes its question itself, so nothing of it is caught there.
        caught = {} if asked else {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT,
                                   'start_new_session': True, 'timeout': WAIT}
        try:
            done = subprocess.run([str(runtime), 'sign', *options, str(new)], universal_newlines=True, errors='replace',
                                  **caught)
        except subprocess.TimeoutExpired as err:
            raise ImageError(f"signing {sif} took longer than {WAIT} s. {_without_terminal(sif)}") from err
        if done.returncode or len(_signatures(new)) == before:
            said = (done.stdout or '').strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            advice = "Was the passphrase right?" if asked else _without_terminal(sif)
            raise ImageError(f"{sif} was not signed: {re.sub(r'^FATAL: *', '', said[0])}. {advice}")
        # Only the runtime has the public key of a PEM key if the user gives it; the sums can be looked at without.
        problem = sif_file.signature_problem(str(new), str(runtime))
        if problem:
            raise ImageError(f"{sif} was signed, but the signature does not fit: {problem}")


def _key_options(runtime, key):
    """Return the options of `sign` that choose the key. Raises ImageError if it is not there."""
    if key is not None and Path(key).is_file():
        if 'ENCRYPTED' in Path(key).read_text(errors='replace'):
            raise ImageError(f"{key} has a passphrase, which {Path(runtime).name} sign cannot use. Give a PEM file "
                             "without one, or a key of the keyring")
        return ['--key', str(key)]
    keys = secret_keys(runtime)
    if not keys:
        no_file = '' if key is None else f"--key {key}: there is no such file, and "
        raise ImageError(f"{no_file}no secret key in the keyring. Make one: {Path(runtime).name} key newpair")
    if key is None:
        return ['--keyidx', str(keys[0].index)]
    end = re.sub('^0X', '', str(key).upper().replace(' ', ''))
    wanted = [item for item in keys if item.fingerprint.endswith(end)]
    if len(wanted) != 1:
        raise ImageError(f"{key} is no file, and the fingerprints of {len(wanted)} secret keys end so. In the keyring: "
                         + ', '.join(f"{item.fingerprint} ({item.name})" for item in keys))
    return ['--keyidx', str(wanted[0].index)]


def _without_terminal(sif):
    """Return what to do where no terminal is there to ask for a passphrase."""
    return (f"There is no terminal to ask for a passphrase. Sign it in a terminal: osu-container image sign "
            f"{shell.path(sif)}; or use a key without one")


def _signatures(sif):
    """Return the signatures (list of SifObject) in a SIF. Raises ImageError."""
    return [item for item in sif_objects(sif) if item.kind == sif_file.DATA_SIGNATURE]


def signature_state(sif, runtime, key=None):
    """Return what the signatures of a SIF say: 'unsigned', 'signed by NAME/FINGERPRINT, verified', or 'signed, key not
    at hand' with the reason.

    runtime: path of apptainer or singularity. key: path of the public key (PEM) of a signature that was made with a key
    file. Raises ImageError if a signature does not fit the contents, or not all of the image is signed.
    """
    if not _signatures(sif):
        return UNSIGNED
    state, text = sif_file.verify_signature(str(sif), str(runtime), str(key) if key else None)
    if state == 'verified':
        names = re.findall(r'Signing entity: *(.*?)\s*$', text, re.M)
        prints = re.findall(r'Fingerprint: *(\w+)', text)
        pairs = dict(zip(prints, names))  # one for each object: the same ones many times
        by = ', '.join(f'{name}/{fingerprint}' for fingerprint, name in pairs.items()) or str(key)
        return f'signed by {by}, verified'
    problem = sif_file.signature_problem(str(sif), str(runtime))
    if state == 'wrong' or problem:
        raise ImageError(problem or f"{sif}: the signature does not fit the key {key}: {text}. Is it the public key of "
                         "whoever signed?")
    return f'{UNKNOWN} ({text})'
