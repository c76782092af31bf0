"""The MCP server's start, memory and schemas: `python bench/mcp.py [--rounds 30]`.

A cold start is a whole process from its start to its answer to `initialize`, by turns with bare Python starts in the
same run; its memory is read then. No daemon runs.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.edge import mcp  # noqa: E402

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}


def bare(python: str) -> float:
    """Seconds of a Python start that does nothing."""
    started = time.monotonic()
    subprocess.run([python, "-I", "-S", "-c", "pass"], check=True)
    return time.monotonic() - started


def initialize(environment: dict[str, str]) -> tuple[float, int]:
    """(seconds to the answer, resident bytes then) of one server."""
    started = time.monotonic()
    command = ["sh", str(ROOT / "bin" / "memlayer"), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(REQUEST).encode() + b"\n")
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        took = time.monotonic() - started
        status = Path(f"/proc/{server.pid}/status").read_text()
        resident = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))
        server.stdin.close()
    return took, resident


@click.command(help=__doc__)
@click.option("--rounds", default=30, show_default=True)
def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (Path(folder) / "python").write_text(python + "\n")  # as a setup remembers it
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "MEMLAYER_HOME": folder}
        starts, servers = [], []
        for _ in range(rounds):
            starts.append(bare(python))
            servers.append(initialize(environment))
    start, server = statistics.median(starts), statistics.median(took for took, _ in servers)
    schemas = json.dumps(mcp.TOOLS)
    table = Table("bare start", "initialize", "ratio", "memory", "schemas", "instructions")
    table.add_row(
        f"{1000 * start:.0f} ms", f"{1000 * server:.0f} ms", f"{server / start:.2f}",
        f"{statistics.median(resident for _, resident in servers) / 2**20:.0f} MB",
        f"{len(schemas):,} characters", f"{len(mcp.INSTRUCTIONS)} characters",
    )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
