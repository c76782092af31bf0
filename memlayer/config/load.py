"""Loading of settings from their sources; errors name the wrong source."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic import TypeAdapter, ValidationError

from memlayer.config import embedding, plugin_option
from memlayer.config.agent import for_provider
from memlayer.config.files import SWITCH, is_outdated, read_untrusted, read_user_file, switched_off
from memlayer.config.model import PREFIX, PROJECT_KEYS, ProjectSettings, Settings, describe, fields_of, keys, variable
from memlayer.edge.home import paths, project
from memlayer.errors import UserError

# Settings that are constants now: a line with one counts for nothing, and is told.
RETIRED = {
    "recall": ("max_entry_chars", "weight_lexical", "candidates"),
    "working_set": ("max_entries", "max_chars"),
    "memory": ("weight_topics", "weight_time", "weight_files", "weight_names"),
    "flush": ("context_window", "reserve_tokens", "soft_threshold"),
    "tools": ("failures", "max_chars"),
    "chunking": ("max_tokens", "overlap_tokens"),
    "consolidation": ("timeout_s", "daily_calls", "temperature", "max_age_days"),
    "moments": ("changed_files", "changed_ground", "checked_notes"),
    "agent": ("max_history_messages", "max_tokens", "timeout_s", "tool_timeout_s", "max_retries"),
    "soul": ("file", "evil_file"),
    "embedding": ("dimensions", "timeout_s", "cache_dir", "batch_size", "cache_max_bytes"),
    "daemon": ("log_level",),
}
MAX_NAMED = 5  # mistakes in one line
_BOOL = TypeAdapter(bool)


def load_settings(home: str, environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Settings:
    """Load settings: defaults < plugin's option < config.yaml < environ < flags.

    flags: {"agent.model": "haiku"}.
    Raises UserError, one line that names each wrong key, its mistake, and the file or variable.
    """
    return merge_settings(home, read_user_file(paths.settings(home)), environ, flags)


def merge_settings(
    home: str, from_file: Mapping[str, Any], environ: Mapping[str, str], flags: Mapping[str, object] | None = None
) -> Settings:
    """Load settings with a present or future user's file. Raises UserError."""
    file = paths.settings(home)
    from_flags: dict[str, dict[str, object]] = {}
    for key, value in (flags or {}).items():
        group, _, name = key.partition(".")
        from_flags.setdefault(group, {})[name] = value
    from_file = for_provider(without_retired(from_file)[0], from_flags.get("agent", {}).get("provider"))
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    if not _is_bool(from_file.get(SWITCH, True)):
        problems.append((f"{SWITCH}: true or false is expected, not {_short(from_file[SWITCH])}; taken as false", file))
    from_file = {group: fields for group, fields in from_file.items() if group != SWITCH}
    option = {"consolidation": plugin_option.consolidation(home)}
    from_environ, mistakes = read_variables(environ)
    problems += [(says, "") for says in mistakes]
    sources = (plugin_option.settings_file(home), option), (file, from_file), ("", from_environ)
    for source, values in (*sources, ("flag", from_flags)):
        for group, fields in values.items():
            if not isinstance(fields, dict):
                if fields is None and source == file:  # `recall:` with every line under it commented out
                    continue
                is_known = group in Settings.model_fields or not source
                expected = f"a group of settings is expected, not {_short(fields)}"
                unknown = f"there is no such setting{did_you_mean(group, Settings.model_fields)}"
                problems.append((f"{group}: {expected if is_known else unknown}", source or variable(group)))
                continue
            for name, value in fields.items():
                merged.setdefault(group, {})[name] = value
                origins[f"{group}.{name}"] = source or variable(group, name)
    try:
        settings = Settings(**merged)
    except ValidationError as bad:
        problems += [_problem(error, origins, file) for error in bad.errors()]
    if problems:
        raise UserError(_in_one_line(problems))
    settings._origins = origins
    return settings


