"""bin/memlayer as a real process that makes real venvs.

The plugin root is a copy whose requirements.lock pins one tiny wheel made here, so that no package index is needed;
test_real_runtime.py builds the real one.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import runtime
from tests.fault.confined import NotHere, small_disk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ROOT = Path(__file__).resolve().parents[2]
MB = 1 << 20
UV = Path(sys.prefix) / "bin" / "uv"
BASE_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))

# Takes the place of the CLI: prints its python and its arguments.
PROBE_CLI = """\
import json, sys
import tinyprobe
print(json.dumps({"python": sys.executable, "argv": sys.argv[1:], "isolated": sys.flags.isolated}))
"""


def make_wheel(folder: Path, package: str = "tinyprobe", version: str = "1.0", content: bytes = b"") -> str:
    """Write a wheel of one module into folder; returns its sha256."""
    info = f"{package}-{version}.dist-info"
    files = {
        f"{package}.py": content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD"
    lines = [f"{record},,\n"]
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    path = folder / f"{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, record: "".join(lines).encode()}.items():
            archive.writestr(name, data)
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Plugin:
    """A copy of the plugin, a home, and an environment.

    The environment has no package index in it.
    """

    def __init__(self, folder: Path) -> None:
        self.root = folder / "plug in 뿌리"
        self.home = folder / "나의 home"
        self.lock = self.root / "requirements.lock"
        wheels, programs = folder / "wheels", folder / "programs"
        package = self.root / "memlayer"
        for each in (self.root / "bin", package / "cli", package / "daemon", wheels, programs, folder / "user"):
            each.mkdir(parents=True)
        shutil.copy(ROOT / "bin" / "memlayer", self.root / "bin")
        shutil.copytree(ROOT / "memlayer" / "edge", package / "edge")
        for name in ("__init__.py", "errors.py"):
            shutil.copy(ROOT / "memlayer" / name, package)
        (package / "cli" / "__main__.py").write_text(PROBE_CLI)
        (package / "daemon" / "trial.py").write_text("import tinyprobe\n")
        self.lock.write_text(f"tinyprobe==1.0 \\\n    --hash=sha256:{make_wheel(wheels)}\n")
        (programs / "python3").symlink_to(BASE_PYTHON)
        (folder / "json.py").write_text("raise SystemExit('the PYTHONPATH leaked in')\n")
        self.environ = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "HOME": str(folder / "user"),
            "LANG": "C.UTF-8",
            "MEMLAYER_HOME": str(self.home),
            "MEMLAYER_PYTHON": BASE_PYTHON,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheels.as_uri(),
            "UV_CACHE_DIR": str(folder / "cache"),
            "UV_PYTHON_DOWNLOADS": "never",
            "PYTHONPATH": str(folder),
            "PYTHONHOME": "/nonexistent",
        }

    def add_uv(self, *, knows_index: bool) -> None:
        (self.root.parent / "programs" / "uv").symlink_to(UV)
        self.environ["UV_OFFLINE"] = "1"
        if knows_index:
            self.environ["UV_FIND_LINKS"] = self.environ["PIP_FIND_LINKS"]

    def command(self, *argv: str) -> list[str]:
        return [str(self.root / "bin" / "memlayer"), *argv]

    def run(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*argv),
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def start(self, *argv: str) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.command(*argv), env=self.environ, text=True, **pipes)  # type: ignore[call-overload,no-any-return]

    def runtimes(self) -> list[str]:
        return sorted(each.name for each in (self.home / "runtime").glob("2*"))

    def in_use(self) -> str:
        return os.readlink(self.home / "runtime" / "current")

    def builds(self) -> int:
        log = (self.home / "logs" / "setup.log").read_text(encoding="utf-8")
        return len(re.findall(r"^== .* trying the packages: ", log, re.MULTILINE))

    def has_pip(self) -> bool:
        return bool(list((self.home / "runtime" / self.in_use()).glob("lib/python3*/site-packages/pip")))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


def wait_until(happened: Callable[[], object], deadline_s: float = 60) -> None:
    ends_s = time.monotonic() + deadline_s
    while not happened():
        assert time.monotonic() < ends_s, "it did not happen in time"
        time.sleep(0.02)


def test_first_start_builds_runtime(plugin: Plugin) -> None:
    first = plugin.run("search", "결제 모듈", "it's $(here)", "--json")
    assert first.returncode == 0, first.stderr
    said = json.loads(first.stdout)
    assert said["argv"] == ["search", "결제 모듈", "it's $(here)", "--json"]
    assert said["python"] == str(plugin.home / "runtime" / plugin.in_use() / "bin" / "python")
    assert said["isolated"] == 1
    assert "memlayer: installing packages ..." in first.stderr.splitlines()
    assert (plugin.home / "python").read_text() == BASE_PYTHON + "\n"
    for folder in (plugin.home, plugin.home / "runtime", plugin.home / "logs"):
        assert folder.stat().st_mode & 0o777 == 0o700
    for file in (plugin.home / "python", plugin.home / "logs" / "setup.log"):
        assert file.stat().st_mode & 0o777 == 0o600

    second = plugin.run("stats")
    assert (second.returncode, second.stderr) == (0, "")
    assert plugin.builds() == 1


@pytest.mark.parametrize("knows_index", [True, False])
def test_uv_builds_where_it_reaches_an_index(plugin: Plugin, knows_index: bool) -> None:
    """What only pip is told of is installed by pip: uv reads none of pip's settings."""
    plugin.add_uv(knows_index=knows_index)
    done = plugin.run("stats")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["python"].endswith("/bin/python") and plugin.has_pip() is not knows_index
    assert (plugin.home / "python").read_text() == BASE_PYTHON + "\n"
    assert plugin.run("stats").returncode == 0 and plugin.builds() == 1


