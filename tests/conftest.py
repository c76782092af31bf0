"""What every test gets: no way to the real home, and tools to run hooks and daemons as the processes they are."""

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from memlayer.adapters.embedding.lazy_import import import_lancedb
from memlayer.edge.home.agents import EVERYWHERE, IN_SHELLS
from memlayer.edge.ipc.client import Client
from memlayer.errors import MemlayerError
from tests.support.leftovers import end_all, left_running
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent
EVERY_MARK = (*IN_SHELLS, *EVERYWHERE)  # whoever runs the tests may be a model
IN_MEMORY = "/dev/shm"
ENOUGH_BYTES = 4_000_000_000
FEW_EXAMPLES = 15
settings.register_profile("check", max_examples=FEW_EXAMPLES)  # of `make check`; `make test` tries a hundred

# Half of a run waited for disks: a daemon and its doctor flush each file. Faults of disks are tests of tests/fault.
if os.path.isdir(IN_MEMORY):
    room = os.statvfs(IN_MEMORY)
    if room.f_bavail * room.f_frsize > ENOUGH_BYTES and not room.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = IN_MEMORY


@pytest.fixture(autouse=True)
def no_real_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that forgets to name a home gets an empty one of its own, and fails if it touched the person's."""
    for name in [name for name in os.environ if name.startswith(("MEMLAYER_", "CLAUDE")) or name in EVERY_MARK]:
        if name not in ("MEMLAYER_RUNTIME_DIR", "MEMLAYER_HOST_CACHE"):
            monkeypatch.delenv(name)
    real = Path(os.path.expanduser("~/.memlayer"))
    before = real.stat().st_mtime_ns if real.exists() else None
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    yield
    after = real.stat().st_mtime_ns if real.exists() else None
    assert before == after, "a test wrote to the person's own ~/.memlayer"


# Background jobs of a shell without job control ignore Ctrl-C, and so would everything that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Import LanceDB as a daemon does: whole, it takes a third of a worker's start."""
    if hasattr(config, "workerinput"):
        import_lancedb()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves processes behind, and end them."""
    if not Path("/proc/self/environ").exists() or hasattr(session.config, "workerinput"):
        return
    left = left_running(session.config._tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    for pid, command in left.items():
        sys.stderr.write(f"\nleft running by a test: {pid} {command}\n")
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


FRESH = ("test_daemon", "test_daemon_memory", "test_no_network")


@pytest.fixture(autouse=True)
def fresh_daemons(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each daemon as a new process in tests of its start, its memory and faults."""
    is_fresh = request.path.parent.name == "fault" or request.path.stem in FRESH
    monkeypatch.setattr(Daemon, "is_fresh", is_fresh)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memlayer home that does not exist yet."""
    return tmp_path / "메모리 home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in, with a space and Hangul in its name."""
    folder = tmp_path / "work 폴더" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def hook(home: Path, project: Path) -> Iterator[HookRunner]:
    """Runs hook scripts as the host would, in a home where nothing is started in the background."""
    runner = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
    runner.forbid_background()
    yield runner
    with contextlib.suppress(MemlayerError):  # one that a hook has woken all the same
        Client(str(home), str(ROOT), sys.executable).call("stop", {}, deadline_s=5.0, start=False)
    end_all(home)  # on a busy machine a verb may have started a second one, which waited for the first to leave


@pytest.fixture
def daemon(home: Path, project: Path) -> Iterator[Daemon]:
    """A real daemon of `home`, with its store open, lexical unless a test asks for the model."""
    with Daemon(ROOT, home) as running:
        yield running
