"""Typing to the agent at a pseudo terminal: pastes, several lines, history, leaving; each prompt is a paid request."""

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.integration.test_agent_talk import said_to
from tests.support.agent_process import Terminal, calling
from tests.support.chat_api import ChatScript, Spoken
from tests.support.model_api import ModelApi
from tests.support.processes import Daemon

Open = Callable[..., Terminal]
ROOT = Path(__file__).resolve().parents[2]
PASTED = "다음 오류를 봐줘:\nTraceback (most recent call last):\n\tKeyError: 'currency'\n\n이게 왜 나지? why?"


def pasted(text: str, line_end: str = "\r") -> str:
    """A text as a terminal with bracketed paste sends it."""
    return "\x1b[200~%s\x1b[201~" % text.replace("\n", line_end)


def prompts_of(api: ModelApi) -> list[str]:
    """The prompts of a talk."""
    return [one["content"] for one in api.asked[-1].body["messages"] if one["role"] == "user"]


@pytest.mark.parametrize("line_end", ["\r", "\n", "\r\n"])
def test_paste_is_one_prompt(api: ModelApi, served: Daemon, terminal: Open, line_end: str) -> None:
    talk = terminal("--no-memory")
    talk.type(pasted(PASTED, line_end))
    talk.see("이게 왜 나지? why?")
    assert api.asked == []  # nothing is sent before Enter
    talk.type("\r")
    talk.see("네.")
    talk.ready()
    assert prompts_of(api) == [PASTED] and len(api.asked) == 1


def test_paste_without_brackets_is_one_prompt(api: ModelApi, served: Daemon, terminal: Open) -> None:
    talk = terminal("--no-memory")
    long = "\n".join("줄 %d: 주문 이벤트를 옮긴다" % number for number in range(80))  # several reads of the terminal
    talk.type(long.replace("\n", "\r") + "\r")
    talk.see("네.")
    talk.ready()
    assert prompts_of(api) == [long] and len(api.asked) == 1


def test_paste_during_an_answer_is_one_prompt(api: ModelApi, served: Daemon, terminal: Open, project: Path) -> None:
    """The terminal's own lines, which end before the editor reads again."""
    waits = calling("shell", command="touch 시작; until [ -e 끝 ]; do sleep 0.05; done")
    api.script = ChatScript([waits, Spoken("첫 대답."), Spoken("둘째 대답.")])
    talk = terminal("--no-memory", "--yes")
    talk.type("기다려줘\r")
    talk.until(lambda: (project / "시작").exists(), "command")
    talk.type("첫 줄\r둘째 줄\r")
    (project / "끝").touch()
    talk.see("첫 대답.")
    talk.ready()
    talk.see("  둘째 줄")
    talk.type("\r")
    talk.see("둘째 대답.")
    assert prompts_of(api)[-1] == "첫 줄\n둘째 줄" and len(api.asked) == 3


@pytest.mark.parametrize("key", ["\x1b\r", "\n", "\\\r"])
def test_key_for_a_new_line(api: ModelApi, served: Daemon, terminal: Open, key: str) -> None:
    talk = terminal("--no-memory")
    for part in ("첫 줄", key, "둘째 줄", key, "셋째", "\r"):
        talk.strike(part)
    talk.see("네.")
    assert prompts_of(api) == ["첫 줄\n둘째 줄\n셋째"] and len(api.asked) == 1


def test_pasted_text_is_no_command(api: ModelApi, served: Daemon, terminal: Open) -> None:
    talk = terminal("--no-memory")
    talk.type(pasted("/quit\n이 명령은 무슨 뜻이야?"))
    talk.see("무슨 뜻이야?")
    talk.type("\r")
    talk.see("네.")
    assert prompts_of(api) == ["/quit\n이 명령은 무슨 뜻이야?"]


def test_history_and_leaving(api: ModelApi, served: Daemon, terminal: Open) -> None:
    talk = terminal("--no-memory")
    talk.type(pasted("한국어 첫 줄\n둘째 줄"))
    talk.see("  둘째 줄")
    talk.type("\r")
    talk.see("네.")
    talk.ready()
    for part in ("버릴 줄", "\x03", "\x1b[A", " 다시", "\r"):  # Ctrl-C takes back what was typed, and stays
        talk.strike(part)
    talk.see("네.", 2)
    talk.ready()
    assert prompts_of(api) == ["한국어 첫 줄\n둘째 줄", "한국어 첫 줄\n둘째 줄 다시"]
    talk.type("\x03")
    talk.see("leaves")
    talk.ready()
    talk.type("\x03")
    assert talk.end() == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_ended_editor_restores_the_terminal(served: Daemon, terminal: Open, sign: signal.Signals) -> None:
    talk = terminal("--no-memory")
    talk.type("쓰다 만")
    talk.see("쓰다 만")
    assert not talk.modes() & termios.ICANON
    os.kill(talk.process.pid, sign)
    assert talk.end() == 128 + sign
    assert talk.modes() & termios.ICANON and talk.modes() & termios.ECHO
    assert "Traceback" not in talk.text


def test_typed_text_answers_no_later_question(api: ModelApi, served: Daemon, terminal: Open, project: Path) -> None:
    """A yes that was typed, or pasted, before its question allows nothing."""
    waits = calling("shell", command="touch 시작; until [ -e 끝 ]; do sleep 0.05; done")
    api.script = ChatScript([waits, calling("shell", command="touch 위험"), Spoken("그만둡니다.")])
    talk = terminal("--no-memory")
    talk.type("기다려줘\r")
    talk.ready("a no:")
    talk.type("y\r")
    talk.until(lambda: (project / "시작").exists(), "command")
    talk.type("y\ry\r")
    (project / "끝").touch()
    talk.ready("a no:")
    talk.type("\r")
    talk.see("그만둡니다.")
    assert not (project / "위험").exists()


@pytest.mark.parametrize("stdout", ["terminal", "file"])
def test_plain_lines_where_no_editor_can_be(
    api: ModelApi, served: Daemon, terminal: Open, tmp_path: Path, stdout: str
) -> None:
    """A terminal that can only write lines, and an output that is a file."""
    if stdout == "file":
        with (tmp_path / "나온것").open("w") as file:
            talk = terminal("--no-memory", stdout=file, is_ready=False)
            talk.type("안녕하세요, 누구세요?\n/quit\n")
            assert talk.end() == 0
        assert "네.\n" in (tmp_path / "나온것").read_text()
    else:
        talk = terminal("--no-memory", TERM="dumb", is_ready=False)
        talk.see("›")
        talk.type("안녕하세요, 누구세요?\r")
        talk.see("네.")
    assert said_to(api).endswith("안녕하세요, 누구세요?")


@pytest.mark.parametrize(
    "arguments", [["search", "포트"], ["agent", "안녕하세요"], ["list", "--json"], ["daemon", "status"]]
)
def test_only_a_talk_loads_the_editor(
    api: ModelApi, served: Daemon, home: Path, project: Path, arguments: Sequence[str]
) -> None:
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"sys.argv = ['memlayer', *{arguments!r}]\n"
        "from memlayer.cli.app import cli\n"
        "cli(standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "MEMLAYER_HOME": str(home), "OPENAI_API_KEY": "k"}
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, env=environment, cwd=project
    )
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "click" in loaded and not loaded & {"prompt_toolkit", "wcwidth", "pygments", "markdown_it"}
