"""A power cut between any two system calls.

It loses no acknowledged event: neither from the spool nor from the store. Real processes are traced (strace); a model
of a disk that keeps only fsynced bytes builds the tree that each cut leaves; the real readers look at it, at the
daemon's part in a seeded sample (MEMLAYER_TORTURE=<cuts>, default 40).
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.capture import spool
from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError, StoreError
from memlayer.model import Scope
from tests.fault.disk_model import Call, Disk, calls_of, lay_out, strace
from tests.support.processes import HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
# How many cuts of the store's part to look at; there are some 2,500.
CUTS = int(os.environ.get("MEMLAYER_TORTURE") or 40)
TURNS = 3 if os.environ.get("MEMLAYER_TORTURE") else 1  # each is a thousand moments at which the power may fail
SEED = 20261119
DURABLE = "".join("\\x%02x" % byte for byte in b"durable 0\n")
Tree = dict[str, bytes | None]
pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows the system calls; it is not installed")
]


def cuts(log: Path, disk: Disk) -> Iterator[tuple[int, str, Tree]]:
    """Yield (acknowledgements so far, how the cut went, remaining tree).

    After each call that changed something, without repetitions.
    """
    dice = random.Random(SEED)
    acknowledged = 0
    seen: set[bytes] = set()
    for call in calls_of(log):
        disk.apply(call)
        acknowledged += acknowledges(call)
        if not changes(call):
            continue
        for how, tree in disk.leftovers(dice):
            told = sorted((path, content) for path, content in tree.items() if "/spool" in path or "/store" in path)
            mark = hashlib.sha256(repr((acknowledged, told)).encode()).digest()
            if mark not in seen:
                seen.add(mark)
                yield acknowledged, how, tree


def changes(call: Call) -> bool:
    return call.name not in ("lseek", "close") and (call.name != "openat" or "O_CREAT" in call.arguments)


def acknowledges(call: Call) -> bool:
    """A daemon says so on the socket, a hook by its end."""
    return call.name == "exit_group" or (call.name == "sendto" and DURABLE in call.arguments)


def spooled(home: Path) -> set[str]:
    """The texts of all whole events in the spool."""
    loaded = [spool.load(path) for path in spool.waiting(str(home))]
    return {str(event["text"]) for event, _ in loaded if event is not None}


def torn(home: Path) -> list[str]:
    return [why for event, why in map(spool.load, spool.waiting(str(home))) if event is None]


@pytest.mark.parametrize("first", [True, False], ids=["first call ever", "later call"])
def test_hook_without_daemon(home: Path, project: Path, tmp_path: Path, first: bool) -> None:
    hook = HookRunner(ROOT, home, project)
    hook.environment["MEMLAYER_RUNTIME_DIR"] = "/proc/none"  # nothing is there, and nothing can be made there
    if not first:
        hook.forbid_background()
        hook("user_prompt_submit", "s1", "p0", prompt="earlier")
    earlier = spooled(home)
    disk = Disk(home.parent)  # the home itself may be new
    log = tmp_path.parent / (tmp_path.name + ".trace")
    text = "결제 모듈은 세 번 재시도한다. " * 20
    process = strace(
        [hook.python, "-I", "-S", str(ROOT / "hooks" / "user_prompt_submit.py")], log, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, env=hook.environment, cwd=project,
    )  # fmt: skip
    payload = {"session_id": "s1", "prompt_id": "p1", "prompt": text, "cwd": str(project)}
    process.communicate(json.dumps(payload).encode(), timeout=60)
    assert process.returncode == 0
    checked = 0
    for acknowledged, how, tree in cuts(log, disk):
        left = tmp_path / "cuts" / str(checked)
        lay_out(tree, left)
        assert spooled(left / home.name) in ([earlier | {text}] if acknowledged else [earlier, earlier | {text}]), how
        assert torn(left / home.name) == [], how
        shutil.rmtree(left)
        checked += 1
    log.unlink()
    print("\n%d different leftovers" % checked)
    assert checked > 5


@pytest.mark.timeout(180 + 2 * CUTS)
def test_power_cut_between_socket_and_store(home: Path, project: Path, tmp_path: Path) -> None:
    """A daemon's whole life.

    It takes turns, drains, compacts, settles and leaves. Whoever starts it has made the home.
    """
    base = home.parent / "disk"
    home = base / "home"
    base.mkdir()
    home.mkdir(mode=0o700)
    log = tmp_path.parent / (tmp_path.name + ".trace")
    disk = Disk(base)
    told = live(home, project, log)
    dice = random.Random(SEED)
    found = list(cuts(log, disk))
    log.unlink()
    print("\n%d different leftovers" % len(found))
    if len(found) > CUTS:
        found = sorted(dice.sample(found, CUTS), key=lambda cut: cut[0])
    wrong = []
    for number, (acknowledged, how, tree) in enumerate(found):
        left = tmp_path / "cuts" / str(number)
        lay_out(tree, left)
        try:
            there = stored(left / "home") | spooled(left / "home")
        except StoreError as bad:
            wrong.append((number, acknowledged, how, str(bad)))
        else:
            missing = [text for text in told[:acknowledged] if text not in there]
            if missing or torn(left / "home"):
                wrong.append((number, acknowledged, how, "missing %s, torn %s" % (missing, torn(left / "home"))))
        shutil.rmtree(left)
    print("%d looked at, %d events" % (len(found), len(told)))
    assert wrong == [], "%d of %d: %s" % (len(wrong), len(found), "\n".join(map(str, wrong)))


def live(home: Path, project: Path, log: Path) -> list[str]:
    """Run a traced daemon that keeps a few turns.

    Returns the texts in the order of their acknowledgements.
    """
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "MEMLAYER_HOME": str(home),
                   "MEMLAYER_EMBEDDING__PROVIDER": "none"}  # fmt: skip
    process = strace(
        [sys.executable, "-I", str(ROOT / "memlayer" / "daemon" / "__main__.py")], log, threads=True, env=environment,
        stdin=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    client = Client(str(home), str(ROOT), sys.executable)
    told = []
    try:
        ends = time.monotonic() + 60
        while not answers(client):
            assert time.monotonic() < ends
            time.sleep(0.05)
        hook = HookRunner(ROOT, home, project)
        hook.environment["MEMLAYER_RUNTIME_DIR"] = "/proc/none"
        for turn in range(TURNS):
            prompt, answer = "주문 이벤트 %d은 어디로 가지?" % turn, "Order events %d go to ClickHouse." % turn
            hook.turn("s1", "p%d" % turn, prompt, answer)
            told += [prompt, answer]
            client.call("flush", {"wait": True}, deadline_s=120, start=False)
        client.call("reindex", {}, deadline_s=120, start=False)
        hook.turn("s1", "p9", "마지막 질문", "the last answer")
        told += ["마지막 질문", "the last answer"]
    finally:
        client.stop(deadline_s=60)
        process.wait(60)
    return told


def answers(client: Client) -> bool:
    try:
        return client.call("status", {}, start=False)["store"] == "open"
    except DaemonError:
        return False


def stored(home: Path) -> set[str]:
    """Return the texts of all events in the store.

    Nothing when there is none yet. Raises StoreError when it is damaged.
    """
    if not (home / "store").is_dir():
        return set()
    store = LanceStore.open(home / "store", 0)
    try:
        store.search_text(["clickhous"], Scope(None), 5)
        return {event.text for event in store.events(limit=10_000)}
    finally:
        store.close()
