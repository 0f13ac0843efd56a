"""
A mount whose server goes silent: python3 silent_mount.py MOUNT FILES PATIENCE COMMANDS.

MOUNT/WHEN/NAME is the file NAME of the folder FILES. Its server answers until WHEN, and never from then on: look (for
the name), open, read (the first byte) or later (what is behind the first 128 KiB). COMMANDS is a file of JSON, lists of
words; all are run at the same time. Printed is JSON: [[exit code, or null of a command that did not end within PATIENCE
seconds, stdout, stderr, seconds], ...]. Exit code 99: FUSE cannot be mounted here.

To be run in a mount namespace of its own. No file of it is closed in an orderly way either: like a server that is gone,
it does not answer that.
"""
import ctypes
import json
import os
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

LOOKUP, FORGET, GETATTR, READLINK, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FORGETS = (
    1, 2, 3, 5, 14, 15, 17, 18, 25, 26, 27, 28, 29, 42)
WHEN = ('look', 'open', 'read', 'later')
ROOT = 1
ENOENT, ENOSYS = 2, 38


class Server:
    """Answers the kernel (linux/fuse.h, version 7.31)."""

    def __init__(self, number, files):
        """number: int, of /dev/fuse; files: str, folder."""
        self.number, self.files = number, files
        # number of a node -> (when it goes silent, name): one for each file in each folder
        self.nodes = dict(enumerate([(when, '') for when in WHEN] + [
            (when, name) for when in WHEN for name in sorted(os.listdir(files))], ROOT + 1))

    def serve(self):
        """Answer for ever."""
        while True:
            try:
                question = os.read(self.number, 1 << 20)
            except OSError:
                continue
            _, kind, unique, node = struct.unpack_from('<IIQQ', question)
            answer = self.answer(kind, node, question[40:])
            if isinstance(answer, int):
                os.write(self.number, struct.pack('<IiQ', 16, -answer, unique))
            elif answer is not None:
                os.write(self.number, struct.pack('<IiQ', 16 + len(answer), 0, unique) + answer)

    def answer(self, kind, node, body):
        """Return the answer (bytes), an error (int), None for silence."""
        when, name = self.nodes.get(node, ('', ''))
        path = os.path.join(self.files, name)
        if kind == INIT:
            return struct.pack('<IIIIHHIIHHI7I', 7, 31, 0, 0, 8, 8, 1 << 17, 1, 0, 0, *[0] * 8)
        if kind in (FORGET, FORGETS):
            return None
        if kind == LOOKUP:
            wanted = body.rstrip(b'\0').decode()
            found = next((number for number, one in self.nodes.items() if one == (
                (wanted, '') if node == ROOT else (when, wanted))), None)
            if when == 'look':
                return None
            return ENOENT if found is None else struct.pack('<QQQQII', found, 0, 0, 0, 0, 0) + self.attributes(found)
        if kind == GETATTR:
            return struct.pack('<QII', 0, 0, 0) + self.attributes(node)
        if kind in (OPEN, OPENDIR):
            return None if when == 'open' and name else struct.pack('<QII', 1, 0, 0)
        if kind == READ:
            _, offset, size = struct.unpack_from('<QQI', body)
            if when == 'read' or when == 'later' and offset >= 1 << 17:
                return None
            with open(path, 'rb') as handle:
                handle.seek(offset)
                return handle.read(size)
        if kind == READDIR:
            return b''
        return None if kind == FLUSH else ENOSYS

    def attributes(self, node):
        """Return what stat() says of a node (int), as bytes."""
        name = self.nodes.get(node, ('', ''))[1]
        size = os.stat(os.path.join(self.files, name)).st_size if name else 0
        return struct.pack('<6Q10I', node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0,
                           stat.S_IFREG | 0o755 if name else stat.S_IFDIR | 0o755, 1, 0, 0, 0, 4096, 0)


def run(command, patience):
    """Return [exit code or None, stdout, stderr, seconds] of a command (list of str)."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, errors='replace')
    try:
        # until nobody has the pipes open any more
        out, err = child.communicate(timeout=patience)
        return [child.returncode, out, err, time.monotonic() - begin]
    except subprocess.TimeoutExpired as late:
        return [None, str(late.stdout), str(late.stderr), time.monotonic() - begin]


def main(mount, files, patience, commands):
    """See the head."""
    try:
        number = os.open('/dev/fuse', os.O_RDWR)
    except OSError as err:
        print(err)
        os._exit(99)
    options = f'fd={number},rootmode=40000,user_id=0,group_id=0,allow_other'.encode()
    if ctypes.CDLL(None).mount(b'silent', os.fsencode(mount), b'fuse', 0, options):
        print('mount')
        os._exit(99)
    server = os.fork()
    if server == 0:
        Server(number, files).serve()
    os.close(number)
    with open(commands) as handle:
        lists = json.load(handle)
    found = [None] * len(lists)

    def work(index):
        found[index] = run(lists[index], float(patience))
    threads = [threading.Thread(target=work, args=[index]) for index in range(len(lists))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.kill(server, signal.SIGKILL)  # now all is answered: by an error
    print(json.dumps(found), flush=True)
    os._exit(0)


if __name__ == '__main__':
    main(*sys.argv[1:])
