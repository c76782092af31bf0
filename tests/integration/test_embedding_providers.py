"""A daemon that asks a scripted server for vectors.

Recall goes on whatever the server does, and nothing is sent that the person did not choose.
"""

import functools
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.adapters.embedding.fastembed_embedder import load
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL
from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths
from memlayer.keep.indexer import CHARS_AT_ONCE
from memlayer.ports import Vector
from tests.support.cli_process import Cli
from tests.support.embedding_api import GEMINI, OPENAI, EmbeddingApi, texts_of
from tests.support.model_api import Said
from tests.support.processes import Daemon, HookRunner, end_daemons
from tests.support.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-proj-a8Kx2mQ7zR4vN9cW1tY6"
TURNS = [
    ("결제 모듈은 뭘로 만들지?", "결제 모듈은 NestJS로 만들기로 결정했습니다. 포트는 5433입니다."),
    ("Where do the order events live now?", "We moved the order events from Postgres to ClickHouse, cluster ch-2."),
    ("과제는 언제까지지?", "과제 마감은 금요일 18시입니다."),
]
BY_WORDS = [("결제모듈 포트가 몇 번이었지?", "5433"), ("which cluster holds the order events?", "ch-2")]
PRIVATE = "<private>\n우리 집 비밀번호 현관 4821\n</private>"


@pytest.fixture
def api() -> Iterator[EmbeddingApi]:
    with EmbeddingApi() as served:
        yield served


@pytest.fixture(scope="module")
def shipped_vector(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Vector]:
    """The vector that the shipped model gives a text: those of words alone would not find the same."""
    embedder = load(SHIPPED_MODEL, tmp_path_factory.mktemp("cache"))
    return functools.cache(embedder.embed_query)


@pytest.fixture
def hook(home: Path, project: Path) -> HookRunner:
    return HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))


@pytest.fixture
def running(home: Path) -> Iterator[Callable[..., Daemon]]:
    """Start a daemon with settings of `embedding`; it is stopped at the end."""
    daemons: list[Daemon] = []

    def start(**settings: Any) -> Daemon:
        daemons.append(Daemon(ROOT, home, {"embedding": settings}))
        return daemons[-1].start()

    yield start
    for one in daemons:
        one.stop()


def tell(hook: HookRunner, daemon: Daemon) -> None:
    for number, turn in enumerate(TURNS):
        hook.turn("told", "p%d" % number, *turn)
    hook("session_end", "told", reason="other")
    daemon.settle()


def mode(daemon: Daemon) -> str:
    return str(daemon.call("status")["mode"])


def assert_recalled(hook: HookRunner, session: str) -> None:
    for prompt, expected in BY_WORDS:
        done = hook("user_prompt_submit", "%s %s" % (session, prompt), "q1", prompt=prompt)
        assert (done.returncode, done.stderr) == (0, b"")
        assert expected in done.context, prompt


def assert_found(hook: HookRunner, daemon: Daemon) -> None:
    """The same without a deadline: while it loads a package, a busy machine may miss that of a hook."""
    for prompt, expected in BY_WORDS:
        found = daemon.call("recall", prompt=prompt, project_dir=str(hook.project))
        assert expected in found["block"], prompt


def all_embedded(daemon: Daemon) -> bool:
    stats = daemon.call("stats")
    return bool(stats["chunks"] == stats["embedded"] >= len(TURNS))  # summaries are searched, too


def assert_no_trace(home: Path) -> None:
    """Neither a key nor a text is in a log."""
    for log in (home / "logs").glob("*"):
        text = log.read_text("utf-8", "replace")
        assert not any(told in text for told in (KEY, "ClickHouse", "NestJS", "몇 번이었지", "Traceback")), log


