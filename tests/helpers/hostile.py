"""
Texts that others choose, made to be taken for more than text, and programs that read them back.

A text of an image, a log, a file name or a result is data in every output: Lua, bash, JSON, HTML, a
terminal, an easyconfig, a site file, a definition file. Readers here are those that will read the
output: lua, bash, EasyBuild.
"""

import json
import subprocess
from datetime import datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osu_container.data.records import Range, Time
from tests.helpers.machine import STATE

#: What ends a text, or begins code, in one of the outputs
PARTS = [
    '" .. os.execute("touch owned") .. "',
    ']==] os.execute("touch owned") --[==[',
    '\\',
    '\\"',
    '"',
    "'",
    '"""',
    "'''",
    '$(touch owned)',
    '`touch owned`',
    '; touch owned; ',
    '${HOME}',
    '!!',
    '\n',
    '\r',
    '\r\n',
    '\t',
    '\n\n',
    '\0',
    '</script><script>owned()</script>',
    '<img src=x onerror=owned()>',
    '<!--',
    ']]>',
    '&lt;',
    '&',
    'javascript:owned()',
    '%(name)s',
    '100%(foo)s',
    '%%(name)s',
    '%s',
    '%',
    '{{ name }}',
    '{name}',
    '{0}',
    '{',
    '}',
    '\033[2J',
    '\033]0;owned\007',
    '\x9b31m',
    '\u202e',
    '\u200b',
    '\u2028',
    '\x85',
    '\x7f',
    '\udcff',
    'é',
    '漢',
    '\U0001f600',
    '#',
    '# ',
    '--',
    '-- ',
    '|',
    '\\|',
    '[',
    ']',
    '*',
    '_',
    ' ',
    '  ',
    '"); import os; os.system("touch owned") #',
    "'], 'more': ['",
    '\nkind: run',
    ',',
    ':',
    '=',
    '/',
    '..',
    '~',
    '-rf',
]
#: Any text
TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=6)), max_size=8).map(''.join)
#: What a path may be: any bytes but zero
PATHS = TEXTS.map(
    lambda text: (
        text.replace('\0', '').encode('utf-8', 'surrogatepass').decode('utf-8', 'surrogateescape')
    )
)
#: A name of a file
NAMES = PATHS.map(lambda text: text.replace('/', '')[:60]).filter(
    lambda name: name not in ('', '.', '..')
)


#: Any value of JSON, or of a site file
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1 << 70, 1 << 70),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=4,
)
_TYPES = {str: TEXTS, bool: st.booleans(), int: st.integers(), dict: st.dictionaries(TEXTS, VALUES)}


def build_values(shape):
    """Return the strategy of the values that have a shape of data/records.py."""
    if isinstance(shape, Range):
        kind = st.integers if isinstance(shape.lowest, int) else st.floats
        return kind(shape.lowest, shape.highest)
    if isinstance(shape, Time):
        return st.datetimes(datetime(1000, 1, 1)).map(lambda moment: moment.strftime(shape.format))
    if isinstance(shape, tuple):
        return st.one_of(list(map(build_values, shape)))
    if isinstance(shape, list):
        return st.lists(build_values(shape[0]), max_size=2)
    if isinstance(shape, dict):
        keys = {key: build_values(below) for key, below in shape.items() if isinstance(key, str)}
        others = [
            st.dictionaries(build_values(key), build_values(below), max_size=2)
            for key, below in shape.items()
            if not isinstance(key, str) and below != ()
        ]
        listed = st.fixed_dictionaries(
            {key: below for key, below in keys.items() if not key.endswith('?')},
            optional={
                key[:-1]: below
                for key, below in keys.items()
                if key.endswith('?') and key[:-1] not in keys
            },
        )
        return others[0] if others else listed
    if hasattr(shape, 'pattern'):
        return st.from_regex(shape, fullmatch=True)
    return _TYPES[shape] if isinstance(shape, type) else st.just(shape)


def list_shaped_places(value, shape):
    """Return the places in a value (at any depth) as a list of (dict or list, key, shape)."""
    if isinstance(shape, tuple):
        shape = next((one for one in shape if isinstance(one, type(value))), None)
    if isinstance(shape, list):
        below = [(number, shape[0]) for number in range(len(value))]
    elif isinstance(shape, dict):
        any_key = next((shape[key] for key in shape if not isinstance(key, str)), None)
        below = [(key, shape.get(key, shape.get(f'{key}?', any_key))) for key in value]
    else:
        below = []
    return [(value, key, one) for key, one in below] + [
        place for key, one in below for place in list_shaped_places(value[key], one)
    ]


def check_examples(check, examples, **strategies):
    """
    Call check(**values) with so many (int) generated values, the same ones each time.

    What fails is made as short as it can be. strategies: of the values, by the names of check's
    parameters.
    """
    given(**strategies)(
        settings(
            max_examples=examples,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )(check)
    )()


