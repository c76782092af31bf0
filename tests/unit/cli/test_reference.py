"""House rules of the command line: everything is documented, everything has --json, and --help costs little."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.generate import PAGES
from memlayer.cli.app import VERBS, cli
from memlayer.config import describe

ROOT = Path(__file__).resolve().parents[3]
# Packages that a verb which only asks the daemon does not need; each costs tens of milliseconds.
DEAR = ("lancedb", "fastembed", "numpy", "onnxruntime", "pyarrow", "pydantic", "yaml", "rich")


def commands(group: click.Group, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from commands(command, f"{prefix}{name} ")
            else:
                yield f"{prefix}{name}", command


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_verb_documented_with_json() -> None:
    documented = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = dict(commands(cli))
    assert {name.split(" ")[0] for name in found} == set(VERBS)
    for name, command in found.items():
        assert any("--json" in option.opts for option in command.params), name
        assert f"Usage: memlayer {name} " in documented, name
        assert command.help and len(command.help) > 20, name


def test_every_verb_shows_an_example() -> None:
    with click.Context(cli, info_name="memlayer") as top:
        for name in VERBS:
            command = cli.get_command(top, name)
            assert command is not None
            assert f"memlayer {name}" in (command.help or ""), name


def test_every_setting_is_documented() -> None:
    documented = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for one in describe():
        assert f"| `{one.key}` |" in documented


def test_summaries_are_the_verbs_own() -> None:
    with click.Context(cli, info_name="memlayer") as top:
        for name, (_, summary) in VERBS.items():
            command = cli.get_command(top, name)
            assert command is not None and summary == command.get_short_help_str(200), name


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["search", "--help"], ["search", "--as-prompt", "--help"], ["--version"], ["daemon", "status"]],
)
def test_large_packages_not_imported(arguments: list[str], home: Path) -> None:
    assert not set(DEAR) & imported(arguments, home)


def test_help_imports_no_verb(home: Path) -> None:
    verbs = {f"memlayer.cli.verbs.{module}" for module, _ in VERBS.values()}
    assert not ({*verbs, "memlayer.wire.message", "memlayer.config", "asyncio", "subprocess"} & imported(["-h"], home))


def test_settings_import_little(home: Path) -> None:
    assert not {"asyncio", "rich", "lancedb", "tomllib"} & imported(["config"], home)


def imported(arguments: list[str], home: Path) -> set[str]:
    """The modules that the command line imports for these arguments."""
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"sys.argv = ['memlayer', *{arguments!r}]\n"
        "from memlayer.cli.app import cli\n"
        "try:\n"
        "    cli(standalone_mode=False)\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)"
    )
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "MEMLAYER_HOME": str(home)}
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return set(done.stderr.split())


def test_help_by_path_and_isolated(tmp_path: Path) -> None:
    main = ROOT / "memlayer" / "cli" / "__main__.py"
    done = subprocess.run(
        [sys.executable, "-I", str(main), "--help"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
    )
    assert done.returncode == 0 and "  search " in done.stdout