@pytest.mark.parametrize("provider", [OPENAI, pytest.param(GEMINI, marks=pytest.mark.fault)])
@pytest.mark.timeout(300)
def test_switch_there_and_back(
    running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner, home: Path, provider: str,
    shipped_vector: Callable[[str], Vector],
) -> None:  # fmt: skip
    """Takes long: four daemons, and a calibration of the server's vectors."""
    length = 768 if provider == GEMINI else 384  # asked for, or the model's own
    api.vectors_of = lambda texts: [[*shipped_vector(text), *[0.0] * (length - 384)] for text in texts]
    daemon = running()
    tell(hook, daemon)
    daemon.wait_for(lambda: all_embedded(daemon), "local vectors", timeout_s=60.0)
    local = daemon.call("stats")["daemon"]["model"]["fingerprint"]
    assert daemon.stop() == 0

    daemon = running(**api.settings(provider))
    assert_found(hook, daemon)  # while it is measured
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "remote model", timeout_s=60.0)
    daemon.wait_for(lambda: all_embedded(daemon), "remote vectors", timeout_s=60.0)
    assert_found(hook, daemon)
    stats = daemon.call("stats")
    assert stats["daemon"]["model"]["fingerprint"].startswith("%s:tiny:%d:127.0.0.1:" % (provider, length))
    assert stats["daemon"]["model"]["place"].startswith(provider + " tiny at 127.0.0.1:")
    assert "measured on this machine" in stats["daemon"]["model"]["calibrated"]
    assert stats["embedding_use"]["all"]["tokens"] > 1000
    assert any("ClickHouse" in text for text in api.texts)
    assert daemon.stop() == 0

    daemon = running()
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "local model", timeout_s=60.0)
    daemon.wait_for(lambda: all_embedded(daemon), "local vectors again", timeout_s=60.0)
    assert_found(hook, daemon)
    assert daemon.call("stats")["daemon"]["model"]["fingerprint"] == local
    assert daemon.stop() == 0
    api.asked.clear()

    daemon = running(**api.settings(provider))
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "remote model", timeout_s=60.0)
    daemon.wait_for(lambda: all_embedded(daemon), "remote vectors from the cache", timeout_s=60.0)
    assert set(api.texts) == {"."}  # nothing is sent a second time
    assert_no_trace(home)


@pytest.mark.fault
@pytest.mark.timeout(120)
def test_recall_goes_on_while_the_server_does_not(
    running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner, home: Path
) -> None:
    """Takes long: the daemon starts anew after each failure."""
    daemon = running(**api.settings())
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "model", timeout_s=60.0)
    tell(hook, daemon)
    cli = Cli(home, hook.project)
    assert "search by full text and meaning; stored texts and prompts are sent there" in check(cli)[1]
    broken = (
        (Said({"error": {"message": "ClickHouse " + KEY}}, 401), "openai: HTTP 401 (the key is refused"),
        (Said({}, 429, headers={"retry-after": "1"}), "openai: HTTP 429"),
        (Said(b"<html>"), "openai: "),
    )
    for number, (said, told) in enumerate(broken):
        api.before = lambda asked, said=said: said  # type: ignore[misc]
        assert_recalled(hook, "broken %d" % number)
        found = daemon.call("search", query="which database holds the orders?")
        assert found["mode"] == "lexical" and told in found["why"]
        assert "Full-text search only: openai: " in cli("stats").stdout
        state, says = check(cli)
        assert state == "warn" and says.startswith("search by full text only: openai: ")
        api.before = lambda asked: None
        daemon.stop()
        daemon.start()
        daemon.wait_for(lambda: mode(daemon) == "hybrid", "model", timeout_s=60.0)
    assert_no_trace(home)


@pytest.mark.fault
@pytest.mark.timeout(120)
def test_slow_server_is_left_out_of_prompts(
    running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner
) -> None:
    """Takes long: a server's slowness is measured and waited for."""
    daemon = running(**api.settings())
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "model", timeout_s=60.0)
    tell(hook, daemon)
    api.delay_s = 2.0
    assert_recalled(hook, "slow")
    assert "did not answer within 0.27 s" in daemon.call("status")["why"]
    began = time.monotonic()
    for number in range(5):
        daemon.call("recall", prompt=BY_WORDS[0][0] + " %d" % number, project_dir=str(hook.project))
    assert time.monotonic() - began < 1.5
    daemon.wait_for(lambda: "takes 2." in daemon.call("status")["why"], "probe")
    hook.turn("late", "p1", "로그는 어디에 두지?", "로그는 Loki에 둡니다. 보관은 30일입니다.")
    began = time.monotonic()
    assert "Loki" in daemon.call("recall", prompt="로그는 어디에 두지?", project_dir=str(hook.project))["block"]
    assert time.monotonic() - began < 1.5  # found by its words, without its vector
    stats = daemon.call("stats")
    assert stats["embedded"] < stats["chunks"]
    api.delay_s = 0.0
    daemon.wait_for(lambda: (now := daemon.call("stats"))["embedded"] == now["chunks"], "its vector", timeout_s=60.0)


