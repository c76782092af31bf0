"""A one-turn run of the real host with and without plugin.

The two take turns in the same run.

`python bench/host.py [--codex] [--host PATH] [--rounds 20] [--json FILE]`: the whole process `claude -p` or `codex
exec` against the scripted API of the tests on loopback, so that no model's time is in it. The homes are throw-away
ones; the store holds facts that the prompts ask for, the daemon is warm, and all runs of a round ask the same. Other
runs show the host's own cost: a plugin of one manifest and nothing else, hooks that run `true`, an MCP server that does
nothing. CPU is of the host and its children, the daemon aside. Without --host the version of the tests is installed
from npm: the newest of Claude Code.
"""

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client  # noqa: E402
from tests.support.host.claude_run import Claude  # noqa: E402
from tests.support.host.codex_run import Codex, ResponsesApi  # noqa: E402
from tests.support.host.installed_host import HostUnavailable, InstalledHost, install, install_codex, newest_version  # noqa: E402
from tests.support.host.messages_api import MessagesApi  # noqa: E402
from tests.support.host.plugin_copy import copy_plugin, git  # noqa: E402

GOAL, GOAL_OF_HOOKS = 1.45, 1.25
WITHOUT, EMPTY, WITH = "without memlayer", "an empty plugin", "with memlayer"
HOOKS_ALONE = "memlayer without its MCP server"
# The host's own part of the cost: `true` at memlayer's events, and a server with one tool that is loaded at the start.
IDLE_HOOKS, IDLE_SERVER = "hooks that do nothing", "a server that does nothing"
SERVER = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answers = {
        "initialize": lambda: {
            "protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "idle", "version": "1"},
        },
        "tools/list": lambda: {"tools": [{
            "name": "nothing", "description": "Nothing", "inputSchema": {"type": "object"},
            "_meta": {"anthropic/alwaysLoad": True},
        }]},
    }
    if "id" in asked:
        found = answers.get(asked["method"])
        end = {"result": found()} if found else {"error": {"code": -32601, "message": "not known"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **end}), flush=True)
