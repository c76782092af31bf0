"""Where the embedder appears once it is loaded: recall is lexical until then, and says why."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memlayer.errors import EmbedderError
from memlayer.ports import Embedder


class EmbedderSlot:
    """Call it for the embedder, or None while there is none; `why` says why there is none. Thread-safe."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self.why = "the embedding model is still loading"
        self.settled = threading.Event()  # loaded, or known not to load

    def __call__(self) -> Embedder | None:
        return self._embedder

    def load(self, make: Callable[[], Embedder] | None, fit: Callable[[int], object]) -> None:
        """Load with `make`; None means that the user wants none. An EmbedderError becomes `why`.

        fit: makes room in the store for vectors of that length; nobody sees the embedder before it has returned.
        """
        try:
            if make is None:
                self.why = "embedding.provider is none"
            else:
                embedder = make()
                fit(embedder.dimensions)
                self._embedder = embedder
                self.why = ""
        except EmbedderError as bad:
            self.why = str(bad)
        except BaseException:
            self.why = "the embedding model could not be loaded; see logs/daemon.log"
            raise
        finally:
            self.settled.set()
