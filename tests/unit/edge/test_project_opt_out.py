"""`enabled: false` in a project's .memlayer.yaml, in any style.

A hook has no YAML parser and must see it.
"""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from memlayer.config.files import read_untrusted
from memlayer.config.load import load_project_settings
from memlayer.edge.home.project import SETTINGS_NAME, enabled
from memlayer.edge.home.project_env import is_disabled
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git, repository
from tests.support.tables import tables

TABLES = tables("edge/project_opt_out")

ROOT = Path(__file__).resolve().parents[3]
OFF = TABLES["off"]
# The daemon's parser refuses aliases, which can blow a file up; the author meant it all the same.
REFUSED = ["base: &b {enabled: false}\n<<: *b", "<<: {enabled: false}", "a: &a false\nenabled: *a",
           "a: &a enabled\n*a : false"]  # fmt: skip
# No parser takes these for false, but whoever wrote them may have meant it.
IN_DOUBT = ["enabled:\tfalse", "\tenabled: false", "enabled: false;", "enabled = false", "Enabled: false",
            "enabled：false", "enabled: disabled", "enabled:", "enabled: 아니오"]  # fmt: skip
ON = TABLES["on"]


def write_settings(folder: Path, raw: bytes) -> Path:
    (folder / SETTINGS_NAME).write_bytes(raw)
    return folder


def parsed(folder: Path) -> bool:
    """Return the setting as the daemon's parser reads it."""
    found, _ = read_untrusted(str(folder / SETTINGS_NAME))
    try:
        return "enabled" not in found or TypeAdapter(bool).validate_python(found["enabled"])
    except ValidationError:
        return True


@pytest.mark.parametrize("text", OFF)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_parser_and_hook_agree_on_off(tmp_path: Path, text: str, encoding: str) -> None:
    write_settings(tmp_path, text.encode(encoding))
    assert not enabled(str(tmp_path))
    assert "\ufeff" in text or not parsed(tmp_path)


@pytest.mark.parametrize("text", REFUSED)
def test_refused_file_switches_off(tmp_path: Path, text: str) -> None:
    assert not enabled(str(write_settings(tmp_path, text.encode())))
    found, problem = read_untrusted(str(tmp_path / SETTINGS_NAME))
    assert found == {} and "not valid YAML" in problem


@pytest.mark.parametrize("text", IN_DOUBT)
def test_doubtful_file_switches_off(tmp_path: Path, text: str) -> None:
    assert not enabled(str(write_settings(tmp_path, text.encode())))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    assert not enabled(str(write_settings(tmp_path, "# 끔\r\nenabled: false\r\n".encode(encoding))))
    assert enabled(str(write_settings(tmp_path, "enabled: true\r\n".encode(encoding))))


@pytest.mark.parametrize("kilobytes", [64, 1_100])
@pytest.mark.parametrize("end", ["enabled: false", "enabled: true", ""])
def test_file_that_nobody_reads_to_its_end_switches_off(tmp_path: Path, kilobytes: int, end: str) -> None:
    line = "# 결제 모듈의 설정이다.\n".encode()
    write_settings(tmp_path, line * (kilobytes * 1024 // len(line) + 1) + end.encode())
    assert not enabled(str(tmp_path)) and not load_project_settings(str(tmp_path)).enabled
    [warning] = load_project_settings(str(tmp_path)).warnings
    assert "longer than 65536 bytes, so nothing is kept where it holds: shorten it" in warning


@pytest.mark.parametrize("text", ON)
def test_other_settings_leave_it_on(tmp_path: Path, text: str) -> None:
    assert enabled(str(write_settings(tmp_path, text.encode())))
    assert parsed(tmp_path)


keys = st.sampled_from(["enabled", "recall", "한글", "a b", "#", "{", "<<", "Enabled"])
scalars = st.sampled_from([False, 0, 0.0, "no", "f", "off", True, 1, "x", "enabled", "enabled: true", "가\n나", None])
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=3))
flow = st.sampled_from([None, False, True])
style = st.sampled_from([None, "'", '"', "|", ">"])


@given(st.dictionaries(keys, values, max_size=4), flow, style, st.booleans(), st.booleans(), st.integers(2, 8))
@hypothesis_settings(deadline=None, max_examples=400)
def test_any_yaml_style_switches_off(
    tmp_path_factory: pytest.TempPathFactory,
    settings: dict[str, object], flow: bool | None, style: str | None, begins: bool, marked: bool, indent: int,
) -> None:  # fmt: skip
    text = yaml.safe_dump(
        settings, default_flow_style=flow, default_style=style, explicit_start=begins, allow_unicode=True,
        indent=indent, sort_keys=False,
    )  # fmt: skip
    folder = write_settings(tmp_path_factory.getbasetemp(), text.encode("utf-8-sig" if marked else "utf-8"))
    assert parsed(folder) or not enabled(str(folder)), text


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbfenabled: false\r\n", b'"enabled": false\n', b"{enabled: false}\n"])
@pytest.mark.parametrize("has_daemon", [False, True], ids=["no daemon", "daemon"])
def test_opted_out_turn_is_not_kept(hook: HookRunner, home: Path, project: Path, raw: bytes, has_daemon: bool) -> None:
    write_settings(project, raw)
    if not has_daemon:
        hook.turn("s1", "p1", "결제 포트는 8443", "네")
        assert hook.spooled == []
        return
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "결제 포트는 8443", "네")
        daemon.settle()
        assert daemon.call("stats")["events"] == 0


