"""House rules that no linter knows: what must be equal, what stays small, who may swallow errors, what hooks run on."""

import ast
import functools
import glob
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from memlayer.daemon.handlers import ASKING, HANDLERS
from memlayer.daemon.hook_call import Handler
from memlayer.edge import HOOKS
from memlayer.edge.capture.hosts import HOSTS
from memlayer.edge.capture.payload import read_payload
from memlayer.kinds import Category, Kind
from memlayer.text.word_lists import words
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("memlayer", "hooks", "bench", "evals", "demo", "docs", "models", "tests")
    for path in (ROOT / folder).rglob("*.py")
)
ZONE_A = [
    ROOT / "memlayer" / "__init__.py",
    ROOT / "memlayer" / "errors.py",
    *sorted((ROOT / "memlayer" / "edge").rglob("*.py")),
    *sorted((ROOT / "hooks").glob("*.py")),
]
# Run by the same Python where there is no runtime: `doctor` and `--version`.
BARE = [
    ROOT / "memlayer" / (stem + ".py")
    for stem in ("cli/__init__", "cli/doctor/bare", "cli/doctor/checks", "cli/terminal/output", "text/context_block")
]
REGISTERED = json.loads((ROOT / "hooks.json").read_text(encoding="utf-8"))["hooks"]
MAX_LINES = 600
MAX_MODULES = 16
MAX_HOOK_LINES = 15
# Looked up here, because each test has a home of its own.
VERSION_MANAGERS = ("~/.pyenv/versions/*/bin", "~/.local/share/uv/python/*/bin", "~/.asdf/installs/python/*/bin")
FOLDERS = [found for place in VERSION_MANAGERS for found in glob.glob(os.path.expanduser(place))]

# What the oldest host that is supported knows (the list its validator prints). One name more, and that host drops the
# whole file without a word.
KNOWN_EVENTS = frozenset(
    words(
        """
        PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
        SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PermissionRequest
        PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange
        WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged MessageDisplay
        """
    )
)

# A broad `except` ends a process or a thread's task, and writes a traceback. How many handlers each file may have.
SWALLOWING = {
    "memlayer/edge/hook/main.py": 2,
    "memlayer/edge/mcp.py": 1,
    "memlayer/daemon/dispatch.py": 1,
    "memlayer/daemon/resources/jobs.py": 1,
    "memlayer/agent/execution.py": 1,
    "memlayer/cli/doctor/bare.py": 1,  # it comes with the result
}
# One says why there is no embedder, the other drops what was half done in memory; both let the error go on.
RE_RAISING = {"memlayer/daemon/resources/state.py": 1, "memlayer/adapters/lance/search.py": 1}

# Prose of the package. The goal is 3.0 and 0.0: whoever brings a figure down brings its bound down too.
MAX_WHAT_PER_1000_WORDS = 1.0
MAX_FIRST_LINE_WORDS = 12

# Values of Category and Kind stand in kinds.py; `edge/mcp.py` is standard library only, and repeats names of theirs.
KINDS_STAND_IN = ("memlayer/kinds.py", "memlayer/edge/mcp.py")
# The same words for something else: nouns for a person, keys of answers, a sign of a sentence, an operation.
OTHER_MEANINGS = {
    "memlayer/view/pages/work.py": {"task"},  # a field of a form
    "memlayer/cli/app.py": {"task"},
    "memlayer/cli/doctor/checks.py": {"run"},
    "memlayer/cli/terminal/typist.py": {"task"},
    "memlayer/cli/verbs/project/tasks.py": {"task"},
    "memlayer/cli/terminal/talk_output.py": {"compaction"},
    "memlayer/cli/verbs/maintenance.py": {"turn"},
    "memlayer/cli/verbs/curation/notes.py": {"note"},
    "memlayer/cli/verbs/project/topics.py": {"turn"},
    "memlayer/cli/verbs/sharing/team.py": {"note"},
    "memlayer/cli/verbs/overview.py": {"core", "entry"},
    "memlayer/cli/verbs/search.py": {"note"},
    "memlayer/cli/verbs/installation.py": {"entry"},
    "memlayer/config/consolidation.py": {"turn"},
    "memlayer/consolidation/rules/extraction.py": {"cause"},
    "memlayer/edge/capture/payload.py": {"decision", "task", "run"},
    "memlayer/edge/__init__.py": {"task"},
    "memlayer/tasks/book.py": {"task"},
    "memlayer/tasks/keys.py": {"task"},
    "memlayer/wire/tools.py": {"turn"},
    "memlayer/edge/terminal/status_line.py": {"turn"},
    "memlayer/notes/answer.py": {"turn"},
    "memlayer/transcripts/others/cursor.py": {"conversation"},  # a field of its store
}

