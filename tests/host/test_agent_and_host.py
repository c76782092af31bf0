"""A fact told to the agent is recalled in the real host, and the other way round."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.host.test_memory import CITATION, KOREAN_FACT, KOREAN_QUESTION
from tests.support.chat_api import ChatScript, Spoken
from tests.support.host.claude_run import Claude
from tests.support.model_api import ModelApi

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]


@pytest.fixture
def model() -> Iterator[ModelApi]:
    """The agent's model; it answers `네, 알겠습니다.`"""
    with ModelApi(ChatScript([Spoken("네, 알겠습니다.")])) as served:
        yield served


def agent(claude: Claude, model: ModelApi, prompt: str) -> str:
    """Ask the agent once; return the last user's message that its model was sent."""
    server = ["--provider", "openai", "--model", "m", "--base-url", model.url + "/v1"]
    done = subprocess.run(
        [claude.plugin / "bin" / "memlayer", "agent", *server, prompt], cwd=claude.project, env=claude.environ,
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "네, 알겠습니다.\n"), done.stderr
    return str([one for one in model.asked[-1].body["messages"] if one["role"] == "user"][-1]["content"])


def test_fact_of_agent_reaches_the_host(claude: Claude, model: ModelApi) -> None:
    assert agent(claude, model, KOREAN_FACT).endswith(KOREAN_FACT)
    claude.settle()
    injected = claude(KOREAN_QUESTION).turn.injected("UserPromptSubmit")
    assert "포트원" in injected and CITATION.search(injected)
    assert claude.hook_failures() == []


def test_fact_of_host_reaches_the_agent(claude: Claude, model: ModelApi) -> None:
    claude(KOREAN_FACT)
    claude.settle()
    sent = agent(claude, model, KOREAN_QUESTION)
    assert sent.startswith("[Memory context]") and "포트원" in sent and CITATION.search(sent)
    claude.settle()
    assert claude.hook_failures() == []
