"""Count the modules that run for a start, a prompt, a Stop, an end and a forget.

`python tests/support/modules_passed.py [--names]`: a real daemon and real hooks, and a profiler in the daemon
that notes each module of memlayer with a function that is called. A first round warms up, the second counts. Not
counted: the main thread, which looks at the timetable whoever asks, and the hook's own process. *wait*: until the
host has its answer. *after*: until all is quiet, the batch of a pause included.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from memlayer.daemon import lifecycle  # noqa: E402
from memlayer.edge.capture import spool  # noqa: E402
from memlayer.edge.ipc.client import Client  # noqa: E402
from tests.support.processes import HookRunner  # noqa: E402
from tests.support.waiting import wait_for  # noqa: E402

PACKAGE = str(ROOT / "memlayer") + os.sep
QUIET_S = 2.0
POLL_S = 0.1
BATCH_S = 60.0
GOALS = {"start": 45, "prompt": 50, "stop": 80, "end": 80, "forget": 60}


class Watch:
    """A profiler for every thread that starts from now on.

    It collects the files of memlayer whose functions are called.
    """

    def __init__(self) -> None:
        self.files: set[str] = set()

    def start(self) -> None:
        threading.setprofile(self._called)

    def taken(self) -> set[str]:
        """The files since the last call."""
        found, self.files = self.files, set()
        return {one[len(PACKAGE) :] for one in found if not one.endswith("__init__.py")}

    def wait_until_quiet(self) -> None:
        """Return once no module has run for the first time for QUIET_S."""
        count, since = len(self.files), time.monotonic()
        while time.monotonic() - since < QUIET_S:
            time.sleep(POLL_S)
            if len(self.files) != count:
                count, since = len(self.files), time.monotonic()

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.add(frame.f_code.co_filename)


def drive(home: Path, watch: Watch, result: Path) -> None:
    """Play two sessions and a forget against the daemon.

    Writes the modules that ran, and ends the daemon.
    """
    counted: dict[str, list[list[str]]] = {}
    project = home.parent / "shop"
    project.mkdir()
    hook, client = HookRunner(ROOT, home, project), Client(str(home), str(ROOT), sys.executable)
    try:
        for number in range(2):
            named = {"session_id": "s%d" % number, "prompt_id": "p%d" % number}
            steps = {
                "start": partial(hook, "session_start", *named.values(), source="startup"),
                "prompt": partial(hook, "user_prompt_submit", *named.values(), prompt="Which port has the gateway?"),
                "stop": partial(hook, "stop", *named.values(), last_assistant_message="We decided on port 7481."),
                "end": partial(hook, "session_end", *named.values(), reason="other"),
                "forget": lambda: client.call("forget", {"ids": [newest(client)]}, deadline_s=40, start=False),
            }
            for name, step in steps.items():
                watch.taken()
                step()
                waited = watch.taken()
                if name != "prompt":  # its own batch would come 20 s later, and its Stop comes before that
                    watch.wait_until_quiet()
                    wait_for(lambda: not spool.waiting(str(home)), "the batch", within_s=BATCH_S)
                    watch.wait_until_quiet()
                counted[name] = [sorted(waited), sorted(watch.taken())]
    finally:
        result.write_text(json.dumps(counted))
        client.stop(deadline_s=40)


def newest(client: Client) -> str:
    """The id of the newest turn."""
    found = client.call("list", {"category": "conversation"}, deadline_s=40, start=False)
    return str(found["memories"][0]["id"])


def serve(home: Path, result: Path) -> None:
    """Be the daemon, driven by a thread.

    A daemon that leaves ends its process, so the result goes to a file.
    """
    watch = Watch()

    def driven() -> None:
        time.sleep(QUIET_S)
        drive(home, watch, result)

    threading.Thread(target=driven).start()
    watch.start()
    lifecycle.run(str(home))


@click.command(help=__doc__)
@click.option("--names", is_flag=True, help="Name the modules too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(names: bool, as_json: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="memlayer-passed-") as folder:
        base = Path(folder).resolve()
        home, result = base / "home", base / "result.json"
        home.mkdir(mode=0o700)
        (home / "config.yaml").write_text(json.dumps({"embedding": {"provider": "none"}}))
        daemon = multiprocessing.get_context("spawn").Process(target=serve, args=(home, result))
        daemon.start()
        daemon.join()
        counted = json.loads(result.read_text())
    if as_json:
        click.echo(json.dumps(counted))
        return
    for name, (waited, after) in counted.items():
        both = {*waited, *after}
        counts = len(waited), len(after), len(both), GOALS[name]
        click.echo("%-8s wait %3d, after %3d, both %3d modules (goal %d)" % (name, *counts))
        for file in sorted(both) if names else ():
            click.echo("         %-5s %-5s %s" % ("wait" * (file in waited), "after" * (file in after), file))


if __name__ == "__main__":
    main()
