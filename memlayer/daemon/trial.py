"""Trial of a runtime, run by path with its interpreter.

It loads all that daemon and command line load. It ends with 0, or with 1 and a traceback on stderr.
"""

import importlib
import sys

PACKAGES = ("click", "rich.console", "rich.progress", "yaml")

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/memlayer/")[0])
    from memlayer.adapters.embedding import lazy_import

    lazy_import.import_lancedb()
    lazy_import.import_fastembed()
    for name in (*PACKAGES, "memlayer.adapters.lance.store", "memlayer.adapters.embedding.fastembed_embedder"):
        importlib.import_module(name)
