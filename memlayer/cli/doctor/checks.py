"""Checks of installation and files: runtime, plugin, permissions, settings, spool, logs."""

from __future__ import annotations

import collections
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memlayer.cli.terminal.output import duration, line, print_json, say
from memlayer.edge.bootstrap import health, runtime
from memlayer.edge.capture import spool
from memlayer.edge.counting import counted, size
from memlayer.edge.home import paths, project
from memlayer.edge.home.project_env import is_disabled

if TYPE_CHECKING:
    from memlayer.wire.upkeep import SettingsHeld


OK = "ok"
WARN = "warn"
FAIL = "fail"
STYLES = {OK: "green", WARN: "yellow", FAIL: "bold red"}
SLOW_START_MS = 60
RESTART = "`memlayer daemon restart`"
CORRECT = "correct that line; until then `enabled: false` still switches off"
SLOW = (
    "a busy machine is slow as well: run `memlayer doctor` again; if it stays, `memlayer setup` with a faster python3"
)
SCRIPT = re.compile(r"hooks/(run)\"? (\w+)")

SPOOL_MAX_AGE_S = 300.0
SPOOL_GRACE_S = 5.0  # a daemon that has just started needs a moment to store the events that wait
LOW_BYTES = 200_000_000
FULL_BYTES = 20_000_000
HARMLESS = (paths.SOCKET_NAME, "python", "runtime", "runtime.lock", "runtime.failed")  # no memory text
BY_HAND = (".md", ".yaml", ".yml", ".txt")  # settings and personas, with the umask of the person's editor


class Check(NamedTuple):
    """A result. state: ok, warn (works less well), fail (data at risk)."""

    name: str
    state: str
    says: str
    remedy: str = ""


def print_checks(results: Iterable[Check], as_json: bool) -> int:
    """Print each result; return the exit code, 1 at a risk."""
    checks = []
    for check in results:
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


def runtime_state(home: str, root: str, is_in_use: Callable[[str], bool] = lambda _: False) -> Check:
    """Check that hooks find a runtime to start the daemon with.

    is_in_use: true for a python whose packages have been loaded as they are now; of others they are tried.
    """
    if not os.path.exists(os.path.join(root, runtime.LOCK_FILE)):
        return Check("runtime", OK, "installed as a package")
    python = runtime.find_runtime(home, root)
    if python is not None:
        if is_in_use(python):
            return Check("runtime", OK, python)
        from memlayer.edge.bootstrap import install  # not for hooks

        problem = install.problem_of(python)
        if not problem:
            return Check("runtime", OK, python)
        return Check("runtime", FAIL, f"{python} does not work: {line(problem)}", "`memlayer setup` rebuilds it")
    if runtime.setup_is_running(home):
        return Check("runtime", WARN, "is being built right now", "wait a minute; turns are kept meanwhile")
    why = runtime.setup_failure(home)
    if not why and not os.path.lexists(runtime.runtimes(home)):
        return Check("runtime", WARN, "not built yet", "the next session builds it, or `memlayer setup` does now")
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
    wanted = {stem for command in commands for stems in SCRIPT.findall(command) for stem in stems}
    files = {stem: "run" if stem == "run" else f"{stem}.py" for stem in sorted(wanted)}
    missing = [stem for stem, file in files.items() if not os.path.isfile(os.path.join(root, "hooks", file))]
    if missing or not wanted:
        return Check("manifest", FAIL, f"hook scripts are missing: {', '.join(missing) or 'all'}", broken)
    if not same:
        return Check("manifest", WARN, "plugin.json and .claude-plugin/plugin.json differ", "the host reads the latter")
    return Check("manifest", OK, f"{name}, {len(events)} hooks")


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
        says = f"hooks run on {python}, {took_ms:.0f} ms a start"
        return Check("python3", WARN, says, SLOW) if took_ms > SLOW_START_MS else Check("python3", OK, says)
    on_path = shutil.which("python3")
    took_ms = start_ms(on_path) if on_path else None
    if on_path is None or took_ms is None:
        return Check("python3", FAIL, "not on the PATH and not recorded: hooks do nothing", "run `memlayer setup`")
    shim = ", a version manager's shim" if is_script(on_path) else ""
    says = f"hooks run on the python3 of the PATH ({on_path}{shim}), {took_ms:.0f} ms a start"
    if took_ms <= SLOW_START_MS and not shim:
        return Check("python3", OK, says)
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