def test_two_starts_at_once_build_once(plugin: Plugin) -> None:
    both = [plugin.start("stats"), plugin.start("stats")]
    said = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    assert len({json.loads(out)["python"] for out, _ in said}) == 1
    assert plugin.builds() == 1 and len(plugin.runtimes()) == 1
    assert sum("waiting for another memlayer setup" in err for _, err in said) == 1


def test_killed_build_leaves_no_runtime(plugin: Plugin) -> None:
    process = plugin.start("setup")
    wait_until(lambda: list(plugin.home.glob("runtime/2*/pyvenv.cfg")))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (plugin.home / "runtime" / "current").is_symlink()
    again = plugin.run("setup", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["built"] is True
    assert plugin.runtimes() == [plugin.in_use()]
    assert json.loads(plugin.run("stats").stdout)["argv"] == ["stats"]


def test_changed_lock_or_python_rebuilds(plugin: Plugin) -> None:
    assert plugin.run("setup").returncode == 0
    first = plugin.in_use()
    plugin.lock.write_text(plugin.lock.read_text() + "# changed\n")
    assert plugin.run("stats").returncode == 0
    second = plugin.in_use()
    assert second != first and plugin.runtimes() == sorted([first, second])  # the previous one may be in use still

    python = plugin.home / "runtime" / second / "bin" / "python"
    python.unlink()
    python.symlink_to("/nonexistent/python3.11")
    (plugin.home / "python").write_text("/nonexistent/python3.11\n")
    assert plugin.run("stats").returncode == 0
    third = plugin.in_use()
    assert plugin.builds() == 3 and plugin.runtimes() == sorted([second, third])
    assert (plugin.home / "python").read_text() == BASE_PYTHON + "\n"


def test_background_setup_runs_once(plugin: Plugin) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from memlayer.edge.bootstrap import runtime;"
        "print(runtime.spawn_setup(sys.argv[2], sys.argv[1]))"
    )
    starter = [BASE_PYTHON, "-I", "-S", "-c", code, str(plugin.root), str(plugin.home)]

    def start() -> str:
        done = subprocess.run(starter, env=plugin.environ, capture_output=True, text=True, timeout=10)
        assert done.stderr == ""
        return done.stdout.strip()

    assert start() == "True"
    wait_until(lambda: list(plugin.home.glob("runtime/2*")))
    assert start() == "False"
    wait_until(lambda: (plugin.home / "runtime" / "current").is_symlink())
    assert plugin.run("stats").returncode == 0
    assert plugin.builds() == 1
    assert (plugin.home / "logs" / "setup.err").read_bytes() == b""


def test_failed_install_reports_cause(plugin: Plugin) -> None:
    failed = plugin.run("stats", "--json", PIP_FIND_LINKS="")
    assert failed.returncode == 1
    last = json.loads(failed.stdout)["error"]["message"]
    assert re.match(r"setup failed while installing packages: .*tinyprobe", last)
    assert f"log: {plugin.home}/logs/setup.log" in last
    assert plugin.runtimes() == []
    assert "tinyprobe" in (plugin.home / "runtime.failed").read_text()
    assert plugin.run("setup", "--quiet").returncode == 0
    assert not (plugin.home / "runtime.failed").exists()


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_full_disk_is_told_and_left_alone(plugin: Plugin, tmp_path: Path, tool: str) -> None:
    digest = make_wheel(tmp_path / "wheels", "big_probe", content=b"#" * 80 * MB)
    plugin.lock.write_text(f"big_probe==1.0 --hash=sha256:{digest}\n")
    if tool == "uv":
        plugin.add_uv(knows_index=True)
    try:
        with small_disk(tmp_path / "disk", 60 * MB) as disk:
            home = disk / "나의 home"
            failed = plugin.run("setup", MEMLAYER_HOME=str(home))
            assert failed.returncode == 1 and "No space left on device" in failed.stderr.splitlines()[-1]
            assert "No space left on device" in (home / "runtime.failed").read_text()
            assert not list((home / "runtime").iterdir()) and runtime.failed_lately(str(home))
    except NotHere as why:
        pytest.skip(str(why))


