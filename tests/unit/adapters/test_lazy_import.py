"""Lean import of LanceDB, with the whole import as fallback."""

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PREAMBLE = """
import sys
sys.path[:0] = {folders!r}
before = list(sys.meta_path)
from memlayer.adapters.embedding.lazy_import import UNUSED, import_lancedb
"""


def run(code: str, *folders: Path) -> str:
    """Run code in a fresh interpreter; return output. `folders`: on its path."""
    preamble = PREAMBLE.format(folders=[str(folder) for folder in (*folders, ROOT)])
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-c", preamble + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def package(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(code + "\n")


def test_a_store_works_without_the_rest_client(tmp_path: Path) -> None:
    out = run(
        f"""
        import_lancedb()
        import lancedb
        table = lancedb.connect({str(tmp_path)!r}).create_table("t", [{{"id": "가", "vector": [0.0, 1.0]}}])
        print(table.search([0.0, 1.0]).limit(1).to_list()[0]["id"], table.count_rows("id = '가'"))
        """
    )
    assert out == "가 1\n"


def test_the_process_stays_whole() -> None:
    run(
        """
        import_lancedb()
        import copy, importlib, inspect, lancedb, pickle
        assert sys.meta_path == before
        parts = [name for name in sys.modules if name.partition(".")[0] in UNUSED]
        assert parts and len(parts) < 20, parts
        for name in parts:
            assert sys.modules[name].__spec__.name == name and not hasattr(sys.modules[name], "__file__")
        # Code that walks over all modules goes on to work.
        assert inspect.getmodule(lancedb.connect).__name__.startswith("lancedb")
        assert pickle.loads(pickle.dumps(copy.deepcopy({"a": [1]}))) == {"a": [1]}
        # Nobody else's import is answered by a stand-in any more.
        for name in (UNUSED[0] + ".something_else", "no_such_package"):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError:
                continue
            raise AssertionError(name)
        """
    )


def test_imported_already_it_is_left_alone(tmp_path: Path) -> None:
    package(tmp_path, "lancedb", "import lance_namespace")
    package(tmp_path, "lance_namespace", "REAL = True")
    run(
        """
        import lancedb
        known = dict(sys.modules)
        import_lancedb()
        assert sys.modules["lancedb"] is lancedb and lancedb.lance_namespace.REAL is True
        assert sys.meta_path == before and dict(sys.modules) == known
        """,
        tmp_path,
    )


def test_a_later_version_that_needs_the_client_is_imported_whole(tmp_path: Path) -> None:
    package(tmp_path, "lance_namespace", "class Model:\n    def __init__(self, name): self.name = name")
    package(tmp_path, "lancedb", "import lancedb.part\nfrom lance_namespace import Model\nMADE = Model('at import')")
    package(tmp_path, "lancedb/part", "")
    out = run(
        """
        import_lancedb()
        assert not [name for name in sys.modules if name.partition(".")[0] in (*UNUSED, "lancedb")]
        assert sys.meta_path == before
        import lancedb
        print(lancedb.MADE.name)
        """,
        tmp_path,
    )
    assert out == "at import\n"


def test_one_that_broke_off_half_way_is_imported_whole(tmp_path: Path) -> None:
    """A second initialization of LanceDB's native part panics: no store."""
    out = run(
        f"""
        import importlib.abc, logging
        logging.basicConfig(stream=sys.stdout, format="%(message)s")
        class Trips(importlib.abc.MetaPathFinder):
            def find_spec(self, fullname, path, target=None):
                if fullname == "lancedb.table":
                    sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
                    raise AttributeError("userbase")
        sys.meta_path = [Trips(), *before]
        import_lancedb()
        from memlayer.adapters.lance import store
        import lancedb, lance_namespace
        assert sys.meta_path == before and lance_namespace.__file__
        table = lancedb.connect({str(tmp_path)!r}).create_table("t", [{{"id": "가", "vector": [0.0, 1.0]}}])
        print(table.search([0.0, 1.0]).limit(1).to_list()[0]["id"])
        """
    )
    assert out == "lancedb is imported whole: AttributeError: userbase\n가\n"


def test_a_thread_that_walks_over_the_finders_misses_none(tmp_path: Path) -> None:
    package(tmp_path, "lancedb", "import sys\nassert sys.walked == sys.found, sys.walked")
    run(
        """
        sys.walked, sys.found = sys.meta_path, before
        import_lancedb()
        import lancedb
        assert sys.walked == before == sys.meta_path
        """,
        tmp_path,
    )


def test_two_threads_import_one_after_the_other(tmp_path: Path) -> None:
    slow = "import sys, time\nsys.inside.append({0!r})\ntime.sleep(0.3)\nsys.inside.append({0!r})"
    package(tmp_path, "lancedb", slow.format("lancedb"))
    package(tmp_path, "fastembed", slow.format("fastembed"))
    out = run(
        """
        import threading
        from memlayer.adapters.embedding.lazy_import import import_fastembed
        sys.inside = []
        threads = [threading.Thread(target=load) for load in (import_lancedb, import_fastembed)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(*sys.inside)
        """,
        tmp_path,
    )
    assert out.split() in (["lancedb"] * 2 + ["fastembed"] * 2, ["fastembed"] * 2 + ["lancedb"] * 2)


def test_without_lancedb_the_import_that_follows_says_so(tmp_path: Path) -> None:
    package(tmp_path, "lancedb", "raise ImportError('no wheel for this machine')")
    out = run(
        """
        import_lancedb()
        try:
            import lancedb
        except ImportError as bad:
            print(bad)
        """,
        tmp_path,
    )
    assert out == "no wheel for this machine\n"
