"""Tools of the project's folder: nothing outside is touched, nothing runs on, nothing is half written."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from memlayer.agent.execution import INTERRUPTED, Toolbox
from memlayer.agent.files import MAX_READ_CHARS, ProjectFolder, ReadFile, WriteFile, short_diff
from memlayer.agent.tools import Shell, clean_environment, marked_processes
from memlayer.chat import ToolCall
from memlayer.errors import ToolError


def yes(question: str, details: str, *, always: str = "") -> None:
    """Approve everything."""


def no(question: str, details: str, *, always: str = "") -> None:
    """Refuse everything."""
    raise ToolError("refused")


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """A project with a Korean name, and a secret beside it."""
    project = tmp_path / "가게 shop"
    project.mkdir()
    (tmp_path / "비밀.txt").write_text("두루미")
    return ProjectFolder(str(project))


def lives(pid: int) -> bool:
    """True for a process that is no zombie."""
    try:
        state = Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    "path", ["../비밀.txt", "/etc/passwd", "안/../../비밀.txt", "고리/비밀.txt", "~/x", "", "a\0b"]
)
def test_path_outside_is_refused(folder: ProjectFolder, path: str) -> None:
    (folder.root / "고리").symlink_to(folder.root.parent)
    for run in (
        lambda: ReadFile(folder).run({"path": path}),
        lambda: WriteFile(folder, yes).run({"path": path, "content": "x"}),
        lambda: WriteFile(folder, yes).permit({"path": path, "content": "x"}),
    ):
        with pytest.raises(ToolError, match=r"outside|expected"):
            run()
    assert (folder.root.parent / "비밀.txt").read_text() == "두루미"


def test_link_within_the_folder_is_followed(folder: ProjectFolder) -> None:
    (folder.root / "본문.md").write_text("안녕\n")
    (folder.root / "고리.md").symlink_to("본문.md")
    assert ReadFile(folder).run({"path": "고리.md"}) == "안녕\n"
    WriteFile(folder, yes).run({"path": "고리.md", "content": "바뀜"})
    assert (folder.root / "고리.md").is_symlink() and (folder.root / "본문.md").read_text() == "바뀜"


def test_long_file_comes_in_parts(folder: ProjectFolder) -> None:
    lines = ["%d번째 줄입니다\n" % number for number in range(1, 3000)]
    (folder.root / "긴.txt").write_text("".join(lines))
    seen, start = "", 1
    for _ in range(20):
        part = ReadFile(folder).run({"path": "긴.txt", "start_line": start})
        assert len(part) < MAX_READ_CHARS + 100
        text, _, more = part.partition("\n[... more; go on with start_line ")
        seen += text
        if not more:
            break
        start = int(more.rstrip("]"))
    assert seen == "".join(lines)


@pytest.mark.parametrize(("name", "why"), [("관", "no file"), ("binary", "no text"), ("없음", "No such file")])
def test_pipe_binary_and_missing_file_are_refused(folder: ProjectFolder, name: str, why: str) -> None:
    os.mkfifo(folder.root / "관")
    (folder.root / "binary").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(ToolError, match=why):
        ReadFile(folder).run({"path": name})


def test_folder_is_listed(folder: ProjectFolder) -> None:
    (folder.root / "소스").mkdir()
    (folder.root / "읽기.md").touch()
    assert ReadFile(folder).run({"path": "."}) == "소스/\n읽기.md"


def test_written_file_keeps_its_mode_and_leaves_no_rest(folder: ProjectFolder) -> None:
    script = folder.root / "스크립트.sh"
    script.write_text("옛것\n")
    script.chmod(0o750)
    assert WriteFile(folder, yes).run({"path": "스크립트.sh", "content": "새것\n"}).startswith("Written")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("새것\n", 0o750)
    WriteFile(folder, yes).run({"path": "새/폴더/글.txt", "content": "하나\n둘\n"})
    assert sorted(path.name for path in folder.root.rglob("*")) == sorted(["스크립트.sh", "새", "폴더", "글.txt"])


def test_failed_write_leaves_the_old_file(folder: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.root / "글.txt").write_text("옛것")

    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        WriteFile(folder, yes).run({"path": "글.txt", "content": "새것"})
    assert [(path.name, path.read_text()) for path in folder.root.iterdir()] == [("글.txt", "옛것")]


def test_write_is_asked_with_a_diff(folder: ProjectFolder) -> None:
    (folder.root / "설정.txt").write_text("포트 80\n호스트 a\n")
    asked: list[tuple[str, str]] = []
    tool = WriteFile(folder, lambda question, details, *, always="": asked.append((question, details)))
    tool.permit({"path": "설정.txt", "content": "포트 8080\n호스트 a\n"})
    assert asked == [("Change 설정.txt (2 lines)?", "@@ -1,2 +1,2 @@\n-포트 80\n+포트 8080\n 호스트 a")]
    assert short_diff("", "줄\n" * 100).endswith("[... 61 more lines]")


def test_output_is_shown_while_a_command_runs(folder: ProjectFolder) -> None:
    """The command goes on only after its first line was shown; a character comes in two halves."""
    shown: list[str] = []

    def show(text: str) -> None:
        shown.append(text)
        (folder.root / "봤다").touch()

    command = r"printf '첫째 줄\n\352\260'; until [ -e 봤다 ]; do sleep 0.02; done; printf '\200\n둘째'"
    assert Shell(folder, yes, show).run({"command": command}) == "첫째 줄\n가\n둘째"
    assert len(shown) > 1 and "".join(shown) == "첫째 줄\n가\n둘째"


def test_refused_call_does_nothing(folder: ProjectFolder) -> None:
    box = Toolbox([WriteFile(folder, no), Shell(folder, no)])
    calls = [
        ToolCall("1", "write_file", {"path": "a", "content": "b"}),
        ToolCall("2", "shell", {"command": "touch 만듦"}),
    ]
    assert [(one.text, one.is_error) for one in box.run(calls)] == [("refused", True)] * 2
    assert list(folder.root.iterdir()) == []


def test_command_gives_output_and_exit_code(folder: ProjectFolder) -> None:
    shell = Shell(folder, yes)
    assert shell.run({"command": "pwd; echo 오류 >&2"}) == "%s\n오류" % folder.root
    assert shell.run({"command": "true"}) == "(no output)"
    with pytest.raises(ToolError, match=r"^Exit code 3\n실패$"):
        shell.run({"command": "echo 실패; exit 3"})
    with pytest.raises(ToolError, match="Ended by signal 9"):
        shell.run({"command": "kill -9 $$"})
    assert "input" not in shell.run({"command": "read line || echo 없음"})


def test_command_sees_no_keys(folder: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "두루미")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    seen = Shell(folder, yes).run({"command": "env"})
    assert "두루미" not in seen and "LC_ALL=C.UTF-8" in seen
    assert clean_environment({"PATH": "/bin", "MY_KEY": "x"}).keys() == {
        "PATH", "TERM", "PAGER", "GIT_TERMINAL_PROMPT",
    }  # fmt: skip


def test_endless_output_is_bounded(folder: ProjectFolder) -> None:
    out = Shell(folder, yes).run({"command": "echo 처음; seq 1 200000; echo 마지막"})
    assert out.startswith("처음\n1\n2\n") and out.endswith("200000\n마지막")
    assert "bytes left out" in out and len(out) < 70_000
    (result,) = Toolbox([Shell(folder, yes)]).run([ToolCall("1", "shell", {"command": "seq 1 200000"})])
    assert len(result.text) <= 10_000


SPAWNING = (
    "sleep 300 & echo $! >> pids; (trap '' TERM HUP; exec sleep 300) & echo $! >> pids;"
    " setsid sh -c 'echo $$ >> pids; exec sleep 300' &"
    " setsid nohup sh -c 'echo $$ >> pids; exec sleep 300' & sleep 0.4;"
)


def pids(folder: ProjectFolder, count: int) -> list[int]:
    """The processes that a command has named, once there are so many."""
    ends = time.monotonic() + 10
    path = folder.root / "pids"
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < ends
        time.sleep(0.02)
    return [int(pid) for pid in path.read_text().split()]


@pytest.mark.parametrize("how", ["it ends", "time limit"])
def test_no_process_outlives_its_call(folder: ProjectFolder, how: str) -> None:
    command = SPAWNING + ("echo 끝" if how == "it ends" else "sleep 300")
    box = Toolbox([Shell(folder, yes)], time_limit_s=20 if how == "it ends" else 2.0)
    (result,) = box.run([ToolCall("1", "shell", {"command": command})])
    found = pids(folder, 4)
    assert result.text == "끝" if how == "it ends" else "No result within 2 s" in result.text
    ends = time.monotonic() + 5
    while any(map(lives, found)) and time.monotonic() < ends:
        time.sleep(0.02)
    assert [pid for pid in found if lives(pid)] == []


def test_interrupt_ends_the_command(folder: ProjectFolder) -> None:
    def interrupt() -> None:
        pids(folder, 4)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    started = time.monotonic()
    (result,) = Toolbox([Shell(folder, yes)]).run([ToolCall("1", "shell", {"command": SPAWNING + "sleep 300"})])
    assert result.text == INTERRUPTED and time.monotonic() - started < 15
    ends = time.monotonic() + 5
    found = pids(folder, 4)
    while any(map(lives, found)) and time.monotonic() < ends:
        time.sleep(0.02)
    assert [pid for pid in found if lives(pid)] == []


def test_marked_processes_are_found(folder: ProjectFolder) -> None:
    process = subprocess.Popen(["sleep", "30"], env={"MEMLAYER_AGENT_RUN": "표시-1"})
    try:
        ends = time.monotonic() + 5
        while marked_processes("표시-1") != [process.pid]:
            assert time.monotonic() < ends
            time.sleep(0.02)
        assert marked_processes("표시") == []
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("arguments", [{"command": 5}, {"command": None}, {"command": ["ls"]}, {"command": "  "}])
def test_wrong_argument_is_a_result(folder: ProjectFolder, arguments: dict[str, object]) -> None:
    (result,) = Toolbox([Shell(folder, yes)]).run([ToolCall("1", "shell", arguments)])
    assert result.is_error and "expected" in result.text


def test_one_run_is_stopped_without_the_others(folder: ProjectFolder) -> None:
    shell = Shell(folder, yes)
    first, second = {"command": "touch 하나; sleep 60"}, {"command": "touch 둘; sleep 1; echo 끝까지"}
    outputs: list[str] = []

    def ended() -> None:
        with pytest.raises(ToolError, match="signal"):
            shell.run(first)

    runs = [threading.Thread(target=lambda: outputs.append(shell.run(second))), threading.Thread(target=ended)]
    for run in runs:
        run.start()
    ends = time.monotonic() + 10
    while not ((folder.root / "하나").exists() and (folder.root / "둘").exists()):
        assert time.monotonic() < ends
        time.sleep(0.02)
    shell.stop(first)
    for run in runs:
        run.join(20)
    assert outputs == ["끝까지"]
