"""
ELF facts of libraries, read with readelf (binutils). Nothing is loaded or run.

All functions work on Python 3.6 with the standard library only. core/reading/libraries.py has a second reader, class
Elf. One cannot plainly serve both: Elf knows sections of 64-bit little-endian files only and runs on compute nodes,
which need no binutils; here the machine of any ELF file is wanted, with symbols, versions and relocations, of up to 200
files by one readelf.
"""
import os
import re
import subprocess
from collections import OrderedDict, namedtuple

#: What readelf tells of one library or program.
#: soname: str or None; machine: str, as readelf prints it; needed, rpath, runpath: lists of str;
#: verneed: {soname of the provider: set of version names}; verdef: set of version names it defines;
#: interpreter: str, the loader that a program asks for, or None; dynamic: bool, it has a dynamic section;
#: undefined: {symbol: True if ld.so looks it up when the file is loaded, False if when it is called first} of what it
#: must find elsewhere, weak ones left out; defined: set of symbols that it offers. A symbol of a version is
#: 'name@VERSION' in both; what is offered is in defined as plain 'name' too. Needs of versions that are marked weak
#: stop nothing and are left out of verneed.
ElfFacts = namedtuple('ElfFacts', 'path soname machine needed rpath runpath verneed verdef interpreter dynamic '
                                  'undefined defined')

class ElfError(Exception):
    """A file that is no ELF library, or a library that cannot be found."""


#: Of many files at once the first line of each part of readelf's output is this and the path
_FILE = 'File: '
#: So many files are given to one readelf: the length of a command line is limited
_AT_ONCE = 200


def _readelf(paths):
    """
    Return {path: output (str) of readelf for it} for paths (list of str); files that are no ELF file are left out.

    Raises ElfError when readelf is missing.
    """
    command = ['readelf', '-W', '-h', '-l', '-d', '-r', '-V', '--dyn-syms'] + paths
    try:
        proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                                env=dict(os.environ, LC_ALL='C'), errors='replace')
    except OSError as err:
        raise ElfError("cannot run %s: %s (readelf is in the package binutils)" % (command[0], err))
    out = proc.communicate()[0]
    if len(paths) == 1:
        return {paths[0]: out}
    found, wanted = {}, set(paths)
    for part in ('\n' + out).split('\n' + _FILE)[1:]:
        path, _, text = part.partition('\n')
        if path in wanted:
            found[path] = text
    return found


#: How the parts of readelf's output begin that are read line by line; what follows a part of versions is not read
_PART = re.compile(r'\n(Version (?:needs|definition|symbols) section|Symbol table |Relocation section)[^\n]*')


def parse_readelf(path, text):
    """
    Return the ElfFacts that the output of `readelf -W -h -l -d -r -V --dyn-syms` (text) holds for the file path.

    Raises ElfError if text holds no ELF header.
    """
    machine = re.search(r'^\s*Machine:\s*(.+?)\s*$', text, re.M)
    if not machine:
        raise ElfError("%s is not an ELF file" % path)

    def entries(tag):
        return re.findall(r'\(%s\).*?\[(.*?)\]' % tag, text)

    soname, lines = entries('SONAME'), _lines_of_parts(text)
    early, copied = _relocated(lines.get('Relocation section', []))
    defined, undefined = _symbols(lines.get('Symbol table ', []))
    for symbol in copied:  # room in a program for data of a library, which must have it
        defined -= {symbol, symbol.partition('@')[0]}
        undefined.add(symbol)
    # the flag -z now is in DT_FLAGS or DT_FLAGS_1
    flags = ' '.join(re.findall(r'\(FLAGS(?:_1)?\)\s+(.*)', text))
    now = bool(re.search(r'\b(BIND_)?NOW\b', flags))
    interpreter = re.search(r'Requesting program interpreter: (.+?)\]', text)
    return ElfFacts(
        path=path, soname=soname[0] if soname else None, machine=machine.group(1), needed=entries('NEEDED'),
        rpath=[d for e in entries('RPATH') for d in e.split(':') if d],
        runpath=[d for e in entries('RUNPATH') for d in e.split(':') if d],
        verneed=_versions_needed(lines.get('Version needs section', [])),
        verdef=_versions_defined(lines.get('Version definition section', [])),
        interpreter=interpreter.group(1) if interpreter else None,
        dynamic=bool(re.search(r'^Dynamic section at', text, re.M)),
        undefined=dict((symbol, now or symbol in early) for symbol in undefined), defined=defined)


def _lines_of_parts(text):
    """Return {how a part of readelf's output (text) begins: its lines (list of str)}; those that begin alike in one."""
    pieces, found = _PART.split(text), {}
    for begin, piece in zip(pieces[1::2], pieces[2::2]):
        found.setdefault(begin, []).extend(piece.splitlines())
    return found


def _versions_needed(lines):
    """Return OrderedDict soname of the provider -> set of version names, by lines (list of str), without weak needs."""
    found, provider = OrderedDict(), None
    for line in lines:
        file = re.search(r'\bFile: (\S+)', line)
        if file:
            provider = file.group(1)
        name = re.search(r'\bName: (\S+) +Flags: (?!.*WEAK)', line)
        if name and provider:
            found.setdefault(provider, set()).add(name.group(1))
    return found


def _versions_defined(lines):
    """Return the version names (set of str) that a library defines, by lines (list of str)."""
    names = (re.search(r'\bName: (\S+)', line) for line in lines)
    return set(name.group(1) for name in names if name)


def _relocated(lines):
    """Return (symbols that are looked up when a file is loaded, those whose data are copied), by lines: sets of str."""
    early, copied = set(), set()
    for line in lines:
        # 000000003fd8  000300000006 R_X86_64_GLOB_DAT 0000000000000000 free@GLIBC_2.2.5 + 0
        fields = line.split(None, 5)
        if len(fields) > 4 and 'JUMP_SL' not in fields[2]:  # those are of calls, which may wait
            early.add(fields[4])
            if fields[2].endswith('_COPY'):
                copied.add(fields[4])
    return early, copied


def _symbols(lines):
    """Return (symbols that are offered, those that are needed, without weak ones), by lines (list of str): sets."""
    defined, undefined = set(), set()
    for line in lines:
        #   212: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND fi_getinfo@FABRIC_1.7 (9)
        fields = line.split()
        if len(fields) < 8 or fields[4] not in ('GLOBAL', 'WEAK', 'UNIQUE'):
            continue
        symbol = fields[7].replace('@@', '@')
        if fields[6] != 'UND':
            defined.update((symbol, symbol.partition('@')[0]))
        elif fields[4] != 'WEAK':
            undefined.add(symbol)
    return defined, undefined


def elf_facts(path):
    """Return the ElfFacts of the file path. Raises ElfError if it is missing, no ELF file, or readelf is missing."""
    if not os.path.isfile(path):
        raise ElfError("%s is a folder, wanted a library" % path if os.path.isdir(path) else
                       "%s does not exist" % path)
    if not os.access(path, os.R_OK):
        raise ElfError("%s cannot be read: Permission denied" % path)
    return parse_readelf(path, _readelf([path])[path])


def all_elf_facts(paths):
    """Return {path: ElfFacts} of those of paths (list of str) that are ELF files. Raises ElfError without readelf."""
    found = {}
    for start in range(0, len(paths), _AT_ONCE):
        for path, text in _readelf(paths[start:start + _AT_ONCE]).items():
            try:
                found[path] = parse_readelf(path, text)
            except ElfError:  # a script, or a text that stands in for a library
                continue
    return found
