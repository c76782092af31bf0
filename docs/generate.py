"""Writes the generated pages of docs/: `python docs/generate.py`; --check only names the stale ones."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from docs.reference import cli_page, configuration_page  # noqa: E402

PAGES = {"cli.md": cli_page, "configuration.md": configuration_page}


def main(arguments: list[str]) -> int:
    """Returns an exit code: with --check, 1 when a page is out of date."""
    stale = 0
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"docs/{name} is out of date: run `make docs`", file=sys.stderr)
            stale = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"docs/{name}")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