"""
FACTS = (
    ("We moved the order events from Postgres to ClickHouse because the nightly reports timed out.",
     "which database did we move the order events to, and why?"),
    ("결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야.", "결제모듈을 뭘로 바꾸기로 했지?"),
    ("The image cache in src/cache.py is limited to 512 MB since the workers ran out of memory.",
     "src/cache.py의 한도가 얼마였지?"),
)  # fmt: skip
QUIET_S = 60.0
PROJECT = "내 가게 shop"
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
console = Console()


class Person(NamedTuple):
    """A person at a host.

    tell: types a prompt, with memlayer. ways: each sends a prompt in a run of its own, and says whether the prompt was
    given a memory.
    """

    title: str
    tell: Callable[[str], object]
    ways: dict[str, Callable[[str], bool]]
    failed_hooks: Callable[[], int]


def installed(path: str) -> InstalledHost:
    """The host at that path, which says its version itself. Raises click.UsageError."""
    bare = {"HOME": tempfile.gettempdir(), "PATH": os.environ["PATH"], "DISABLE_AUTOUPDATER": "1"}
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, env=bare, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise click.UsageError(f"{path} cannot be run: {error}") from error
    version = re.search(r"\d+\.\d+\.\d+", said.stdout)
    return InstalledHost(version[0] if version else "", Path(path).absolute())


@contextmanager
def at_claude(base: Path, path: str) -> Iterator[Person]:
    """A person with Claude Code, whose plugins lie beside each other."""
    host = installed(path) if path else install(newest_version())
    home, project, plugin = base / "home", base / PROJECT, base / "plugin"
    with MessagesApi() as api:
        user = Claude(host, api, home, project, plugin, extra_environ=environ())
        plugins = {
            WITHOUT: None,
            EMPTY: empty_plugin(base / "empty"),
            IDLE_HOOKS: idle_hooks(base / "idle hooks"),
            IDLE_SERVER: idle_server(base / "idle server"),
            HOOKS_ALONE: without_server(plugin, base / "hooks alone"),
            WITH: plugin,
        }

        def way(loaded: Path | None) -> Callable[[str], bool]:
            def asks(prompt: str) -> bool:
                user.is_plugin_loaded, user.plugin = loaded is not None, loaded or plugin
                run = user(prompt)
                if run.returncode or run.stderr.strip():
                    raise SystemExit(f"the host failed: {run.returncode} {run.stdout!r} {run.stderr!r}")
                return bool(run.turn.injected("UserPromptSubmit"))

            return asks

        ways = {name: way(loaded) for name, loaded in plugins.items()}
        yield Person(f"Claude Code {host.version}", ways[WITH], ways, lambda: len(user.hook_failures()))


@contextmanager
def at_codex(base: Path, path: str) -> Iterator[Person]:
    """A person with Codex, who has a home for each way to set it up."""
    host = installed(path or str(install_codex()))
    memlayer_home = base / "home" / ".memlayer"
    with ResponsesApi() as api:
        shared = {"MEMLAYER_HOME": str(memlayer_home), **environ()}
        users = {
            name: Codex(host.claude, api, base / name, base / PROJECT, shared)
            for name in (WITHOUT, IDLE_HOOKS, IDLE_SERVER, HOOKS_ALONE, WITH)
        }
        for name, user in users.items():
            set_up(user, name, base / "plugin")

        def tell(prompt: str) -> None:
            with users[WITH].talk() as talk:  # `codex exec` is a program's, which nobody is told of
                talk.say(prompt)

        def way(user: Codex) -> Callable[[str], bool]:
            def asks(prompt: str) -> bool:
                user.exec(prompt)
                return "\n- [mem:" in api.told("developer")  # a start's lines begin with a day

            return asks

        log = memlayer_home / "logs" / "hook.log"
        ways = {name: way(user) for name, user in users.items()}
        yield Person(
            f"Codex {host.version}", tell, ways, lambda: len(log.read_text().splitlines()) if log.exists() else 0
        )


def set_up(user: Codex, name: str, plugin: Path) -> None:
    """Give Codex what a way to run it has, and trust its hooks."""
    config, hooks = user.folder / "config.toml", user.folder / "hooks.json"
    plain = config.read_text(encoding="utf-8")
    if name == IDLE_SERVER:
        (user.folder / "server.py").write_text(SERVER)
        given = {"command": PYTHON, "args": ["-I", "-S", str(user.folder / "server.py")]}
        fields = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
        config.write_text(f"{plain}\n[mcp_servers.idle]\n{fields}", encoding="utf-8")
    elif name != WITHOUT:
        setup = [plugin / "bin" / "memlayer", "setup", "--host", "codex"]
        subprocess.run(setup, cwd=user.project, env=user.environ, check=True, capture_output=True)
        if name != WITH:
            config.write_text(plain, encoding="utf-8")
        if name == IDLE_HOOKS:
            hooks.write_text(re.sub(r'"command": ".*"', '"command": "true"', hooks.read_text(encoding="utf-8")))
        with user.talk() as talk:
            talk.trust_hooks()


def wait_until_quiet(client: Client) -> None:
    """Wait until the daemon has nothing to do.

    The work that a run left must not weigh on the next run.
    """
    ends = time.monotonic() + QUIET_S
    while time.monotonic() < ends:
        status = client.call("status", {})
        if not status["job"] and not status["jobs_waiting"]:
            return
        time.sleep(0.02)
    raise SystemExit("the daemon does not come to rest")


def measure(person: Person, client: Client, rounds: int) -> dict[str, Any]:
    """Return medians, spread and ratios.

    `recalled` counts the runs whose request held a memory.
    """
    took: dict[str, list[float]] = {name: [] for name in person.ways}
    used: dict[str, list[float]] = {name: [] for name in person.ways}
    recalled = 0
    for number in track(range(rounds), "rounds", console=console, transient=True):
        prompt = FACTS[number % len(FACTS)][1]
        # The order turns round every time: none always finds the disk's cache warmed by another.
        for name in list(person.ways)[:: 1 if number % 2 else -1]:
            wait_until_quiet(client)
            before, started = processor_ms(), time.perf_counter()
            is_given = person.ways[name](prompt)
            took[name].append((time.perf_counter() - started) * 1000)
            used[name].append(processor_ms() - before)
            if is_given and name not in (HOOKS_ALONE, WITH):
                raise SystemExit("a run without memlayer was given a memory")
            recalled += is_given and name == WITH
    pairs = [one / other for one, other in zip(took[WITH], took[WITHOUT], strict=True)]
    runs = {name: {**summary(ms), "cpu_ms": round(statistics.median(used[name]), 1)} for name, ms in took.items()}
    for run in runs.values():
        run |= {f"{name}_ratio": round(run[name] / runs[WITHOUT][name], 2) for name in ("p50_ms", "cpu_ms")}
    return {"runs": runs, "median_of_ratios": round(statistics.median(pairs), 3), "recalled": recalled}


def idle_hooks(folder: Path) -> Path:
    """A plugin that runs `true` at each of memlayer's events."""
    hooks = json.loads((ROOT / "hooks.json").read_text())["hooks"]
    for groups in hooks.values():
        groups[0]["hooks"] = [{"type": "command", "command": "true"}]
    plugin = empty_plugin(folder, hooks="./hooks.json")
    (folder / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    return plugin


def idle_server(folder: Path) -> Path:
    """A plugin with a server of one tool that is loaded up front."""
    server = {"command": PYTHON, "args": ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/server.py"]}
    plugin = empty_plugin(folder, mcpServers={"idle": server})
    (folder / "server.py").write_text(SERVER)
    return plugin


def empty_plugin(folder: Path, **more: object) -> Path:
    """A plugin with neither hooks nor commands, unless named."""
    (folder / ".claude-plugin").mkdir(parents=True)
    manifest = {"name": "empty", "version": "0.1.0", "description": "Nothing", **more}
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    return folder


def without_server(plugin: Path, folder: Path) -> Path:
    """A copy of the plugin that registers no MCP server."""
    shutil.copytree(plugin, folder)
    for manifest in (folder / "plugin.json", folder / ".claude-plugin" / "plugin.json"):
        fields = json.loads(manifest.read_text())
        del fields["mcpServers"]
        manifest.write_text(json.dumps(fields))
    return folder


def processor_ms() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def summary(values: list[float]) -> dict[str, float]:
    """p50, p95 and the fastest, in milliseconds."""
    ordered = sorted(values)
    return {
        "p50_ms": round(statistics.median(ordered), 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
        "best_ms": round(ordered[0], 1),
    }


def new_project(base: Path) -> None:
    """Make a git project, the plugin's files, and a home that knows its interpreter."""
    home, project = base / "home" / ".memlayer", base / PROJECT
    for folder in (home, project):
        folder.mkdir(parents=True, mode=0o700)
    (project / "README.md").write_text("# shop\n", encoding="utf-8")
    git(["init", "--quiet", "--initial-branch=main"], cwd=project)
    git(["add", "README.md"], cwd=project)
    git(["commit", "--quiet", "--message", "first"], cwd=project)
    copy_plugin(base / "plugin")
    (home / "python").write_text(PYTHON)  # the one that setup would have remembered: not a version manager's shim


def environ() -> dict[str, str]:
    """The runtime that every run uses."""
    return {"MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)}


@click.command()
@click.option("--codex", "is_codex", is_flag=True, help="Codex instead of Claude Code.")
@click.option("--host", "host_path", default="", help="The host's executable; default: install it.")
@click.option("--rounds", default=20, help="Rounds; each is one run of each way.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(is_codex: bool, host_path: str, rounds: int, json_file: str) -> None:
    """Measure the real host with and without memlayer."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-host-bench-"))
    try:
        new_project(base)
        with (at_codex if is_codex else at_claude)(base, host_path) as person:
            client = Client(str(base / "home" / ".memlayer"), str(base / "plugin"), sys.executable)
            for fact, question in FACTS:
                person.tell(fact)
                for way in (WITH, WITHOUT):
                    person.ways[way](question)  # nothing in the measured runs is a first time
            client.call("flush", {"wait": True}, deadline_s=120)
            failed = person.failed_hooks()
            figures = {"host": person.title, "rounds": rounds, **measure(person, client, rounds)}
            figures["hook_failures"] = person.failed_hooks() - failed
            client.stop()
    except HostUnavailable as error:
        raise SystemExit(f"the host cannot be installed: {error}") from error
    finally:
        shutil.rmtree(base, ignore_errors=True)  # its daemon, if one is left, goes with its home
    show(figures)
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


def show(figures: dict[str, Any]) -> None:
    """For people."""
    columns = ("p50 ms", "p95 ms", "best ms", "CPU ms", "times without", "times its CPU")
    shown = Table("", *columns, title=f"one turn of {figures['host']}")
    for name, values in figures["runs"].items():
        shown.add_row(name, *(str(value) for value in values.values()))
    console.print(shown)
    ratio = figures["runs"][WITH]["p50_ms_ratio"]
    console.print(
        f"with memlayer {ratio} times a run without it (medians; goal {GOAL}: {'met' if ratio <= GOAL else 'missed'}; "
        f"hooks alone {GOAL_OF_HOOKS}), {figures['median_of_ratios']} as the median of the rounds; memories in "
        f"{figures['recalled']} of {figures['rounds']} prompts; {figures['hook_failures']} failed hooks"
    )


if __name__ == "__main__":
    main()
