"""Checks of the installation: runtime, plugin files, python3, host.

Holds also the type of a check's result.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memlayer.cli.terminal.output import line, print_json, say
from memlayer.edge.bootstrap import install, runtime

OK = "ok"
WARN = "warn"
FAIL = "fail"
STYLES = {OK: "green", WARN: "yellow", FAIL: "bold red"}
SLOW_START_MS = 60
SCRIPT = re.compile(r"hooks/(run)\"? (\w+)")


class Check(NamedTuple):
    """A check's result.

    state: ok, warn (works less well than it could), fail (data is lost or at risk).
    """

    name: str
    state: str
    says: str
    remedy: str = ""


def print_checks(found: Iterable[Check], as_json: bool) -> int:
    """Print each result; return the exit code, 1 at a risk."""
    checks = []
    for check in found:
        checks.append(check)
        if not as_json:
            say((f"{check.state:<4}", STYLES[check.state]), "  ", (check.name, "bold"), f": {check.says}")
            if check.remedy:
                say(("-> ", "dim"), check.remedy, indent=6)
    failed = [check.name for check in checks if check.state == FAIL]
    if as_json:
        print_json({"ok": not failed, "checks": [check._asdict() for check in checks]})
    elif failed:
        say("")
        say(("At risk", "bold red"), ": " + ", ".join(failed))
    return 1 if failed else 0


def runtime_state(home: str, root: str) -> Check:
    """Check that hooks find a runtime to start the daemon with."""
    if not os.path.exists(os.path.join(root, runtime.LOCK_FILE)):
        return Check("runtime", OK, "installed as a package")
    python = runtime.find_runtime(home, root)
    if python is not None:
        problem = install.problem_of(python)
        if not problem:
            return Check("runtime", OK, python)
        return Check("runtime", FAIL, f"{python} does not work: {line(problem)}", "`memlayer setup` rebuilds it")
    if runtime.setup_is_running(home):
        return Check("runtime", WARN, "is being built right now", "wait a minute; turns are kept meanwhile")
    why = runtime.setup_failure(home)
    says = f"could not be built: {line(why)}" if why else "missing, incomplete, or built for another version"
    return Check("runtime", FAIL, says, f"run `memlayer setup`; see {runtime.setup_log(home)}")


def manifest(root: str) -> Check:
    """Check that the host can read the plugin's files."""
    real, copy = os.path.join(root, ".claude-plugin", "plugin.json"), os.path.join(root, "plugin.json")
    if not os.path.exists(real) and not os.path.exists(copy):
        return Check("manifest", OK, "installed as a package, not as a plugin")
    broken = "the plugin's files are damaged: install it again"
    try:
        with open(real, "rb") as read_by_host, open(copy, "rb") as at_root:
            text = read_by_host.read()
            same = text == at_root.read()
        name = json.loads(text)["name"]
        with open(os.path.join(root, "hooks.json"), encoding="utf-8") as file:
            events = json.load(file)["hooks"]
        commands = [hook["command"] for groups in events.values() for group in groups for hook in group["hooks"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as bad:
        return Check("manifest", FAIL, f"{type(bad).__name__}: {bad}", broken)
    wanted = {stem for command in commands for found in SCRIPT.findall(command) for stem in found}
    missing = [stem for stem in sorted(wanted) if not _hook_file(root, stem)]
    if missing or not wanted:
        return Check("manifest", FAIL, f"hook scripts are missing: {', '.join(missing) or 'all'}", broken)
    if not same:
        return Check("manifest", WARN, "plugin.json and .claude-plugin/plugin.json differ", "the host reads the latter")
    return Check("manifest", OK, f"{name}, {len(events)} hooks")


def _hook_file(root: str, stem: str) -> bool:
    return os.path.isfile(os.path.join(root, "hooks", "run" if stem == "run" else f"{stem}.py"))


def interpreter(home: str) -> Check:
    """Check the Python that hooks run on and its start time."""
    try:
        with open(runtime.remembered_python(home), encoding="utf-8", errors="replace") as file:
            python = file.readline().strip()
    except OSError:
        python = ""
    if python and os.access(python, os.X_OK):
        took_ms = start_ms(python)
        if took_ms is None:
            return Check("python3", FAIL, f"{python} does not run", "run `memlayer setup`")
        state = WARN if took_ms > SLOW_START_MS else OK
        return Check("python3", state, f"hooks run on {python}, {took_ms:.0f} ms a start")
    on_path = shutil.which("python3")
    took_ms = start_ms(on_path) if on_path else None
    if on_path is None or took_ms is None:
        return Check("python3", FAIL, "not on the PATH and not recorded: hooks do nothing", "run `memlayer setup`")
    shim = ", a version manager's shim" if is_script(on_path) else ""
    says = f"hooks run on the python3 of the PATH ({on_path}{shim}), {took_ms:.0f} ms a start"
    return Check("python3", WARN, says, "`memlayer setup` records the real interpreter")


def start_ms(python: str) -> float | None:
    """Return the better of two bare starts; None where it fails."""
    best = None
    for _ in range(2):
        began = time.perf_counter()
        try:
            command = [python, "-I", "-S", "-c", "pass"]
            subprocess.run(command, check=True, timeout=10, capture_output=True, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            return None
        took_ms = (time.perf_counter() - began) * 1000
        best = took_ms if best is None else min(best, took_ms)
    return best


def is_script(program: str) -> bool:
    """True for a script, as the shims of version managers are."""
    try:
        with open(program, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def auto_memory(environ: Mapping[str, str]) -> Check:
    """Report, from one key of its settings, the host's own memory."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    name = "host's memory"
    try:
        with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
            settings = json.load(file)
    except (OSError, ValueError):
        settings = {}
    switched_off = environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").lower() in ("1", "true", "yes", "on")
    if switched_off or (isinstance(settings, dict) and settings.get("autoMemoryEnabled") is False):
        return Check(name, OK, "Claude Code's own auto memory is off")
    return Check(name, OK, "Claude Code's own auto memory is on as well; neither changes the other's files")
