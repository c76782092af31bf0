"""Serve the shipped model's raw vectors over both providers' interfaces.

`python evals/embedding_server.py BASE [--provider openai|gemini] [--delay 0.05]` writes BASE/home/config.yaml, which
names the server, and serves until it is stopped: an evaluation in that home then gets vectors that come over a socket.
Gemini's interface tells queries from passages; OpenAI's does not: all texts get the model's prefix for passages.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL, models_root, read_recipe
from memlayer.ports import Vector
from models.calibration.make_calibration import RawModel
from tests.support.embedding_api import EmbeddingApi, embeddings_answer, texts_of
from tests.support.model_api import Asked, Said


@click.command(help=__doc__)
@click.argument("base", type=click.Path(path_type=Path))
@click.option("--provider", type=click.Choice(["openai", "gemini"]), default="openai")
@click.option("--delay", default=0.0, help="Seconds before each answer.")
def main(base: Path, provider: str, delay: float) -> None:
    """Serve, and name the server in the home's settings."""
    with tempfile.TemporaryDirectory() as cache_dir:
        model = RawModel(read_recipe(models_root() / SHIPPED_MODEL), cache_dir)
        turns = threading.Lock()

        def vectors(texts: Sequence[str], *, is_query: bool) -> list[Vector]:
            with turns:
                made = model.queries(texts) if is_query else model.passages(texts)
            return [tuple(row) for row in made.tolist()]

        def answer(asked: Asked) -> Said:
            is_query = any(one.get("taskType") == "RETRIEVAL_QUERY" for one in asked.body.get("requests", ()))
            return embeddings_answer(asked, vectors(texts_of(asked), is_query=is_query))

        with EmbeddingApi(before=answer, delay_s=delay) as api:
            home = base / "home"
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            settings = {"embedding": api.settings(provider, dimensions=384)}
            (home / "config.yaml").write_text(json.dumps(settings))
            click.echo(f"{api.url}: {settings}")
            threading.Event().wait()


if __name__ == "__main__":
    main()