def read_variables(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return (group -> name -> value, mistakes) of the variables."""
    ignored = ignored_variables(environ)
    values: dict[str, dict[str, Any]] = {}
    whole: dict[str, dict[str, Any]] = {}
    mistakes: list[str] = []
    parsed: Any
    for name, text in environ.items():
        group, double, field = name.removeprefix(PREFIX).lower().partition("__")
        if not name.startswith(PREFIX) or name in ignored:
            continue
        if field in RETIRED.get(group, ()):
            continue
        known = fields_of(group).get(field)
        is_list = known is not None and get_origin(known.annotation) is tuple
        try:
            parsed = json.loads(text) if is_list or not double else text
        except (ValueError, RecursionError):
            parsed = None
        if group not in Settings.model_fields:
            mistakes += _misspelt(name, group, is_setting=bool(double))
        elif is_list and not isinstance(parsed, list):
            such = json.dumps([text], ensure_ascii=False)
            mistakes.append(f"{name}: a JSON list is expected, such as {such}")
        elif not double and not isinstance(parsed, dict):
            one = variable(group, next(iter(fields_of(group))))
            mistakes.append(f"{name}: a JSON object is expected, not {_short(text)}; for one setting {one}")
        elif double:
            values.setdefault(group, {})[field] = parsed
        else:
            whole[group] = parsed
    found = {group: {**whole.get(group, {}), **values.get(group, {})} for group in {**whole, **values}}
    return without_retired(found)[0], mistakes


def without_retired(groups: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return settings without the retired ones, and the keys of these."""
    kept: dict[str, Any] = {}
    retired: list[str] = []
    for group, fields in groups.items():
        gone = [name for name in RETIRED.get(group, ()) if name in _fields(fields)]
        retired += [f"{group}.{name}" for name in gone]
        if gone:
            fields = {name: value for name, value in fields.items() if name not in gone}
        if fields or group in Settings.model_fields or group not in RETIRED:
            kept[group] = fields
    return kept, retired


def load_project_settings(folder: str) -> ProjectSettings:
    """Load the .memlayer.yaml of a folder and of its project. Never raises.

    Of several values the one that asks for least holds.
    """
    asks: dict[str, Any] = {}
    warnings: list[str] = []
    files = project.settings_files(folder)
    for path in files:
        _take_project_file(path, asks, warnings)
    # The hook's own reader of `enabled` counts too: where the two differ, the safer one is right. It must not
    # open anything but a regular file: a pipe would make it wait.
    off = project.switch_off(folder)
    is_on = asks.pop(SWITCH, True) and not off
    return ProjectSettings(is_on, asks, tuple(warnings), off or (files[-1] if files else ""))


def _take_project_file(path: str, asks: dict[str, Any], warnings: list[str]) -> None:
    """Add a project's file to the settings that it asks for."""
    said, trouble = read_untrusted(path)
    warnings += [f"{trouble} ({path})"] if trouble else []
    open_groups = {key.partition(".")[0] for key in PROJECT_KEYS} - {SWITCH}
    groups = {name: said.pop(name) for name in open_groups & said.keys()}
    rows = [(str(key), value) for key, value in said.items()]
    rows += [(f"{group}.{name}", value) for group, part in groups.items() for name, value in _fields(part).items()]
    for key, value in rows:
        group, _, name = key.partition(".")
        if key not in PROJECT_KEYS:
            warnings.append(f"{key}: a project may not set this; ignored ({path})")
            continue
        if name and value is None:
            continue
        try:
            read = Settings.model_validate({group: {name: value}}) if name else None
            held = getattr(getattr(read, group), name) if read else _BOOL.validate_python(value)
        except ValidationError as bad:
            is_switch = key.endswith(SWITCH)  # less is done where it is false
            asks |= {key: False} if is_switch else {}
            outcome = "taken as false" if is_switch else "ignored"
            warnings.append(f"{key}: {_plain(bad.errors()[0])}, not {_short(value)}; {outcome} ({path})")
        else:
            asks[key] = (max if PROJECT_KEYS[key] == "max" else min)(asks.get(key, held), held)
    for group, part in groups.items():
        if part is not None and not isinstance(part, dict):
            warnings.append(f"{group}: a group of settings is expected; ignored ({path})")


def ignored_variables(environ: Mapping[str, str]) -> list[str]:
    """Return variables named like settings that the environment cannot set."""
    fields = Settings.model_fields
    closed = [variable(group) for group in fields if not getattr(fields[group].annotation, "heeds_variables", True)]
    names = {name for name in environ if name.upper().partition("__")[0] in closed}
    return sorted(names | {name for name in environ if _chooses_an_embedder(name, environ[name])})


def _chooses_an_embedder(name: str, value: str) -> bool:
    """True for a variable of `embedding` that is not heeded whole."""
    group, _, field = name.upper().removeprefix(PREFIX).lower().partition("__")
    if not name.upper().startswith(PREFIX) or group != "embedding":
        return False
    fields: Any = {field: value}
    if not field:
        try:
            fields = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(fields, dict) and embedding.heeded(fields) != fields


def _misspelt(name: str, group: str, *, is_setting: bool) -> list[str]:
    """Return the message for a misspelt variable, [] for none."""
    if is_setting:
        return [f"{name}: there is no group of settings {group!r}{did_you_mean(group, Settings.model_fields)}"]
    if any(group.startswith(known + "_") for known in Settings.model_fields):
        return [f"{name}: the group and the name of a setting are joined by two underscores"]
    return []


def _in_one_line(problems: Sequence[tuple[str, str]]) -> str:
    """Return the first MAX_NAMED problems, each source named once."""
    by_source: dict[str, list[str]] = {}
    for says, source in problems[:MAX_NAMED]:
        by_source.setdefault(source, []).append(says)
    line = "; ".join("; ".join(told) + f" (in {source})" * bool(source) for source, told in by_source.items())
    return line + (f"; and {len(problems) - MAX_NAMED} more" if len(problems) > MAX_NAMED else "")


def _problem(problem: Mapping[str, Any], origins: Mapping[str, str], file: str) -> tuple[str, str]:
    """Return a problem of a ValidationError, and its source."""
    key = ".".join(str(part) for part in problem["loc"][:2])
    in_group = [source for known, source in origins.items() if known.startswith(key + ".") and known in problem["msg"]]
    in_group += [source for known, source in origins.items() if known.startswith(key + ".")]
    source = origins.get(key) or (in_group[0] if in_group else file)
    key = " ".join(key.splitlines())  # a name in quotes may hold anything
    if problem["type"] == "extra_forbidden" and len(problem["loc"]) > 2:
        return f"{key}: {_short(problem['loc'][-1])} is not known there", source
    if problem["type"] == "extra_forbidden":
        return f"{key}: there is no such setting{did_you_mean(key, keys())}", source
    if problem["type"] == "value_error" and "." not in key:  # over a whole group. Names its keys itself
        return _plain(problem), source
    return f"{key}: {_plain(problem)}, not {_short(problem['input'])}", source


def _plain(problem: Mapping[str, Any]) -> str:
    """Return pydantic's sentence without its prefix, to follow a key."""
    text = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    text = text.partition(", unable to ")[0].replace("\n", " ")
    return text.replace("a valid tuple", "a list").replace("a valid boolean", "true or false")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."


def did_you_mean(word: str, known: Any) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def load_what_holds(home: str, environ: Mapping[str, str]) -> tuple[Settings, str]:
    """Load the settings, or the valid part of wrong settings.

    Returns (settings, "") of load_settings, or (their valid part, the mistakes and what has its default, one line). A
    group that is valid by itself holds. An invalid group has its defaults, but stays off where it says
    `enabled: false`: the person wants it off, whatever else is wrong.
    """
    try:
        return load_settings(home, environ), ""
    except UserError as bad:
        problem = str(bad)
    file = paths.settings(home)
    option: Mapping[str, Any] = {}
    until: list[str] = []
    try:
        from_file: Mapping[str, Any] = without_retired(read_user_file(file))[0]
        option = {"consolidation": plugin_option.consolidation(home)}  # an unreadable file may say no
    except UserError:
        from_file = switched_off(file)
        until.append("no line of that file counts but `enabled: false`")
    from_environ, _ = read_variables(environ)
    by_group: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for group, field in Settings.model_fields.items():
        sources = [_fields(from_file.get(group)), _fields(from_environ.get(group))]
        chosen = _fields(option.get(group)) if group not in from_file or isinstance(from_file[group], dict) else {}
        values = {**chosen, **sources[0], **sources[1]}
        kind: Any = field.annotation
        try:
            by_group[group] = kind.model_validate(values)
            if not isinstance(from_file.get(group) or {}, dict):
                until.append(f"every {group}.* setting has its default")
        except ValidationError:
            is_off = _is_off(sources)
            values = {"enabled": False} if is_off else kind.valid_part(values)
            by_group[group] = kind.model_validate(values)
            partly = [f"only the valid part of {group}.{name} counts" for name in values if not is_off]
            off = f" but {group}.enabled, which is off," if is_off else ""
            until += partly or [f"every {group}.* setting{off} has its default"]
        for name in values:
            own = plugin_option.settings_file(home) if name in chosen and name not in sources[0] else file
            origins[f"{group}.{name}"] = variable(group, name) if name in sources[1] else own
    problem += ". Until that is corrected, " + (", ".join(until) or "all other settings hold")
    settings = Settings(**by_group)
    settings._origins = origins
    return settings, problem


def problem_since(stamp: str, problem: str, home: str, environ: Mapping[str, str]) -> str:
    """Return the mistakes of now; stamp, problem: of settings read before."""
    if not is_outdated(stamp, home):
        return problem
    try:
        load_settings(home, environ)
    except UserError as bad:
        return f"{bad}. The running daemon goes on with those that it has read"
    return ""


def what_holds(home: str, folder: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return wire.upkeep.SettingsHeld, without a daemon. folder: "" for none."""
    of_project = load_project_settings(folder) if folder else ProjectSettings()
    of_user, problem = load_what_holds(home, environ)
    settings = of_user.for_project(of_project)
    values = settings.model_dump()
    warnings = list(of_project.warnings)
    with contextlib.suppress(UserError):  # `problem` says what is wrong
        if retired := without_retired(read_user_file(paths.settings(home)))[1]:
            warnings.append(f"{', '.join(retired)}: no longer a setting; `memlayer config unset KEY` removes the line")
    rows = []
    for one in describe():
        group, _, name = one.key.partition(".")
        row = {"key": one.key, "value": values[group][name], "unit": one.unit, "from": settings.origin(one.key)}
        rows.append(row)
    return {
        "file": paths.settings(home), "settings": rows, "warnings": warnings, "problem": problem,
        "ignored": ignored_variables(environ), "changed_since_daemon": False,
    }  # fmt: skip


def _fields(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_off(sources: Sequence[Mapping[str, Any]]) -> bool:
    """True if the last source is off, or unreadable such as `flase`."""
    said = [source["enabled"] for source in sources if "enabled" in source]
    return bool(said) and not (_is_bool(said[-1]) and _BOOL.validate_python(said[-1]))


def _is_bool(value: object) -> bool:
    try:
        _BOOL.validate_python(value)
    except ValidationError:
        return False
    return True
