"""The daemon's embedder, lean: same vectors, without the hub's client."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from memlayer.adapters.embedding.fastembed_embedder import load
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL
from memlayer.adapters.search.project_rows import GOES_FIRST_S

ROOT = Path(__file__).resolve().parents[2]
TEXT = "결제 모듈은 NestJS로 만들기로 했습니다: see checkout.py"
COMPOSED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from memlayer.compose import embedder_maker
from memlayer.config import Settings
from memlayer.errors import EmbedderError

settings = Settings.model_validate({"embedding": {"model": sys.argv[3]}})
try:
    vector = embedder_maker(sys.argv[2], settings)().embed_query(sys.argv[4])
except EmbedderError as bad:
    vector = str(bad)
hub = sys.modules.get("huggingface_hub")
print(json.dumps({"vector": vector, "is_hub_whole": hasattr(hub, "__file__")}))
"""


def composed(tmp_path: Path, model: str) -> dict[str, object]:
    """Load the setting embedding.model in a fresh process, without a network."""
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", COMPOSED, str(ROOT), str(tmp_path), model, TEXT],
        capture_output=True, text=True, timeout=50, check=False, env={"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_shipped_model_needs_no_hub(tmp_path: Path) -> None:
    lean = composed(tmp_path, SHIPPED_MODEL)
    assert lean["is_hub_whole"] is False
    assert lean["vector"] == list(load(SHIPPED_MODEL, tmp_path).embed_query(TEXT))


def test_catalogue_model_has_hub_client(tmp_path: Path) -> None:
    tried = composed(tmp_path, "BAAI/bge-small-en-v1.5")
    assert tried["is_hub_whole"] is True
    assert "HF_HUB_OFFLINE" in str(tried["vector"])


def test_queries_go_before_passages(tmp_path: Path) -> None:
    embedder = load(SHIPPED_MODEL, tmp_path)
    embedder.embed_query(TEXT)
    started = time.monotonic()
    embedder.embed_passages([TEXT])
    assert time.monotonic() - started >= GOES_FIRST_S / 2  # the query itself took the rest

    asking = threading.Event()

    def ask() -> None:
        while not asking.is_set():
            embedder.embed_query("결제 모듈은?")

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        assert len(embedder.embed_passages([TEXT, "second", "셋째"])) == 3
    finally:
        asking.set()
        asker.join()
