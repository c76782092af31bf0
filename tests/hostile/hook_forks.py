"""Runs many hook calls, each in a forked process.

All are forked from one interpreter: python -I -S hook_forks.py ROOT HOOK. stdin: lines of hexadecimal payloads. stdout:
one JSON line for each call that broke a rule, then a line with counts. Rules: exit code 0, nothing on stderr, stdout
empty or one JSON object, done in time.
"""

import json
import os
import signal
import sys
import tempfile
import time

MAX_S = 8.0


def main(root: str, hook: str) -> None:
    sys.path.insert(0, root)
    from memlayer.edge.hook.fallback import keep_without_daemon  # loaded once, so that a fork costs a millisecond
    from memlayer.edge.hook.main import run

    assert keep_without_daemon
    folder = tempfile.mkdtemp()
    calls, slowest_s, printed = 0, 0.0, 0
    for line in sys.stdin.buffer:
        calls += 1
        with open(os.path.join(folder, "in"), "wb") as file:
            file.write(bytes.fromhex(line.decode()))
        started = time.monotonic()
        child = os.fork()
        if not child:
            for fd, name, flags in ((0, "in", os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
                opened = os.open(os.path.join(folder, name), flags | os.O_CREAT | (os.O_TRUNC if fd else 0), 0o600)
                os.dup2(opened, fd)
            signal.alarm(int(MAX_S))
            run(hook)
        _, status = os.waitpid(child, 0)
        took_s = time.monotonic() - started
        slowest_s = max(slowest_s, took_s)
        out, err = (whole(os.path.join(folder, name)) for name in ("out", "err"))
        printed += bool(out)
        problem = judge(status, out, err)
        if problem:
            print(json.dumps({"problem": problem, "payload": line.decode().strip()[:4000], "took_s": took_s}))
    print(json.dumps({"calls": calls, "slowest_s": slowest_s, "printed": printed}))


def whole(path: str) -> bytes:
    """Return the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def judge(status: int, out: bytes, err: bytes) -> str:
    """Return the rule that was broken; "" for none."""
    if status:
        return "ended with wait status %d" % status
    if err:
        return "stderr: %r" % err[:300]
    if out:
        try:
            told = json.loads(out)
        except ValueError:
            return "stdout is no JSON: %r" % out[:300]
        if not isinstance(told, dict) or not set(told) <= {"hookSpecificOutput", "systemMessage"}:
            return "stdout is no answer: %r" % out[:300]
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
