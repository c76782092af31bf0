"""Loading of settings from their sources; errors name the wrong source."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic import TypeAdapter, ValidationError

from memlayer.config import embedding, plugin_option
from memlayer.config.agent import for_provider
from memlayer.config.files import is_outdated, read_untrusted, read_user_file, switched_off
from memlayer.config.model import PREFIX, PROJECT_KEYS, ProjectSettings, Settings, describe, fields_of, keys, variable
from memlayer.edge.home import paths, project
from memlayer.errors import UserError

# Data may leave the machine, or be erased, only by the user's own file: the host takes variables from the settings of
# whatever repository it was started in, and gives them to the hook that starts the daemon of all projects. A model in
# a shell may start it as well.
FILE_ONLY_GROUPS = ("consolidation", "privacy", "agent", "query_classification", "soul", "retention")

SWITCH = "enabled"  # of the person's file, for everything: see edge.home.project.switch_off
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
    from_file = for_provider(from_file, from_flags.get("agent", {}).get("provider"))
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    if not _is_bool(from_file.get(SWITCH, True)):
        problems.append((f"{SWITCH}: true or false is expected, not {_short(from_file[SWITCH])}; taken as false", file))
    from_file = {group: fields for group, fields in from_file.items() if group != SWITCH}
    option = {"consolidation": plugin_option.consolidation(home)}
    sources = (plugin_option.settings_file(home), option), (file, from_file), ("", read_variables(environ))
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
    return placed(settings, home, origins)


def read_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return group -> name -> value of variables. Raises UserError, one line."""
    ignored = ignored_variables(environ)
    environ = {name: value for name, value in environ.items() if name not in ignored}
    groups = tuple(map(variable, Settings.model_fields))
    values: dict[str, Any] = {}
    if any(name.upper().startswith(groups) for name in environ):
        from memlayer.config.variables import values_of

        try:
            values = values_of(environ)
        except UserError as bad:
            raise UserError(_not_json(environ) or str(bad)) from bad
    _refuse_misspelt(environ)
    return values


def placed(settings: Settings, home: str, origins: dict[str, str]) -> Settings:
    """Fill in the home's folders. origins: key -> file or variable."""
    if not settings.embedding.cache_dir:
        cache_dir = os.path.join(paths.cache(home), "models")
        settings = settings.model_copy(
            update={"embedding": settings.embedding.model_copy(update={"cache_dir": cache_dir})}
        )
    settings._origins = origins
    return settings


def load_project_settings(root: str) -> ProjectSettings:
    """Load a project's .memlayer.yaml. Never raises. root: by edge.home.project.locate."""
    path = os.path.join(root, project.SETTINGS_NAME)
    settings, trouble = read_untrusted(path)
    warnings = [f"{trouble} ({path})"] if trouble else []
    allowed: dict[str, Any] = {"recall": {}, "notes": {}}
    groups = {name: settings.pop(name, None) for name in ("recall", "notes")}
    sources = [("", settings)] + [(name, values) for name, values in groups.items() if isinstance(values, dict)]
    for group, values in sources:
        for name, value in values.items():
            key = f"{group}.{name}" if group else str(name)
            target = allowed[group] if group else allowed
            if key not in PROJECT_KEYS:
                warnings.append(f"{key}: a project may not set this; ignored ({path})")
                continue
            try:
                ProjectSettings.model_validate({group: {name: value}} if group else {name: value})
            except ValidationError as bad:
                is_switch = name == "enabled"  # less is done where it is false
                if is_switch:
                    target[name] = False
                outcome = "taken as false" if is_switch else "ignored"
                warnings.append(f"{key}: {_plain(bad.errors()[0])}, not {_short(value)}; {outcome} ({path})")
            else:
                target[name] = value
    for group, values in groups.items():
        if values is not None and not isinstance(values, dict):
            warnings.append(f"{group}: a group of settings is expected; ignored ({path})")
    # The hook's own reader of `enabled` counts too: where the two differ, the safer one is right. It must not
    # open anything but a regular file: a pipe would make it wait.
    off = project.switch_off(root)
    if off:
        allowed["enabled"] = False
    file = off or (path if os.path.lexists(path) else "")
    return ProjectSettings(**allowed, warnings=tuple(warnings), file=file)


