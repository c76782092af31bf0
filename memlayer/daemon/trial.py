"""Trial of a runtime, run by path with its interpreter.

It imports, opens a store and embeds a sentence. With --load it only loads. It ends with 0, or with 1 and a traceback on
stderr.
"""

from __future__ import annotations

import importlib
import sys
import tempfile

PACKAGES = ("click", "rich.console", "rich.progress", "yaml", "pydantic_settings")


def load() -> None:
    """Import the third-party packages as daemon and CLI do. Raises ImportError."""
    for name in PACKAGES:
        importlib.import_module(name)
    from memlayer.adapters.embedding import lazy_import

    lazy_import.import_lancedb()
    lazy_import.import_fastembed()
    importlib.import_module("memlayer.adapters.lance.store")
    importlib.import_module("memlayer.adapters.embedding.fastembed_embedder")


def use(home: str) -> None:
    """Open a store, embed with the shipped model. Raises StoreError."""
    from memlayer import compose
    from memlayer.config import Settings
    from memlayer.errors import EmbedderError
    from memlayer.records.sessions import Sessions

    settings = Settings()
    sessions = Sessions(home)
    services = compose.open_services(
        home, settings, projects=compose.open_projects(home), sessions=sessions, embedder=lambda: None
    )
    try:
        services.store.upkeep(force=True)
        make = compose.embedder_maker(home, settings)
        if make is not None:
            make().embed_query("어디에 배포하지? where do we deploy?")
    except EmbedderError as bad:  # a model that is missing is doctor's matter: words are searched without it
        print("no model: %s" % bad)
    finally:
        services.close()


def main() -> None:
    """Run the trial in a temporary home."""
    load()
    if "--load" not in sys.argv:
        with tempfile.TemporaryDirectory(prefix="memlayer-trial-") as home:
            use(home)


if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/memlayer/")[0])
    main()