@pytest.mark.fault
@pytest.mark.timeout(120)
def test_server_that_is_gone_at_the_start_is_waited_for(
    running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner
) -> None:
    api.before = lambda asked: Said({}, 503)
    daemon = running(**api.settings())
    tell(hook, daemon)
    assert_recalled(hook, "words")
    status = daemon.call("status")
    assert (status["mode"], status["why"]) == ("lexical", "openai: HTTP 503")
    assert daemon.call("stats")["embedded"] == 0


@pytest.mark.timeout(120)
def test_typed_queries_are_redacted_before_they_are_sent(
    running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner
) -> None:
    daemon = running(**api.settings())
    daemon.wait_for(lambda: mode(daemon) == "hybrid", "model", timeout_s=60.0)
    tell(hook, daemon)
    api.asked.clear()
    told = "where do the order events live?\n%s\n결제 모듈 포트?" % PRIVATE
    long = told + "\n" + "설명이 길다. " * 200
    for text in (told, long):
        daemon.call("recall", prompt=text, project_dir=str(hook.project))
        daemon.call("search", query=text)
        daemon.call("mem.search", query=text, project_dir=str(hook.project))
        hook("user_prompt_submit", "s9", "p" + str(len(text)), prompt=text)
    assert len(api.texts) >= 8
    assert not any("4821" in text or "현관" in text for text in api.texts)


@pytest.mark.timeout(120)
def test_spent_tokens_leave_the_words(running: Callable[..., Daemon], api: EmbeddingApi, hook: HookRunner) -> None:
    daemon = running(**api.settings(daily_tokens=10))
    tell(hook, daemon)
    assert_recalled(hook, "words")
    assert "today's embedding.daily_tokens are used up" in daemon.call("status")["why"]
    assert len(api.texts) <= 1 and all(text == "." for text in api.texts)


def test_keys_that_lie_about_are_no_consent(hook: HookRunner, home: Path, api: EmbeddingApi) -> None:
    """Both keys, and variables and a project file that name a provider: a hook starts the daemon with all of them."""
    (hook.project / ".memlayer.yaml").write_text(json.dumps({"embedding": api.settings()}))
    chosen = {"MEMLAYER_EMBEDDING__" + name.upper(): str(value) for name, value in api.settings().items() if value}
    hook.environment |= {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "OPENAI_BASE_URL": api.url + "/v1", **chosen}
    (home / "config.yaml").parent.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text("{}")
    hook("session_start", "s1", source="startup")
    daemon = Daemon(ROOT, home)
    wait_for(lambda: (daemon.client.status() or {}).get("model", {}).get("fingerprint"), within_s=40, every_s=0.1)
    try:
        hook.turn("s1", "p1", *TURNS[1])
        daemon.settle()
        status = daemon.call("status")
        assert status["model"]["provider"] == "fastembed" and status["model"]["place"] == ""
        assert status["model"]["fingerprint"].startswith(SHIPPED_MODEL)
        environ = Path("/proc/%d/environ" % status["pid"])
        assert not environ.exists() or KEY.encode() not in environ.read_bytes()
        assert api.asked == [] and runtime.daemon_variables(str(home)) == ()
        assert not Path(paths.embedding_use(str(home))).exists()
    finally:
        end_daemons(home)


def check(cli: Cli) -> tuple[str, str]:
    """Return (state, message) of doctor's check of the model."""
    done = json.loads(cli("doctor", "--json").stdout)
    return next((one["state"], one["says"]) for one in done["checks"] if one["name"] == "model")


def test_a_long_paste_gets_its_vectors_in_pieces(
    api: EmbeddingApi, home: Path, hook: HookRunner, running: Callable[..., Daemon]
) -> None:
    daemon = running(**api.settings())
    lines = ["%d번: 모듈 %s owns queue %s" % (n, chr(0xAC00 + n), chr(0xAC00 + n * 7)) for n in range(900)]
    hook.turn("s1", "p1", "정리해줘:\n" + "\n".join(lines), "네.")
    assert daemon.settle()["unembedded"] == 0
    sizes = [sum(map(len, texts_of(asked))) for asked in api.asked]
    assert len(sizes) > 2 and max(sizes) < 2 * CHARS_AT_ONCE
    [hit, *_] = daemon.call("search", query="모듈 %s" % chr(0xAC00 + 850))["hits"]
    assert hit["session_id"] == "s1"
