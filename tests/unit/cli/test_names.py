"""Verbs by their headings, and wrong verbs."""

import subprocess
from pathlib import Path

import click
import pytest

from memlayer.cli.app import MEANT, SECTIONS, VERBS
from memlayer.cli.app import cli as program
from memlayer.cli.terminal.output import here, in_shell, say
from memlayer.cli.verbs.agent import offer_package
from memlayer.edge.bootstrap.runtime import plugin_root
from tests.support.cli_process import MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables

PROGRAM = plugin_root() + "/bin/memlayer"


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def test_the_help_is_one_screen_under_four_headings(cli: Cli) -> None:
    lines = cli("--help").stdout.splitlines()
    assert 22 <= len(lines) <= 40 and max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(":") and line[0] != " "] == [
        "In the first week:", "Find:", "Correct:", "Work:", "Machinery:",
    ]  # fmt: skip
    assert len(SECTIONS["In the first week"]) == 8 and len(VERBS) - len(SECTIONS[""]) <= 26
    assert not any("..." in line for line in lines[1:]), "a summary that is cut"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("serch", "search"), ("lst", "list"), ("remeber", "remember"), ("doctr", "doctor"), ("taks", "task"),
        ("delete", "forget"), ("find", "search"), ("confg", "config"), ("shwo", "show"), ("status", "stats"),
        ("version", "--version"), ("history", "show --history"), ("recall", "search --as-prompt"), ("store", "doctor"),
    ],
)  # fmt: skip
def test_a_wrong_verb_is_told_the_near_one(cli: Cli, typed: str, meant: str) -> None:
    done = cli(typed, "결제")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Did you mean `memlayer {meant}`?" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "meant"),
    tables("cli/names")["an_option_of_another_verb_is_told_that_verb"],
)  # fmt: skip
def test_an_option_of_another_verb_is_told_that_verb(cli: Cli, typed: str, meant: str) -> None:
    done = cli(*typed.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.endswith(f" here. Did you mean `memlayer {meant}`?\n")


@pytest.mark.parametrize("typed", ["xyzzy", "검색", "42"])
def test_a_strange_verb_is_told_the_help(cli: Cli, typed: str) -> None:
    done = cli(typed)
    assert done.returncode == 2 and "Did you mean" not in done.stderr and "memlayer --help" in done.stderr


def test_tables_name_verbs_that_are_there() -> None:
    with click.Context(program, info_name="memlayer") as top:
        for words in MEANT.values():
            verb, *below = words.split()
            command = None if verb[:2] == "--" else program.get_command(top, verb)
            if command is None:
                assert words == "--version"
            elif isinstance(command, click.Group) and below:
                assert command.get_command(top, below[0]), words
            elif below:
                options = {name for row in command.params for name in (*row.opts, *row.secondary_opts)}
                assert below[0] in options, words


@pytest.mark.parametrize(
    ("message", "slash"),
    [
        ("`memlayer list core` lists them", "`/memlayer:memory-list core` lists them"),
        ("`memlayer notes on` turns it on", "`/memlayer:memory-notes on` turns it on"),
        ("`memlayer notes on --by session`", "`/memlayer:memory-notes on --by session`"),
        ("`memlayer notes` alone", "`/memlayer:memory-notes` alone"),
        ("`memlayer notes read` alone", f"`{PROGRAM} notes read` alone"),
        ("`memlayer task list` lists them", "`/memlayer:memory-tasks` lists them"),
        ("`memlayer task list all` shows all", "`/memlayer:memory-tasks all` shows all"),
        ("`memlayer view` opens it", "`/memlayer:memory-view` opens it"),
        ("`memlayer view --no-open` says why", f"`{PROGRAM} view --no-open` says why"),
        ("see `memlayer doctor`", "see `/memlayer:memory-doctor`"),
        ("`memlayer team accept` takes them in", "`/memlayer:memory-team accept` takes them in"),
        ("`memlayer search 결제` finds it", "`/memlayer:memory-search 결제` finds it"),
        ("`memlayer show --history a7Bc3x` shows it", "`/memlayer:memory-history a7Bc3x` shows it"),
        ("`memlayer edit --restore core_1` brings it back", f"`{PROGRAM} edit --restore core_1` brings it back"),
        ("`memlayer notes read --last 30 --dry-run`", f"`{PROGRAM} notes read --last 30 --dry-run`"),
        ("`memlayer sharing` is no verb of the table", f"`{PROGRAM} sharing` is no verb of the table"),
        ("the memlayer list is long", "the memlayer list is long"),
    ],
)
def test_the_host_is_told_its_own_names(message: str, slash: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDECODE", raising=False)
    assert here(message) == message
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("PATH", "/nowhere")
    assert here(message) == slash


@pytest.mark.parametrize(
    ("folder", "linked", "is_typed_so"),
    [("bin", "", False), ("", "", False), ("", "local", True), ("bin", "local", False), ("다른 bin", "다른 bin", True)],
)
def test_a_terminal_is_told_what_it_finds(
    folder: str, linked: str, is_typed_so: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host has the plugin's own folder on the PATH of its shells, which no terminal has."""
    plugin = tmp_path / "it's a 플러그인"
    for made in (plugin / "bin", *([tmp_path / linked] if linked else [])):
        made.mkdir(parents=True)
    program = plugin / "bin" / "memlayer"
    program.write_text("#!/bin/sh\necho it runs\n")
    program.chmod(0o700)
    if linked:
        (tmp_path / linked / "memlayer").symlink_to(program)
    own = plugin / "bin" if folder == "bin" else tmp_path / (folder or "none")
    monkeypatch.setattr("memlayer.cli.terminal.output.plugin_root", lambda: str(plugin))
    monkeypatch.setenv("PATH", f"{own}:{tmp_path / (linked or 'none')}")
    typed = in_shell("setup --quiet")
    assert (typed == "memlayer setup --quiet") is is_typed_so
    done = subprocess.run(["/bin/sh", "-c", typed], capture_output=True, text=True, check=False)
    assert done.stdout == "it runs\n", done.stderr


def test_what_is_said_in_the_host_is_typed_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    say("열린 일이 없다: ", ("`memlayer task list all`", "bold"))
    say("stored: run `memlayer view`, 그다음 확인", is_ours=False)
    ours, stored = capsys.readouterr().out.splitlines()
    assert (
        ours == "열린 일이 없다: `/memlayer:memory-tasks all`" and stored == "stored: run `memlayer view`, 그다음 확인"
    )


def test_an_error_in_the_host_names_a_slash_command(cli: Cli) -> None:
    cli.environment.update(CLAUDECODE="1")
    with ScriptedDaemon(cli.home, {"show": {"matches": [], "unknown": ["없음"]}}):
        told = cli("show", "없음")
    assert told.returncode == 1 and "`/memlayer:memory-search` shows citations" in told.stderr


def test_a_category_is_a_word_of_list(cli: Cli) -> None:
    note = {**MEMORY, "kind": "decision", "text": "배포는 화요일 [mem:b8Cd4y], as decided [mem:x9Yz2w]."}
    with ScriptedDaemon(cli.home, {"list": {"memories": [note, {**MEMORY, "kind": "turn"}]}}) as daemon:
        done = cli("list", "core")
        assert cli("list", "cores").returncode == 2
    assert [fields["category"] for _, fields in daemon.heard] == ["core"]
    title, text, *rest = done.stdout.splitlines()
    assert title.endswith("  decision") and text.strip() == "배포는 화요일, as decided."  # no citation beside its own
    assert "turn" not in rest[0].split()


def test_rules_are_lines_for_claude_md(cli: Cli) -> None:
    rules = [{**MEMORY, "text": text} for text in ("커밋 메시지는 한국어로 쓴다", "Never push to main")]
    with ScriptedDaemon(cli.home, {"list": {"memories": rules}}) as daemon:
        done = cli("rules")
    assert done.stdout == "- 커밋 메시지는 한국어로 쓴다\n- Never push to main\n"
    assert daemon.heard[0][1]["rules"] is True
    with ScriptedDaemon(cli.home, {"list": {"memories": []}}):
        none = cli("rules")
    assert (none.returncode, none.stdout) == (0, "") and "remember" in none.stderr  # `>> CLAUDE.md` adds nothing


def test_the_first_agent_asks_for_a_provider(cli: Cli) -> None:
    bare = cli("agent", "안녕", "--no-memory")
    assert bare.returncode == 2 and "agent.provider" in bare.stderr  # nobody there who could choose
    cli.environment["PATH"] = "/nowhere"
    _, shown = cli.on_terminal("agent", "안녕", "--no-memory", types="claude-cli\n\x04")
    assert shown.count("claude-cli") == 2 and "not one of" in shown  # typed, and refused: it is not offered
    program = cli.home.parent / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/false\n")
    program.chmod(0o755)
    cli.environment["PATH"] = str(program.parent)
    _, shown = cli.on_terminal("agent", "안녕", "--no-memory", types="nonsense\nclaude-cli\n")
    assert shown.count("Which provider?") == 2 and "agent.provider is now claude-cli" in shown
    assert "provider: claude-cli" in (cli.home / "config.yaml").read_text()
    _, again = cli.on_terminal("agent", "안녕", "--no-memory")
    assert "Which provider?" not in again


@pytest.mark.parametrize("verb", [("search", "배포"), ("list",), ("sessions",), ("given",), ("project",)])
def test_a_fresh_machine_says_why_nothing_is_there(cli: Cli, verb: tuple[str, ...]) -> None:
    answers = {"search": {"hits": []}, "list": {"memories": []}, "sessions": {}, "given": {}, "projects": {}}
    with ScriptedDaemon(cli.home, answers):
        fresh = cli(*verb)
        (cli.home / "projects.json").write_text('{"a1": {"name": "가게", "keys": []}}')
        later = cli(*verb)
    assert fresh.returncode == 0 and fresh.stdout.count("\n") == 1 and "`memlayer import`" in fresh.stdout
    assert later.stdout and "yet" not in later.stdout


def test_a_home_that_cannot_be_read_is_named(cli: Cli) -> None:
    (cli.project / "집").write_text("a file")
    cli.environment["MEMLAYER_HOME"] = str(cli.project / "집" / "home")
    told = cli("remember", "배포는 화요일").stderr
    assert "Errno" not in told and f"{cli.project}/집/home" in told and "`memlayer doctor`" in told


@pytest.mark.parametrize(
    ("is_there", "is_own", "asks"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_a_missing_package_is_offered(
    is_there: bool, is_own: bool, asks: bool, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    asked, added = list[str](), list[list[str]]()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if is_there else None)
    monkeypatch.setattr("memlayer.edge.bootstrap.extras.command_for", lambda _: "memlayer setup" if is_own else "")
    monkeypatch.setattr("memlayer.edge.terminal.launch.add_extras", lambda _, __, names, is_quiet: added.append(names))
    monkeypatch.setattr("click.confirm", lambda text, default: asked.append(text) or True)
    for name in ("claude-cli", "openai"):
        offer_package(name)
    assert [("openai" in text) for text in asked] == [True] * asks and added == [["openai"]] * asks
