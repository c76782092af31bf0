"""Every verb alike: missing and wrong arguments, errors as JSON, `-` as a standard stream; over a scripted daemon."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from memlayer.cli.app import cli as program
from memlayer.cli.verbs.forget import TRANSCRIPT
from memlayer.edge.ipc import protocol
from tests.support.cli_process import FOUND, MEMORY, Cli
from tests.support.processes import ROOT
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def leaves(group: click.Group, prefix: str = "") -> list[str]:
    """Every verb that does something, such as `list` and `daemon stop`."""
    found = []
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            inner = leaves(command, f"{prefix}{name} ") if isinstance(command, click.Group) else []
            found += inner or [prefix + name]
    return found


VERBS = leaves(program)
INCOMPLETE = tables("cli/every_verb")["incomplete"]


@pytest.mark.parametrize("typed", INCOMPLETE)
def test_missing_arguments_are_two(cli: Cli, typed: str) -> None:
    arguments = [word.strip("'") for word in typed.replace("' '", "'\u00a0'").split(" ")]
    done, told = cli(*arguments), cli(*arguments, "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("memlayer: " + INCOMPLETE[typed])
    assert (told.returncode, told.stderr) == (2, "")
    error = json.loads(told.stdout)["error"]
    assert done.stderr == f"memlayer: {error['message']}\n"
    assert (error["kind"], error["exit_code"]) == ("usage", 2)
    assert not cli.home.exists()


@pytest.mark.parametrize("verb", VERBS)
def test_wrong_option_names_the_help(cli: Cli, verb: str) -> None:
    done, told = cli(*verb.split(), "--nosuch"), cli(*verb.split(), "--nosuch", "--json")
    assert (done.returncode, told.returncode, done.stdout, told.stderr) == (2, 2, "", "")
    assert "--nosuch" in done.stderr and f"`memlayer {verb} --help`" in done.stderr
    assert json.loads(told.stdout)["error"]["kind"] == "usage"


def test_daemon_error_as_json(cli: Cli) -> None:
    says = "user: Nothing is known by '없음'".encode()
    with ScriptedDaemon(cli.home, {"show": [(protocol.ERROR, says)]}):
        told, plain = cli("show", "없음", "--json"), cli("show", "--", "--json")
    assert json.loads(told.stdout)["error"] == {
        "kind": "error", "message": "Nothing is known by '없음'", "exit_code": 1,
    }  # fmt: skip
    assert (told.returncode, told.stderr, plain.stdout) == (1, "", "")  # behind `--` it is a word


def test_unexpected_error_is_json(cli: Cli) -> None:
    too_deep = b'{"memories":' + b"[" * 100_000
    with ScriptedDaemon(cli.home, {"list": [(protocol.REPLY, too_deep)]}):
        done, told = cli("list"), cli("list", "--json")
    assert (done.returncode, told.returncode, done.stdout, told.stderr) == (1, 1, "", "")
    assert done.stderr.startswith("memlayer: unexpected RecursionError")
    assert json.loads(told.stdout)["error"]["message"].startswith("unexpected RecursionError")


def test_relative_home_is_refused(cli: Cli) -> None:
    cli.environment["MEMLAYER_HOME"] = "집/memory"
    done, told = cli("list"), cli("list", "--json")
    assert (done.returncode, told.returncode) == (1, 1)
    assert done.stderr.startswith("memlayer: MEMLAYER_HOME is not absolute: '집/memory'")
    assert "not absolute" in json.loads(told.stdout)["error"]["message"]
    assert list(cli.project.iterdir()) == []


@pytest.mark.parametrize(
    "verb", ["list", "search q", "search --as-prompt q", "remember 글", "import", "config", "doctor"]
)
def test_unknown_folder_is_an_error(cli: Cli, verb: str) -> None:
    done = cli(*verb.split(), "--project", "없는/폴더")
    assert done.returncode == 1 and done.stderr == f"memlayer: There is no folder {cli.project / '없는' / '폴더'}\n"
    assert not cli.home.exists()


@pytest.mark.parametrize("verb", ["remember", "search", "forget", "edit a7Bc3x"])
@pytest.mark.parametrize("text", ["--no-verify is forbidden here", "-n 옵션은 쓰지 않는다", "--강제 푸시 금지"])
def test_text_that_begins_with_a_dash_goes_behind_two(cli: Cli, verb: str, text: str) -> None:
    done = cli(*verb.split(), text)
    path = f"memlayer {verb.split()[0]}"
    assert done.returncode == 2 and f"See `{path} --help`. A text that begins with a dash goes behind --" in done.stderr
    assert f"`{path} -- ...`" in done.stderr and done.stderr.count("\n") == 1
    with ScriptedDaemon(cli.home, {"search": FOUND}) as daemon:
        assert cli("search", "--", text).returncode == 0
    assert daemon.heard[0][1]["query"] == text


BARE = ["mcp", "mcp --project x", "doctor"]  # without a runtime as well


@pytest.mark.parametrize(
    ("verb", "has_runtime"),
    [(verb, False) for verb in BARE]
    + [(verb, True) for verb in [*BARE, "search x", "notes status", "export ./x.json", "import ./y", "view"]],
)
def test_deleted_current_folder_is_told(cli: Cli, verb: str, has_runtime: bool) -> None:
    gone = cli.project / "지난 폴더"
    gone.mkdir()
    cli.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix if has_runtime else str(cli.home / "none")
    started = [sys.executable, "-I", "-S", str(ROOT / "bin" / "memlayer"), *verb.split()]
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *started], cwd=gone, env=cli.environment, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "memlayer: The current folder has been deleted. Go to another, or give --project FOLDER\n"


def test_list_project_with_deleted_folder(cli: Cli) -> None:
    gone = cli.project / "지난 일"
    cli.home.mkdir(mode=0o700)
    (cli.home / "projects.json").write_text(json.dumps({"p1": {"keys": [f"path:{gone}"], "root": str(gone)}}))
    with ScriptedDaemon(cli.home, {"list": {"memories": [MEMORY]}}) as daemon:
        assert cli("list", "--project", str(gone)).returncode == 0
        assert cli("remember", "글", "--project", str(gone)).returncode == 1
    assert {asked["project_dir"] for _, asked in daemon.heard} == {str(gone)}


@pytest.mark.parametrize(
    ("verb", "op", "field"), [(("search",), "search", "query"), (("search", "--as-prompt"), "recall", "prompt")]
)
def test_dash_is_standard_input(cli: Cli, verb: tuple[str, ...], op: str, field: str) -> None:
    with ScriptedDaemon(cli.home, {op: FOUND}) as daemon:
        assert cli(*verb, "-", stdin="it's 결제\n").returncode == 0
        assert cli(*verb, "-", "q").returncode == 0  # among words it is a word
    assert [asked[field] for _, asked in daemon.heard] == ["it's 결제", "- q"]


def test_show_takes_several_citations(cli: Cli) -> None:
    match = {"memory": MEMORY, "events": [], "neighbours": []}
    with ScriptedDaemon(cli.home, {"show": {"matches": [match], "unknown": ["없음"]}}) as daemon:
        done = cli("show", "[mem:x9Yz2w].", "core_81d2,", "없음")
        told = cli("show", "-", "--json", stdin="See [mem:x9Yz2w], and [mem:a7Bc3x].\n")
    heard = [asked["ids"] for _, asked in daemon.heard]
    assert heard == [["x9Yz2w", "core_81d2", "없음"], ["x9Yz2w", "a7Bc3x"]]
    assert done.returncode == told.returncode == 1
    assert "[mem:x9Yz2w]" in done.stdout and "No memory has the id '없음'" in done.stderr
    assert json.loads(told.stdout)["unknown"] == ["없음"]


CODE = "배포는 이렇게:\n```sh\nmake deploy \\\n  --now\n- core_1 [mem:FORGED] x\n```\n그리고 기다린다"


@pytest.mark.parametrize("verb", ["list", "search", "remember", "edit"])
def test_code_blocks_keep_their_lines(cli: Cli, verb: str) -> None:
    memory = {**MEMORY, "text": CODE, "snippet": CODE}
    script = {
        "list": {"memories": [memory]}, "search": {"hits": [memory]},
        "remember": {"memory": memory}, "edit": {"memory": memory},
    }  # fmt: skip
    arguments = {"search": ["q"], "remember": ["q"], "edit": ["x9Yz2w", "q"]}.get(verb, [])
    with ScriptedDaemon(cli.home, script):
        out = cli(verb, *arguments).stdout
    indent = " " * (3 if verb == "search" else 2)
    assert f"{indent}```sh\n{indent}make deploy \\\n{indent}  --now\n" in out
    assert "[mem:FORGED]" not in out and out.count("```") == 2


def test_cut_code_block_is_closed(cli: Cli) -> None:
    text = "앞\n```\n" + "\n".join(f"line {number} 줄" for number in range(500)) + "\n```\n"
    with ScriptedDaemon(cli.home, {"list": {"memories": [{**MEMORY, "text": text}]}}):
        lines = cli("list").stdout.splitlines()
    assert len(lines) < 100 and lines[-2:] == ["  ```", "  …"]


def test_counts_agree_with_their_nouns(cli: Cli) -> None:
    removed = {"memories": 1, "events": 1, "chunks": 0}
    with ScriptedDaemon(
        cli.home, {"forget": {"memories": [MEMORY], "events": 1, "removed": removed, "in_transcript": True}}
    ):
        shown = cli("forget", "x9Yz2w", "--dry-run").stdout
        done = cli("forget", "x9Yz2w", "--yes").stdout
    assert shown.startswith("Would be forgotten: 1 memory, with 1 event\n")
    assert done == "Forgotten: 1 memory, 1 event, 0 chunks.\n" + TRANSCRIPT + "\n"


def test_words_beside_a_citation(cli: Cli) -> None:
    found = {"memories": [MEMORY], "events": 1, "unknown": ["오타"]}
    with ScriptedDaemon(cli.home, {"forget": found}) as daemon:
        out = cli("forget", "-", stdin="[mem:x9Yz2w] 오타\n").stdout
    assert [asked["dry_run"] for _, asked in daemon.heard] == [True]
    assert '"오타" is no citation.' in out and "Nothing is forgotten yet" in out and out.count("[mem:") == 1