@pytest.mark.parametrize("at", ["packages/결제", "packages"])
@pytest.mark.parametrize("has_daemon", [False, True], ids=["no daemon", "daemon"])
def test_sub_folder_where_a_session_starts_is_off(
    hook: HookRunner, home: Path, project: Path, at: str, has_daemon: bool
) -> None:
    """Its own settings, or those of a folder above it, switch a sub-folder off."""
    git(project, "init", "-q")
    below = project / "packages" / "결제"
    below.mkdir(parents=True)
    (project / at / SETTINGS_NAME).write_text("enabled: false\n", "utf-8")

    def told() -> None:
        hook.turn("s1", "p1", "결제 포트는 8443", "네")
        hook.environment["CLAUDE_PROJECT_DIR"] = str(below)
        hook.turn("s2", "p2", "출시 암호는 bluebird 입니다", "네")

    if not has_daemon:
        told()
        assert "8443" in str(hook.spooled) and "bluebird" not in str(hook.spooled)
        return
    with Daemon(ROOT, home) as daemon:
        told()
        daemon.settle()
        kept = json.dumps(daemon.call("list"), ensure_ascii=False)
        assert "8443" in kept and "bluebird" not in kept
    done = Cli(home, below)("doctor")
    assert f"by {project / at / SETTINGS_NAME}: nothing is stored there" in " ".join(done.stdout.split())
    assert "switched off" not in Cli(home, project)("doctor").stdout


def _worktree(tmp_path: Path, *, inside: bool) -> tuple[Path, Path]:
    repo = repository(tmp_path / "shop")
    tree = repo / ".claude" / "worktrees" / "수정" if inside else tmp_path / "elsewhere" / "wt"
    git(repo, "worktree", "add", str(tree))
    return repo, tree


@pytest.mark.parametrize("inside", [True, False])
def test_linked_work_tree_is_off_with_its_repository(tmp_path: Path, inside: bool) -> None:
    repo, tree = _worktree(tmp_path, inside=inside)
    (tree / "src").mkdir()
    assert enabled(str(tree)) and enabled(str(tree / "src"))
    write_settings(repo, b"enabled: false\n")
    assert not enabled(str(tree)) and not enabled(str(tree / "src"))
    write_settings(tree, b"enabled: true\n")
    assert not enabled(str(tree))
    write_settings(repo, b"enabled: true\n")
    assert enabled(str(tree)) and enabled(str(repo))
    write_settings(tree, b"enabled: off\n")
    assert not enabled(str(tree)) and enabled(str(repo))


@pytest.mark.parametrize("below", ["sub", "a/b/c", "vendor/lib", "한글 폴더", ".hidden", "missing/gone"])
def test_folders_of_a_repository_are_off(tmp_path: Path, below: str) -> None:
    folder = repository(tmp_path / "shop") / below
    if "gone" not in below:
        folder.mkdir(parents=True)
    assert enabled(str(folder))
    write_settings(tmp_path / "shop", b"enabled: no")
    assert not enabled(str(folder)) and enabled(str(tmp_path))
    if below == "vendor/lib":
        git(folder, "init")
        assert not enabled(str(folder))


def test_file_of_a_plain_folder_is_for_that_folder(tmp_path: Path) -> None:
    """Such as one in a folder of temporary files, which everybody may write to."""
    repo = repository(tmp_path / "plain" / "shop")
    write_settings(tmp_path / "plain", b"enabled: no")
    assert not enabled(str(tmp_path / "plain")) and enabled(str(repo)) and enabled(str(repo / "src"))


def test_file_of_the_home_folder_is_for_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "사람"
    (own / "work" / "shop").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(own))
    write_settings(own, b"enabled: false")
    assert not enabled(str(own)) and enabled(str(own / "work" / "shop"))


OFF_VALUES = ["1", "true", "yes", "on", "TRUE", "2", "y", "disable", "끄기", " ", "00", "-1", "nope", "false "]
ON_VALUES = ["", "0", "false", "no", "off", "False", "NO", "oFF", "FALSE"]


@pytest.mark.parametrize(("value", "is_off"), [(v, True) for v in OFF_VALUES] + [(v, False) for v in ON_VALUES])
def test_values_of_the_variable(value: str, is_off: bool) -> None:
    assert is_disabled(value) is is_off
    script = (ROOT / "hooks" / "run").read_text().split("case ${1:-}")[0] + "echo on >&3\n"
    done = subprocess.run(
        ["sh", "-c", "exec 3>&1; " + script], env={"MEMLAYER_DISABLE": value}, capture_output=True, check=True
    )
    assert (done.stdout == b"") is is_off


def test_variable_that_is_not_set() -> None:
    assert not is_disabled(None)


@pytest.mark.parametrize("value", ["true", "Yes", "on", "끄기"])
def test_hook_keeps_nothing(hook: HookRunner, value: str) -> None:
    hook.environment["MEMLAYER_DISABLE"] = value
    hook.turn("s", "p", "배포는 화요일", "네")
    assert hook.spooled == []
    hook.environment["MEMLAYER_DISABLE"] = "no"
    hook.turn("s", "p", "배포는 화요일", "네")
    assert len(hook.spooled) == 2
