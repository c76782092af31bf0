"""Another embedding model, none, or a missing model.

Everything is embedded anew, or found by its words.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL, models_root
from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.home import paths
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

TABLES = tables("integration/model_change")

ROOT = Path(__file__).resolve().parent.parent.parent
NONE: dict[str, Any] = {"embedding": {"provider": "none"}}
TURNS = TABLES["turns"]
BY_WORDS = TABLES["by_words"]


@pytest.fixture
def hook(home: Path, project: Path) -> HookRunner:
    return HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))


@pytest.fixture
def another_model(tmp_path: Path) -> Path:
    """The shipped model under another name and with another centring.

    The vectors of the two must not be mixed.
    """
    shipped, folder = models_root() / SHIPPED_MODEL, tmp_path / "모델" / "my-e5"
    folder.mkdir(parents=True)
    for file in shipped.iterdir():
        if file.name not in ("SHA256SUMS", "calibration.json", "memlayer.json"):
            (folder / file.name).symlink_to(file)
    for name, changed in (("memlayer.json", {"name": "my-e5"}), ("calibration.json", {"axis": []})):
        recipe = json.loads((shipped / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps({**recipe, **changed}), encoding="utf-8")
    return folder


def tell(hook: HookRunner, daemon: Daemon) -> None:
    for number, turn in enumerate(TURNS):
        hook.turn("told", "p%d" % number, *turn)
    hook("session_end", "told", reason="other")
    daemon.settle()
    assert daemon.call("stats")["by_category"]["conversation"] == len(TURNS)


def assert_recalled(hook: HookRunner, daemon: Daemon, session: str) -> None:
    daemon.call("stats")  # the store is open: a prompt would not wait long for it
    for prompt, expected in BY_WORDS:
        done = hook("user_prompt_submit", "%s %s" % (session, prompt), "q1", prompt=prompt)
        assert (done.returncode, done.stderr) == (0, b"")
        assert expected in done.context, prompt


def nearness(daemon: Daemon) -> float:
    """Return the vector similarity of the best hit.

    0 while nothing has a vector of the present model.
    """
    [hit, *_] = daemon.call("search", query="which database did we choose for the orders?")["hits"]
    assert "ClickHouse" in hit["snippet"]
    return float(hit["parts"]["vector"] or 0)


def lacking(home: Path, fingerprint: str) -> int:
    """Count stored chunks without a vector of this model.

    The daemon of the store is gone.
    """
    store = LanceStore.open(Path(paths.store(str(home))), 0)
    try:
        return store.count_unembedded(fingerprint)
    finally:
        store.close()


def test_switch_between_embedding_models(hook: HookRunner, home: Path, another_model: Path) -> None:
    with Daemon(ROOT, home, NONE) as daemon:
        tell(hook, daemon)
        assert daemon.call("stats")["embedded"] == 0
    fingerprint = {}
    for name, settings in ((SHIPPED_MODEL, {}), ("my-e5", {"embedding": {"model": str(another_model)}})):
        with Daemon(ROOT, home, settings) as daemon:
            daemon.wait_for(lambda: nearness(daemon) > 0, "vectors")
            stats = daemon.call("stats")
            assert stats["embedded"] == stats["chunks"] > len(TURNS)  # the summary is searched, too
            assert daemon.settle()["embedded"] == 0  # it had embedded everything by itself
            fingerprint[name] = stats["daemon"]["model"]["fingerprint"]
            assert fingerprint[name].startswith(name + "/")
            for prompt, expected in BY_WORDS:
                assert expected in daemon.call("recall", prompt=prompt, project_dir=str(hook.project))["block"], prompt
        assert {one: lacking(home, made) for one, made in fingerprint.items()} == {
            one: 0 if one == name else stats["chunks"] for one in fingerprint
        }


def test_back_to_words(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home, {}) as daemon:
        tell(hook, daemon)
    with Daemon(ROOT, home, NONE) as daemon:
        assert_recalled(hook, daemon, "words")
        for hit in daemon.call("search", query="order events")["hits"]:
            assert hit["parts"]["vector"] is None


def test_lexical_search_without_model(hook: HookRunner, home: Path) -> None:
    cli = Cli(home, hook.project)
    with Daemon(ROOT, home, NONE) as daemon:
        tell(hook, daemon)
        assert_recalled(hook, daemon, "words")
        assert hook("user_prompt_submit", "silent", "q1", prompt="what is the capital of France?").stdout == b""
        assert "Full-text search only: embedding.provider is none" in cli("stats").stdout
        found = json.loads(cli("search", "ClickHouse", "--json").stdout)
        assert (found["mode"], found["why"]) == ("lexical", "embedding.provider is none")
        assert check(cli, "model") == ("ok", "none, as set: search by full text only")


def test_incomplete_model_falls_back_to_words(hook: HookRunner, home: Path, another_model: Path) -> None:
    (another_model / "tokenizer.json").unlink()
    cli = Cli(home, hook.project)
    with Daemon(ROOT, home, {"embedding": {"model": str(another_model)}}) as daemon:
        tell(hook, daemon)
        assert_recalled(hook, daemon, "words")
        status = daemon.call("status")
        assert status["mode"] == "lexical" and str(another_model) in status["why"]
        assert "Full-text search only: " in cli("stats").stdout
        state, says = check(cli, "model")
        assert state == "warn" and says.startswith("search by full text only: ") and "my-e5" in says


def test_missing_model_falls_back_to_words(hook: HookRunner, home: Path, tmp_path: Path) -> None:
    with Daemon(ROOT, home, {"embedding": {"model": str(tmp_path / "없는 모델")}}) as daemon:
        tell(hook, daemon)
        assert_recalled(hook, daemon, "words")
        assert "없는 모델 does not exist" in daemon.call("status")["why"]


def check(cli: Cli, name: str) -> tuple[str, str]:
    """Return (state, message) of one of doctor's checks."""
    done = json.loads(cli("doctor", "--json").stdout)
    return next((one["state"], one["says"]) for one in done["checks"] if one["name"] == name)