# After a shebang or comments, if there are any.
DOCSTRING = re.compile(r'(?:#.*\n)*r?"""\s*[^\s"]')
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
# Rooms beside the kernel: what they use of it is listed in `tests/data/tables/house/border.yaml`. How many names each
# may use: the goal is 25, and whoever brings a figure down brings its bound down too.
CLIENTS = {
    "agent": ("agent",),
    "command line": ("cli",),
    "export": ("transfer",),
    "files": ("memory_files",),
    "page": ("view",),
    "sharing": ("sharing", "team"),
}
MOST_NAMES = {"agent": 55, "command line": 221, "export": 26, "files": 39, "page": 78, "sharing": 56}
VAGUE = frozenset({"util", "utils", "helper", "helpers", "manager", "base", "common"})


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), name(path))


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a module, outermost first."""
    return list(ast.walk(parsed(path)))


def snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def test_both_manifests_are_the_same_bytes_and_no_links() -> None:
    read_by_the_host, at_the_top = ROOT / ".claude-plugin" / "plugin.json", ROOT / "plugin.json"
    assert read_by_the_host.read_bytes() == at_the_top.read_bytes()
    assert not read_by_the_host.is_symlink()  # newer hosts refuse a link


def test_scripts_launcher_and_registered_events_are_the_rows_of_hooks() -> None:
    scripts = {path.stem for path in (ROOT / "hooks").glob("*.py")}
    assert scripts == HOOKS.keys()
    assert [snake(event) for event in REGISTERED] == list(HOOKS)
    assert [row.event for row in HOOKS.values()] == list(REGISTERED)
    launcher = re.search(r"case \$\{1:-\} in ([^)]+)\)", (ROOT / "hooks" / "run").read_text(encoding="utf-8"))
    assert launcher is not None
    assert scripts == {word.strip() for word in launcher.group(1).split("|")}
    for script in scripts:
        assert '\nrun("%s")\n' % script in (ROOT / "hooks" / (script + ".py")).read_text(encoding="utf-8")


def test_daemon_and_hosts_know_each_row_of_hooks() -> None:
    """One forgotten would be an unknown operation, an answer that no model sees, or an event in quarantine."""
    assert {"hook." + stem for stem, row in HOOKS.items() if row.kind} == HANDLERS.keys()
    assert {"hook." + stem for stem, row in HOOKS.items() if row.wait_s and not row.kind} == ASKING.keys()
    read = {stem for host in HOSTS.values() for stem in (*host.reads, *host.plain)}
    answered = {
        op.removeprefix("hook.")
        for op in (*ASKING, *(op for op, row in HANDLERS.items() if row.answer != Handler().answer))
    }
    assert read == answered - {"stop"} <= HOOKS.keys()  # a Stop tells the person alone, or has the model go on
    assert {hook for host in HOSTS.values() for hook, _, _ in host.hooks.values()} <= HOOKS.keys()
    said = json.dumps(
        {
            "session_id": "s", "prompt": "물어본 것", "last_assistant_message": "answered", "source": "startup",
            "tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 2", "task_id": "1",
            "task_subject": "배포",
        }
    )  # fmt: skip
    for stem, row in HOOKS.items():
        event = read_payload(stem, said.encode(), project_dir="/p", at_ms=1).event if row.kind else None
        assert (event and event["kind"]) == (row.kind or None), stem


@pytest.mark.parametrize("event", REGISTERED)
def test_a_registered_event_runs_its_own_script_and_is_known_to_the_oldest_host(event: str) -> None:
    assert event in KNOWN_EVENTS
    commands = [hook for group in REGISTERED[event] for hook in group["hooks"]]
    assert [hook["type"] for hook in commands] == ["command"]
    assert commands[0]["command"] == 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/run" %s 2>/dev/null || true' % snake(event)
    assert HOOKS[snake(event)].wait_s < commands[0]["timeout"] <= 10


@pytest.mark.parametrize("path", sorted((ROOT / "hooks").glob("*.py")), ids=name)
def test_a_hook_script_stays_under_15_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < MAX_HOOK_LINES


def test_files_hold_at_most_600_lines() -> None:
    """A small file is fine; its name is a word that a reader looks for. Functions are bounded by ruff."""
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines >= MAX_LINES} == {}


def late_constants(tree: ast.Module) -> list[str]:
    """Constants below a function or class that they do not need."""
    late: list[str] = []
    made: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.add(node.name)
        elif made and isinstance(node, ast.Assign | ast.AnnAssign):
            names = {part.id: part.ctx for part in ast.walk(node) if isinstance(part, ast.Name)}
            stored = {name for name, context in names.items() if isinstance(context, ast.Store)}
            if made & names.keys():
                made |= stored
            else:
                late += sorted(stored)
    return late


def test_constants_stand_above_code() -> None:
    """A second block of constants is a second file."""
    paths = sorted((ROOT / "memlayer").rglob("*.py"))
    assert len(paths) > 200
    assert {name(path): late for path in paths if (late := late_constants(parsed(path)))} == {}


@pytest.mark.parametrize(
    ("code", "late"),
    [
        ("A = 1\ndef f(): ...", []),
        ("def f(): ...\nA = 1", ["A"]),
        ("def f(): ...\nA: int = 1\nB = A", ["A", "B"]),
        ("class C: ...\nA = C()\nB = [A]", []),
    ],
)
def test_late_constants_are_found(code: str, late: list[str]) -> None:
    assert late_constants(ast.parse(code)) == late


def is_module(dotted: str) -> bool:
    path = ROOT / dotted.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def names_used(tree: ast.Module) -> set[str]:
    """Return the names of memlayer that a module uses, `module.name`.

    A module that is imported as one counts by each of its names. As a value it would carry all of them: "*".
    """
    used, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "memlayer":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if is_module(full):
                    modules[alias.asname or alias.name] = full
                else:
                    used.add(full)
        elif isinstance(node, ast.Import):
            used |= {f"{alias.name}.*" for alias in node.names if alias.name.split(".")[0] == "memlayer"}
    bases = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            used.add(f"{modules[node.value.id]}.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in modules and node not in bases:
            used.add(f"{modules[node.id]}.*")
    return used


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_uses_the_listed_names_of_the_kernel_alone(client: str) -> None:
    rooms = {room for names in CLIENTS.values() for room in names}
    trees = [parsed(path) for room in CLIENTS[client] for path in sorted((ROOT / "memlayer" / room).rglob("*.py"))]
    used = {used for tree in trees for used in names_used(tree) if used.split(".")[1] not in rooms}
    listed = tables("house/border")[client]
    border = {f"memlayer.{module}".strip(".") + f".{own}" for module, names in listed.items() for own in names.split()}
    assert (sorted(used - border), sorted(border - used)) == ([], [])
    assert len(border) == MOST_NAMES[client]


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("from memlayer.kinds import Kind as K", {"memlayer.kinds.Kind"}),
        ("from memlayer.edge.home import paths\npaths.share('')", {"memlayer.edge.home.paths.share"}),
        ("from memlayer import model as rows\nrows.Memory", {"memlayer.model.Memory"}),
        ("from memlayer.edge.home import paths\nf(paths)", {"memlayer.edge.home.paths.*"}),
        ("import memlayer.model", {"memlayer.model.*"}),
        ("import os\nfrom json import loads", set()),
    ],
)
def test_names_of_the_kernel_are_found(code: str, used: set[str]) -> None:
    assert names_used(ast.parse(code)) == used


def test_every_module_says_in_one_line_what_it_does() -> None:
    read = {name(path): path.read_text(encoding="utf-8") for path in SOURCES}
    assert [path for path, text in read.items() if text and not DOCSTRING.match(text)] == []


def docstrings(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found = ast.get_docstring(node)
            if found:
                yield found


def test_prose_is_plain() -> None:
    """Docstrings and comments name their subject, at once and without riddles."""
    own = sorted((ROOT / "memlayer").rglob("*.py"))
    said = [text for path in own for text in docstrings(path)]
    comments = [text for path in own for text in re.findall(r"(?:^|\s)#(.*)", path.read_text(encoding="utf-8"))]
    prose = [word.lower() for text in said + comments for word in re.findall("[A-Za-z]+", text)]
    assert 1000 * prose.count("what") / len(prose) <= MAX_WHAT_PER_1000_WORDS
    long = [text for text in said if len(text.splitlines()[0].split()) > MAX_FIRST_LINE_WORDS]
    assert long == []


def test_no_module_or_class_has_a_name_that_says_nothing() -> None:
    named = [(name(path), path.stem) for path in SOURCES]
    for path in SOURCES:
        named += [(name(path), made) for made in CLASS.findall(path.read_text(encoding="utf-8"))]
    vague = [(path, one) for path, one in named if VAGUE & set(snake(one).strip("_").split("_"))]
    assert vague == []


def test_rows_are_changed_by_the_function_of_their_module() -> None:
    """`dataclasses.replace` and `asdict` take no row, and mypy does not say so."""
    rows = {"Event", "Memory", "Usage", "Chunk", "Hit"}
    for path in (ROOT / "memlayer").rglob("*.py"):
        imported = [node for node in nodes(path) if isinstance(node, ast.ImportFrom)]
        names = {(str(node.module), alias.name) for node in imported for alias in node.names}
        is_about_rows = bool({("memlayer.model", row) for row in rows} & names)
        assert not (is_about_rows and ("dataclasses", "replace") in names), path


def test_kinds_are_named_by_their_enums() -> None:
    values = {*Category, *Kind}
    literal: dict[str, set[str]] = {}
    for path in (ROOT / "memlayer").rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and node.value in values:
                literal.setdefault(name(path), set()).add(str(node.value))
    assert {path: words for path, words in literal.items() if path not in KINDS_STAND_IN} == OTHER_MEANINGS


def sets_of_kinds(tree: ast.Module) -> list[int]:
    """Lines that name two kinds together: a set, a table, cases of a match, a comparison with one or another."""
    collections = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BoolOp, ast.MatchOr)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, collections):
            parts = getattr(node, "elts", None) or getattr(node, "keys", None) or getattr(node, "values", None)
            texts = [ast.unparse(part) for part in parts or getattr(node, "patterns", ()) if part is not None]
            if sum(bool(re.search(r"\bKind\.[A-Z]", text)) for text in texts) > 1:
                found.append(node.lineno)
    return found


def test_sets_of_kinds_are_columns_of_their_table() -> None:
    """A new kind is a row, whoever asks. The migration tells of kinds as they were."""
    own = {ROOT / "memlayer" / "kinds.py", ROOT / "memlayer" / "records" / "schema5.py"}
    paths = set((ROOT / "memlayer").rglob("*.py")) - own
    assert {name(path): lines for path in paths if (lines := sets_of_kinds(parsed(path)))} == {}
    assert sets_of_kinds(ast.parse("A = (Kind.NOTE, Kind.TASK)\nB = {Kind.NOTE: 1}\nx is Kind.A or x is Kind.B")) == [
        1,
        3,
    ]


def broad_handlers(walked: Iterable[ast.AST]) -> Iterator[ast.ExceptHandler | ast.Call]:
    """Handlers, and calls of suppress(), that take every error."""

    def is_broad(caught: ast.expr | None) -> bool:
        if isinstance(caught, ast.Tuple):
            return any(is_broad(one) for one in caught.elts)
        called = caught.attr if isinstance(caught, ast.Attribute) else caught.id if isinstance(caught, ast.Name) else ""
        return caught is None or called in ("Exception", "BaseException")

    for node in walked:
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "suppress":
            yield from [node] if any(is_broad(argument) for argument in node.args) else []


def goes_on(handler: ast.ExceptHandler | ast.Call) -> bool:
    """True if the error leaves the handler as it came: it ends with a bare `raise` and never returns before."""
    if isinstance(handler, ast.Call):
        return False
    last = handler.body[-1]
    leaves = any(isinstance(node, ast.Return | ast.Break | ast.Continue) for node in ast.walk(handler))
    return isinstance(last, ast.Raise) and last.exc is None and not leaves


def test_a_broad_except_stands_only_at_the_edges() -> None:
    swallowing: dict[str, int] = {}
    raising: dict[str, int] = {}
    for path in [one for one in SOURCES if one.is_relative_to(ROOT / "memlayer") or one.parent == ROOT / "hooks"]:
        for handler in broad_handlers(nodes(path)):
            counted = raising if goes_on(handler) else swallowing
            counted[name(path)] = counted.get(name(path), 0) + 1
    assert swallowing == SWALLOWING
    assert raising == RE_RAISING


@pytest.mark.parametrize(
    ("code", "found", "swallowed"),
    [
        ("try: f()\nexcept OSError: g()", 0, 0),
        ("try: f()\nexcept: g()", 1, 1),
        ("try: f()\nexcept Exception: raise", 1, 0),
        ("try: f()\nexcept (OSError, builtins.BaseException) as bad:\n  if g(): raise\n  h()", 1, 1),
        ("try: f()\nexcept Exception as bad: raise OSError from bad", 1, 1),
        ("def k():\n try: f()\n except Exception:\n  if g(): return\n  raise", 1, 1),
        ("with contextlib.suppress(Exception): f()", 1, 1),
        ("with suppress(OSError): f()", 0, 0),
    ],
)
def test_broad_handlers_are_told_apart(code: str, found: int, swallowed: int) -> None:
    handlers = list(broad_handlers(ast.walk(ast.parse(code))))
    assert (len(handlers), sum(not goes_on(one) for one in handlers)) == (found, swallowed)


@pytest.mark.parametrize("path", ZONE_A + BARE, ids=name)
def test_what_hooks_run_is_python_3_9(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), name(path), feature_version=(3, 9))


def test_annotations_are_read_late_only_where_python_3_9_runs() -> None:
    """Python 3.11 needs no future import; a name that is made further down is quoted."""
    tested = {path for path in SOURCES if path.relative_to(ROOT).parts[0] != "models"} - {*ZONE_A, *BARE}
    assert len(tested) > 600
    late = [name(path) for path in tested if "\nfrom __future__ import" in path.read_text(encoding="utf-8")]
    assert late == []


def find_python(version: str) -> str:
    """An interpreter of this version, from the PATH or from where version managers keep them; "" if there is none."""
    for found in [shutil.which("python" + version), *(shutil.which("python" + version, path=at) for at in FOLDERS)]:
        # A version manager's shim may stand there for a version that is not chosen.
        if found and subprocess.run([found, "-I", "-S", "-c", ""], capture_output=True, timeout=20).returncode == 0:
            return found
    return ""


@pytest.mark.parametrize("version", ["3.9", "3.10"])
def test_what_hooks_run_imports_on_an_old_python(version: str) -> None:
    old = find_python(version)
    if not old:
        pytest.skip("no Python %s on this machine" % version)
    modules = [name(path)[:-3].replace("/", ".") for path in ZONE_A + BARE if path.parent != ROOT / "hooks"]
    code = (
        "import importlib, sys\n"
        "sys.dont_write_bytecode = True\n"
        "sys.path.insert(0, %r)\n"
        "for one in %r: importlib.import_module(one.replace('.__init__', ''))" % (str(ROOT), modules)
    )
    done = subprocess.run([old, "-I", "-S", "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_room_has_at_most_16_modules() -> None:
    """A newcomer reads a room's names at a glance."""
    folders = {path.parent for path in (ROOT / "memlayer").rglob("*.py")}
    sizes = {name(one): sum(path.name != "__init__.py" for path in one.glob("*.py")) for one in folders}
    assert {folder: count for folder, count in sizes.items() if count > MAX_MODULES} == {}


def imports_of(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of memlayer that a module imports anywhere, but for type checkers."""
    typed = [one for one in nodes(path) if isinstance(one, ast.If) and getattr(one.test, "id", "") == "TYPE_CHECKING"]
    skipped = {inner for one in typed for inner in ast.walk(one)}
    found: set[str] = set()
    for one in nodes(path):
        if isinstance(one, ast.ImportFrom) and one.module and one not in skipped:
            whole = {one.module + "." + alias.name for alias in one.names}
            found |= whole & modules.keys() or {one.module} & modules.keys()
        elif isinstance(one, ast.Import) and one not in skipped:
            found |= {alias.name for alias in one.names} & modules.keys()
    return found


def test_no_import_cycle() -> None:
    """Nor one of lazy imports: import-linter sees only those between rooms."""
    paths = [path for path in (ROOT / "memlayer").rglob("*.py") if path.name != "__init__.py"]
    modules = {name(path)[:-3].replace("/", "."): path for path in paths}
    waiting = {module: imports_of(path, modules) for module, path in modules.items()}
    while free := [module for module, needed in waiting.items() if not needed & waiting.keys()]:
        for module in free:
            del waiting[module]
    assert waiting == {}