def permissions(home: str) -> Check:
    """Check that only this user can read and write the home."""
    name = "permissions"
    try:
        at_home = os.stat(home)
    except OSError as bad:
        return Check(name, WARN, f"{home}: {bad.strerror}; nothing has been kept yet", "the next session makes it")
    if at_home.st_uid != os.getuid():
        return Check(name, FAIL, f"{home} belongs to another user", "set MEMLAYER_HOME to a folder of your own")
    if not os.access(home, os.W_OK | os.X_OK):
        return Check(name, FAIL, f"{home} cannot be written: turns are lost", f"chmod u+rwx {shlex.quote(home)}")
    mend = f"chmod -R go-rwx {shlex.quote(home)}"
    if at_home.st_mode & 0o077:
        return Check(name, FAIL, f"other users can read {home}", mend)
    for folder in (paths.spool(home), paths.store(home), paths.logs(home)):
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):
            return Check(name, FAIL, f"{folder} cannot be written", f"chmod u+rwx {shlex.quote(folder)}")
    loose = [path for path in loose_files(home) if not is_harmless(path)]
    if loose:
        says = f"{counted(len(loose), 'file')} readable by others in a closed folder: {loose[0]}"
        return Check(name, WARN, says, mend)
    return Check(name, OK, f"{home} is yours alone")


def is_harmless(path: str) -> bool:
    """True for a file without memory text, or the person's own."""
    return os.path.basename(path) in HARMLESS or path.endswith(BY_HAND)


def loose_files(home: str) -> list[str]:
    """Return the non-empty files in home and spool that others may read."""
    loose = []
    for folder in (home, paths.spool(home)):
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            try:
                found_stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # taken in meanwhile
                continue
            if found_stat.st_mode & 0o077 and found_stat.st_size and not stat.S_ISLNK(found_stat.st_mode):
                loose.append(entry.path)
    return loose


def disk(home: str) -> Check:
    """Check the free space on the home's disk."""
    at = home
    while not os.path.exists(at):
        at = os.path.dirname(at)
    free = shutil.disk_usage(at).free
    if free < LOW_BYTES:
        state = FAIL if free < FULL_BYTES else WARN
        return Check("disk", state, f"only {size(free)} free on the disk of {home}", "free some disk space")
    return Check("disk", OK, f"{size(free)} free")


def settings(held: Callable[[str], SettingsHeld], folder: str) -> Iterator[Check]:
    """Check the user's settings and the project's file.

    held: the settings in a folder, "" for none.
    """
    of_user = held("")
    problem, file = of_user.problem, of_user.file
    if problem:
        yield Check("settings", FAIL, line(problem), CORRECT)
    else:
        yield Check("settings", OK, file if os.path.exists(file) else "defaults")
    if of_user.changed_since_daemon:
        yield Check("settings", WARN, f"{file} has changed since the daemon started", RESTART)
    capture = next(row for row in of_user.settings if row["key"] == "capture.enabled")
    if not capture["value"]:
        says = f"capture.enabled is false ({line(capture['from'])}): new turns are not kept"
        yield Check("capture", WARN, says, "`memlayer config unset capture.enabled` keeps them again")
    for name in of_user.ignored:
        yield Check("settings", WARN, f"{name} is ignored", f"set it with `memlayer config set {key_of(name)} ...`")
    if project.settings_files(folder):
        for warning in held(folder).warnings:
            yield Check("settings", WARN, line(warning), "correct that line; all others of the file hold")


def key_of(variable: str) -> str:
    """Return the setting that an environment variable is meant for."""
    return variable.lower().removeprefix("memlayer_").replace("__", ".", 1)


def spool_age(home: str) -> Check:
    """Check that no event waits long in the spool."""
    ends = time.monotonic() + SPOOL_GRACE_S
    while True:
        waiting, oldest_s = spool_state(home)
        if oldest_s <= SPOOL_MAX_AGE_S or time.monotonic() > ends:
            break
        time.sleep(0.2)
    says = f"{counted(waiting, 'event')} waiting, the oldest for {duration(oldest_s)}" if waiting else "empty"
    if oldest_s > SPOOL_MAX_AGE_S:
        return Check("spool", FAIL, says, "safe on disk, not in the store yet: `memlayer doctor flush` says why")
    return Check("spool", OK, says)


def spool_state(home: str) -> tuple[int, float]:
    """Return (number of files that wait, age of the oldest in seconds)."""
    oldest_s = 0.0
    waiting = spool.waiting(home)
    for path in waiting:
        try:
            oldest_s = max(oldest_s, time.time() - os.lstat(path).st_mtime)
        except FileNotFoundError:
            continue
    return len(waiting), oldest_s