def test_unreachable_index_is_named(plugin: Plugin) -> None:
    nowhere = {
        "PIP_NO_INDEX": "",
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
    }
    failed = plugin.run("setup", **nowhere)
    assert failed.returncode == 1
    assert "the package index cannot be reached" in failed.stderr.splitlines()[-1]


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_tampered_package_is_refused(plugin: Plugin, tool: str) -> None:
    if tool == "uv":
        plugin.add_uv(knows_index=True)
    plugin.lock.write_text(re.sub("sha256:..", "sha256:00", plugin.lock.read_text()))
    failed = plugin.run("setup")
    assert failed.returncode == 1
    assert plugin.runtimes() == []


def test_package_that_does_not_load_is_not_switched_to(plugin: Plugin) -> None:
    assert plugin.run("setup").returncode == 0
    first = plugin.in_use()
    (plugin.root / "memlayer" / "daemon" / "trial.py").write_text("import 없는_것\n", encoding="utf-8")
    plugin.lock.write_text(plugin.lock.read_text() + "# changed\n")
    failed = plugin.run("setup", "--quiet")
    assert failed.returncode == 1 and "while trying the packages: ModuleNotFoundError" in failed.stderr
    assert plugin.in_use() == first and plugin.runtimes() == [first]


def test_old_python_is_named(plugin: Plugin, tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\necho "$0"\necho 3.9\n')
    old.chmod(0o755)
    failed = plugin.run("stats", MEMLAYER_PYTHON=str(old))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert re.search(
        r"memlayer: MEMLAYER_PYTHON=.*Python 3\.11 to 3\.14 with venv is needed; found: 3\.9\.", failed.stderr
    )


def test_unwritable_home_prints_one_line(plugin: Plugin, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = plugin.run("stats", MEMLAYER_HOME=str(tmp_path / "file" / "home"))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert re.fullmatch(r"memlayer: setup failed: Not a directory: .*\n", failed.stderr)


def test_missing_python3_prints_one_line(plugin: Plugin, tmp_path: Path) -> None:
    failed = plugin.run("stats", PATH=str(tmp_path / "nothing"))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("memlayer: python3 is not on the PATH.")


def test_setup_refuses_unknown_options_without_a_runtime(plugin: Plugin) -> None:
    assert plugin.run("setup", "--frobnicate").returncode == 2
    assert not plugin.home.exists()


def extras_of(plugin: Plugin) -> list[str]:
    site = (plugin.home / "runtime" / plugin.in_use()).glob("lib/python3*/site-packages/*.dist-info")
    return sorted(path.name.split("-")[0] for path in site if path.name.split("-")[0] in ("openai", "anthropic"))


def test_extras_come_again_with_a_new_runtime(plugin: Plugin) -> None:
    wheels = plugin.root.parent / "wheels"
    for name, version in (("openai", "3.60"), ("anthropic", "2.20")):
        digest = make_wheel(wheels, name, version)
        lock = plugin.root / f"requirements-{name}.lock"
        lock.write_text(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")
    done = plugin.run("setup", "--with", "openai")
    assert done.returncode == 0, done.stderr
    assert extras_of(plugin) == ["openai"]
    first = plugin.in_use()
    python = plugin.home / "runtime" / first / "bin" / "python"
    pip = [str(python), "-I", "-m", "pip", "install", "-q", "anthropic"]  # by hand, as the messages used to say
    subprocess.run(pip, env=plugin.environ, check=True, timeout=100)
    plugin.lock.write_text(plugin.lock.read_text() + "# changed\n")
    assert plugin.run("stats").returncode == 0
    assert plugin.in_use() != first and extras_of(plugin) == ["anthropic", "openai"]
    make_wheel(wheels, "openai", "3.60", b"changed = 1\n")  # another file than the one that was pinned
    plugin.lock.write_text(plugin.lock.read_text() + "# changed again\n")
    done = plugin.run("stats")  # an extra that cannot be had breaks no update
    assert done.returncode == 0 and "Again: memlayer setup --with" in done.stderr


def test_unknown_extra_is_refused(plugin: Plugin) -> None:
    done = plugin.run("setup", "--with", "torch")
    assert done.returncode == 1 and "--with takes anthropic, openai, not 'torch'" in done.stderr
    assert not plugin.home.exists()