class Reader:
    """A program that reads one JSON line and answers with one."""

    def __init__(self, *command):
        """command: of the program."""
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding='ascii',
        )

    def __call__(self, question):
        """Return the answer to question (JSON data)."""
        self.process.stdin.write(json.dumps(question) + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f'{self.process.args} ended at {question!r}'
        return json.loads(answer)

    def close(self):
        """End the program."""
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


#: Reads Lua code in hexadecimal digits; answers with what it does, calls of Lmod's functions, in
#: such digits
LUA = r'''
local function hex(text) return (text:gsub(".", function(letter) return string.format("%02x", letter:byte()) end)) end
for line in io.lines() do
    local code = line:gsub('"', ""):gsub("..", function(two) return string.char(tonumber(two, 16)) end)
    local calls = {}
    local function record(name)
        return function(...)
            local row = {}
            for _, value in ipairs({name, ...}) do
                local text = type(value) == "table" and table.concat(value, "\1") or tostring(value)
                row[#row + 1] = '"' .. hex(text) .. '"'
            end
            calls[#calls + 1] = "[" .. table.concat(row, ",") .. "]"
        end
    end
    local known = {
        os = {getenv = function() return nil end, date = os.date, time = os.time, execute = record("os.execute"),
              exit = record("os.exit")},
        io = {open = record("io.open"), popen = record("io.popen")},
        pathJoin = function(one, two) return one .. "/" .. two end, mode = function() return "load" end,
        isFile = function() return true end, isDir = function() return true end,
        lfs = {attributes = function(_, what) return what and 1 or {size = 1, modification = 2, mode = "file"} end},
        tostring = tostring, tonumber = tonumber, ipairs = ipairs, pairs = pairs, type = type, string = string,
        table = table, math = math, next = next, select = select,
    }
    setmetatable(known, {__index = function(_, name) return record(name) end})
    local chunk, problem = load(code, "text", "t", known)
    if not chunk then
        print('{"problem": "' .. hex(problem) .. '"}')
    else
        local good, value = pcall(chunk)
        print('{"calls": [' .. table.concat(calls, ",") .. '], "value": "' .. hex(tostring(value)) .. '", "good": ' ..
              tostring(good) .. '}')
    end
    io.flush()
end
'''


class Lua(Reader):
    """Lua, with Lmod's functions recorded in place of called."""

    def __init__(self):
        super().__init__('lua', '-e', LUA)

    def __call__(self, code):
        """
        Return (calls: list of list of str, value: str) of code (str). Raises AssertionError for
        what is no Lua.
        """
        answer = super().__call__(code.encode('utf-8', 'surrogateescape').hex())
        assert 'problem' not in answer, bytes.fromhex(answer['problem']).decode() + '\n' + code
        assert answer['good'], bytes.fromhex(answer['value']).decode() + '\n' + code
        return [[_text(part) for part in row] for row in answer['calls']], _text(answer['value'])


def _text(digits):
    return bytes.fromhex(digits).decode('utf-8', 'surrogateescape')


#: Reads the text of an easyconfig as eb does, its templates resolved; or writes a module by
#: EasyBuild's own generator
EASYBUILD = r'''
import json, sys
from easybuild.framework.easyconfig.easyconfig import resolve_template
from easybuild.framework.easyconfig.parser import EasyConfigParser
from easybuild.tools.config import init_build_options
init_build_options({'silent': True})
sys.path.insert(0, sys.argv[1])
from osu_container.verdict.settings import build_settings, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.install.module_text import render_modulefile
for line in sys.stdin:
    question = json.loads(line)
    try:
        if 'easyconfig' in question:
            found = EasyConfigParser(rawcontent=question['easyconfig']).get_config_dict()
            found = {name: resolve_template(value, {'name': found['name'], 'version': found['version']})
                     for name, value in found.items() if isinstance(value, (str, list))}
        else:
            site = dict(resolve_site(question['site']), **question['replaced'])
            made = build_settings(resolve_approach(question['approach']), site, question['facts'])
            found = 'local root = "/install"\n' + render_modulefile(
                made, ('app', 'APP'), question['again'], question['facts']['image']['file'])
        print(json.dumps({'found': found}))
    except Exception as err:
        print(json.dumps({'problem': '%s: %s' % (type(err).__name__, err)}))
    sys.stdout.flush()
'''


class EasyBuildReader(Reader):
    """EasyBuild, which reads easyconfigs and writes modules."""

    def __init__(self, project):
        """project: Path, of the clone."""
        super().__init__(STATE / 'venv' / 'bin' / 'python', '-c', EASYBUILD, project)

    def __call__(self, **question):
        """Return the answer. Raises AssertionError for what EasyBuild refuses."""
        answer = super().__call__(question)
        assert 'problem' not in answer, answer['problem']
        return answer['found']
