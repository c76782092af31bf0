"""A one-turn run of the real host with and without plugin.

The two take turns in the same run.

`python bench/host.py [--host PATH] [--rounds 20] [--json FILE]`: the whole process `claude -p`, prompt on stdin,
against the scripted Messages API of the tests on loopback, so that no model's time is in it. The home is a throw-away
one; the store holds facts that the prompts ask for, the daemon is warm, and all runs of a round ask the same. Other
runs show the host's own cost: a plugin of one manifest and nothing else, one whose hooks run `true`, one with an MCP
server that does nothing. CPU is of the host and its children, the daemon aside. Without --host the newest version
is installed from npm, as the tests do.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client  # noqa: E402
from tests.support.host.claude_run import Claude, Run  # noqa: E402
from tests.support.host.installed_host import HostUnavailable, InstalledHost, install, newest_version  # noqa: E402
from tests.support.host.messages_api import MessagesApi  # noqa: E402
from tests.support.host.plugin_copy import copy_plugin, git  # noqa: E402

GOAL, GOAL_OF_HOOKS = 1.45, 1.25
WITHOUT, EMPTY, WITH = "without a plugin", "an empty plugin", "with memlayer"
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
console = Console()


def named_host(path: str) -> InstalledHost:
    """The host at that path, which says its version itself. Raises click.UsageError."""
    bare = {"HOME": tempfile.gettempdir(), "PATH": os.defpath, "DISABLE_AUTOUPDATER": "1"}
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, env=bare, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise click.UsageError(f"{path} cannot be run: {error}") from error
    return InstalledHost(said.stdout.split(" ")[0].strip(), Path(path).absolute())


def timed(user: Claude, prompt: str, plugin: Path | None) -> tuple[float, Run]:
    """(milliseconds, run) of the whole process, with the plugin in that folder."""
    user.is_plugin_loaded = plugin is not None
    user.plugin = plugin or user.plugin
    started = time.perf_counter()
    run = user(prompt)
    took_ms = (time.perf_counter() - started) * 1000
    if run.returncode or run.stderr.strip():
        raise SystemExit(f"the host failed: {run.returncode} {run.stdout!r} {run.stderr!r}")
    return took_ms, run


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


def measure(user: Claude, client: Client, rounds: int) -> dict[str, Any]:
    """Return medians, spread and ratios.

    `recalled` counts the runs whose request held a memory.
    """
    plugins = {
        WITHOUT: None,
        EMPTY: empty_plugin(user.home.parent / "empty"),
        IDLE_HOOKS: idle_hooks(user.home.parent / "idle hooks"),
        IDLE_SERVER: idle_server(user.home.parent / "idle server"),
        HOOKS_ALONE: without_server(user.plugin, user.home.parent / "hooks alone"),
        WITH: user.plugin,
    }
    took: dict[str, list[float]] = {name: [] for name in plugins}
    used: dict[str, list[float]] = {name: [] for name in plugins}
    recalled = 0
    for number in track(range(rounds), "rounds", console=console, transient=True):
        prompt = FACTS[number % len(FACTS)][1]
        # The order turns round every time: none always finds the disk's cache warmed by another.
        for name in list(plugins)[:: 1 if number % 2 else -1]:
            wait_until_quiet(client)
            before = processor_ms()
            ms, run = timed(user, prompt, plugins[name])
            took[name].append(ms)
            used[name].append(processor_ms() - before)
            held = bool(run.turn.injected("UserPromptSubmit"))
            if held and name not in (HOOKS_ALONE, WITH):
                raise SystemExit("a run without memlayer was given a memory")
            recalled += held and name == WITH
    user.plugin = plugins[WITH] or user.plugin
    medians = {name: statistics.median(values) for name, values in took.items()}
    pairs = [one / other for one, other in zip(took[WITH], took[WITHOUT], strict=True)]
    return {
        "runs": {
            name: {**summary(values), "cpu_ms": round(statistics.median(used[name]), 1)}
            for name, values in took.items()
        },
        "ratio": round(medians[WITH] / medians[WITHOUT], 3),
        "ratio_to_empty": round(medians[WITH] / medians[EMPTY], 3),
        "ratio_to_hooks_alone": round(medians[WITH] / medians[HOOKS_ALONE], 3),
        "median_of_ratios": round(statistics.median(pairs), 3),
        "recalled": recalled,
    }


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
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    server = {"command": python, "args": ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/server.py"]}
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


def new_user(base: Path, host: InstalledHost, api: MessagesApi) -> Claude:
    """Return a person with an empty home and a git project.

    The plugin's files are in a folder of their own.
    """
    home, project = base / "home", base / "내 가게 shop"
    home.mkdir()
    project.mkdir()
    (project / "README.md").write_text("# shop\n", encoding="utf-8")
    git(["init", "--quiet", "--initial-branch=main"], cwd=project)
    git(["add", "README.md"], cwd=project)
    git(["commit", "--quiet", "--message", "first"], cwd=project)
    runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
    user = Claude(
        host=host, api=api, home=home, project=project, plugin=copy_plugin(base / "plugin"),
        extra_environ={"MEMLAYER_RUNTIME_DIR": runtime},
    )  # fmt: skip
    user.memlayer_home.mkdir(mode=0o700)
    # The interpreter that setup would have remembered: not a version manager's shim.
    (user.memlayer_home / "python").write_text(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    return user


@click.command()
@click.option("--host", "host_path", default="", help="The host's executable; default: install the newest.")
@click.option("--rounds", default=20, help="Rounds; each is one run with and one without the plugin.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(host_path: str, rounds: int, json_file: str) -> None:
    """Measure the real host with and without the plugin."""
    try:
        host = named_host(host_path) if host_path else install(newest_version())
    except HostUnavailable as error:
        raise SystemExit(f"the host cannot be installed: {error}") from error
    base = Path(tempfile.mkdtemp(prefix="memlayer-host-bench-"))
    try:
        with MessagesApi() as api:
            user = new_user(base, host, api)
            client = Client(str(user.memlayer_home), str(user.plugin), sys.executable)
            for told, asked in FACTS:
                for prompt in (told, asked):  # the questions too: nothing in the measured runs is a first time
                    timed(user, prompt, user.plugin)
                    timed(user, prompt, None)
            client.call("flush", {"wait": True}, deadline_s=120)
            figures = {"host": host.version, "rounds": rounds, **measure(user, client, rounds)}
            figures["hook_failures"] = len(user.hook_failures())
            client.stop()
    finally:
        shutil.rmtree(base, ignore_errors=True)  # its daemon, if one is left, goes with its home
    show(figures)
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


def show(figures: dict[str, Any]) -> None:
    """For people."""
    columns = ("p50 ms", "p95 ms", "best ms", "CPU ms", "times without")
    shown = Table("", *columns, title=f"one turn of Claude Code {figures['host']}")
    bare_ms = figures["runs"][WITHOUT]["p50_ms"]
    for name, values in figures["runs"].items():
        shown.add_row(name, *(str(value) for value in values.values()), f"{values['p50_ms'] / bare_ms:.2f}")
    console.print(shown)
    met = "met" if figures["ratio"] <= GOAL else "missed"
    console.print(
        f"with memlayer {figures['ratio']} times a run without a plugin (medians; goal {GOAL}: {met}; "
        f"hooks alone {GOAL_OF_HOOKS}), "
        f"{figures['median_of_ratios']} as the median of the rounds, {figures['ratio_to_empty']} times one with an "
        f"empty plugin; memories in {figures['recalled']} of {figures['rounds']} prompts; "
        f"{figures['hook_failures']} failed hooks"
    )


if __name__ == "__main__":
    main()