def ignored_variables(environ: Mapping[str, str]) -> list[str]:
    """Return variables named like settings that the environment cannot set."""
    starts = tuple(map(variable, FILE_ONLY_GROUPS))
    names = {name for name in environ if name.upper().partition("__")[0] in starts}
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


def _not_json(environ: Mapping[str, str]) -> str:
    """Name a variable with invalid JSON, with an example; or ""."""
    for name, value in environ.items():
        group, double, field = name.removeprefix(PREFIX).lower().partition("__")
        if not name.startswith(PREFIX) or group not in Settings.model_fields:
            continue
        known = fields_of(group).get(field)
        is_list = known is not None and get_origin(known.annotation) is tuple
        try:
            parsed = json.loads(value) if is_list or not double else None
        except (ValueError, RecursionError):
            parsed = None
        if is_list and not isinstance(parsed, list):
            return f"{name}: a JSON list is expected, such as {json.dumps([value], ensure_ascii=False)}"
        if not double and not isinstance(parsed, dict):
            first = next(iter(fields_of(group)))
            return f"{name}: a JSON object is expected, not {_short(value)}; for one setting {variable(group, first)}"
    return ""


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """Refuse a misspelt variable, which would otherwise do nothing, silently."""
    groups = {name.upper() for name in Settings.model_fields}
    for name in environ:
        if not name.startswith(PREFIX):
            continue
        group, double, _ = name[len(PREFIX) :].partition("__")
        if double and group not in groups:
            hint = did_you_mean(group.lower(), Settings.model_fields)
            raise UserError(f"{name}: there is no group of settings {group.lower()!r}{hint}")
        if not double and any(name[len(PREFIX) :].startswith(known + "_") for known in groups):
            raise UserError(f"{name}: the group and the name of a setting are joined by two underscores")


def _in_one_line(problems: Sequence[tuple[str, str]]) -> str:
    """Return the first MAX_NAMED problems, each source named once."""
    by_source: dict[str, list[str]] = {}
    for says, source in problems[:MAX_NAMED]:
        by_source.setdefault(source, []).append(says)
    line = "; ".join(f"{'; '.join(told)} (in {source})" for source, told in by_source.items())
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
        from_file: Mapping[str, Any] = read_user_file(file)
        option = {"consolidation": plugin_option.consolidation(home)}  # an unreadable file may say no
    except UserError:
        from_file = switched_off(file)
        until.append("no line of that file counts but `enabled: false`")
    try:
        from_environ: Mapping[str, Any] = read_variables(environ)
    except UserError:
        from_environ = {}
        until.append(f"no variable {PREFIX}<GROUP>__<NAME> counts")
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
    return placed(Settings(**by_group), home, origins), problem


def problem_since(stamp: str, problem: str, home: str, environ: Mapping[str, str]) -> str:
    """Return the mistakes of now; stamp, problem: of settings read before."""
    if not is_outdated(stamp, home):
        return problem
    try:
        load_settings(home, environ)
    except UserError as bad:
        return f"{bad}. The running daemon goes on with those that it has read"
    return ""


def what_holds(home: str, root: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return wire.upkeep.SettingsHeld, without a daemon. root: of a project, or ""."""
    of_project = load_project_settings(root) if root else ProjectSettings()
    of_user, problem = load_what_holds(home, environ)
    settings = of_user.for_project(of_project)
    values = settings.model_dump()
    rows = []
    for one in describe():
        group, _, name = one.key.partition(".")
        row = {"key": one.key, "value": values[group][name], "unit": one.unit, "from": settings.origin(one.key)}
        rows.append(row)
    return {
        "file": paths.settings(home), "settings": rows, "warnings": list(of_project.warnings), "problem": problem,
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