def quarantine(home: str) -> Check:
    """Check that no unreadable event is in quarantine."""
    quarantined = spool.quarantined(home)
    if not quarantined:
        return Check("quarantine", OK, "empty")
    reasons = collections.Counter(line(reason, 80) for _, reason in quarantined)
    remedy = "`memlayer doctor repair` reads them again; `memlayer doctor quarantine` shows, with --drop removes them"
    return Check("quarantine", WARN, f"{counted(len(quarantined), 'file')} set aside: {most(reasons)}", remedy)


def most(reasons: collections.Counter[str]) -> str:
    """Return the commonest reasons, and how many others there are."""
    rows = [f"{count}x {reason}" for reason, count in reasons.most_common(3)]
    others = sum(count for _, count in reasons.most_common()[3:])
    return "; ".join(rows + [counted(others, "other")] * bool(others))


def logs(home: str, worked_ms: Mapping[str, int], *, is_well: bool) -> Iterator[Check]:
    """Check the logs for recent errors after which nothing went well.

    Recent: of the last 24 hours. worked_ms: the last time each hook was answered in time. is_well: daemon and store
    work now.
    """
    now_s = time.time()
    hooks = [entry for entry in health.entries(paths.hook_log(home), now_s) if is_trouble(entry)]
    unresolved = [entry for entry in hooks if worked_ms.get(str(entry.get("hook")), 0) <= _at_ms(entry)]
    yield log_check("hook log", paths.hook_log(home), hooks, unresolved)
    daemon = [entry for entry in health.entries(paths.daemon_log(home), now_s) if is_trouble(entry)]
    yield log_check("daemon log", paths.daemon_log(home), daemon, [] if is_well else daemon)
    tools = health.entries(paths.mcp_log(home), now_s)
    if tools:
        last = line(" ".join(str(tools[-1].get(key)) for key in ("tool", "error")), 120)
        says = f"{counted(len(tools), 'tool call')} of a model failed in the last 24 h; last: {last}"
        yield Check("tool log", WARN, says, f"see {paths.mcp_log(home)}")
    crash = os.path.join(paths.logs(home), "daemon.err")
    try:
        fresh = os.stat(crash).st_size and os.stat(crash).st_mtime > now_s - health.DAY_S
    except OSError:
        return
    if fresh and not is_well:
        yield Check("daemon's stderr", WARN, "the daemon's last start reported an error", f"see {crash}")


def log_check(name: str, path: str, errors: list[dict[str, object]], unresolved: list[dict[str, object]]) -> Check:
    """Check a log. unresolved: the errors after which nothing went well."""
    if not errors:
        return Check(name, OK, "no problem in the last 24 h")
    if not unresolved:
        return Check(name, OK, f"works now; {counted(len(errors), 'problem')} in the last 24 h")
    lost = [entry for entry in unresolved if entry.get("hook") and entry.get("what") == "failed"]
    last = (lost or unresolved)[-1]
    facts = line(" ".join(str(last[key]) for key in ("hook", "what", "error") if last.get(key)), 200)
    if lost:
        says = f"{counted(len(lost), 'hook call')} failed in the last 24 h; turns may be lost. Last: {facts}"
        return Check(name, FAIL, says, path)
    counts = most(collections.Counter(line(entry.get("what"), 60) for entry in unresolved))
    return Check(name, WARN, f"{counted(len(unresolved), 'problem')} in the last 24 h: {counts}. Last: {facts}", path)


def _at_ms(entry: Mapping[str, object]) -> float:
    at_ms = entry.get("at_ms")
    return float(at_ms) if isinstance(at_ms, (int, float)) else 0.0


def is_trouble(entry: Mapping[str, object]) -> bool:
    """True for a log line that reports an error.

    All lines of hooks do, except "daemon absent": it leaves when idle, and a hook starts it again. The daemon's lines
    carry a level.
    """
    if entry.get("what") == "daemon absent":
        return False
    return "hook" in entry or entry.get("level") in ("warning", "error", "critical")


def project_state(folder: str, environ: Mapping[str, str]) -> Check:
    """Check whether memory is switched on for this folder."""
    if is_disabled(environ.get("MEMLAYER_DISABLE")):
        value = ascii(environ["MEMLAYER_DISABLE"])[1:-1][:20]
        return Check("project", WARN, f"MEMLAYER_DISABLE={value} is set: hooks that inherit it do nothing", "unset it")
    root, file = project.locate(folder).root, project.switch_off(folder)
    if file:
        # A project's file may have come with a clone, and then the user did not choose it.
        is_own = os.path.basename(file) == project.SETTINGS_NAME
        says = f"switched off for {root if is_own else 'every project'} by {file}: nothing is stored there"
        remedy = f"if that was not you, correct or remove the line `enabled` in {shlex.quote(file)}"
        return Check("project", WARN, says, remedy)
    return Check("project", OK, f"on for {root}")
