"""Edits of the user's settings file; comments and the rest stay."""

import contextlib
import io
import os
import typing
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

import yaml

from memlayer.config.files import MAX_BYTES, parse_user_text, user_text
from memlayer.config.load import did_you_mean, merge_settings
from memlayer.config.model import fields_of, keys
from memlayer.edge.home import paths
from memlayer.errors import UserError

INDENT = "  "


def set_setting(home: str, key: str, values: Sequence[str]) -> object:
    """Write a setting into the user's file and return its value.

    The whole file must be valid. values: as typed. Several make a list. Raises UserError, one line, or OSError: then
    nothing has changed.
    """
    return set_settings(home, {key: values})[key]


def set_settings(home: str, typed: Mapping[str, Sequence[str]], *, dry_run: bool = False) -> dict[str, object]:
    """Write settings by key, all or none; see set_setting.

    dry_run: check them alone.
    """
    values = {key: _typed(*known(key), words) for key, words in typed.items()}
    _change(home, values, is_set=True, dry_run=dry_run)
    return values


def settings_in(words: Sequence[str]) -> dict[str, list[str]]:
    """Split words at each known key, or key=value, into settings."""
    typed: dict[str, list[str]] = {}
    last = ""
    for word in words:
        key, sign, value = word.partition("=")
        if not last or word in keys() or (sign and key in keys()):
            last = key if sign else word
            typed[last] = [value] if sign else []
        else:
            typed[last].append(word)
    return typed


def unset_setting(home: str, *keys: str) -> list[str]:
    """Remove settings, all or none, and return those that were there.

    A misspelt one that stands in the file as well. Raises UserError or OSError.
    """
    settings = parse_user_text(user_text(paths.settings(home)).encode(), paths.settings(home))
    removed = []
    for key in keys:
        group, _, name = key.partition(".")
        if isinstance(settings.get(group), dict) and name in settings[group]:
            removed.append(key)
        else:
            known(key)
    if removed:
        _change(home, dict.fromkeys(removed), is_set=False)
    return removed


def known(key: str) -> tuple[str, str]:
    """Return (group, name) of a setting. Raises UserError when there is none."""
    if key not in keys():
        if key == "enabled":
            raise UserError(
                "enabled switches everything off, and is written by hand: `enabled: false` at the left margin of a "
                "project's .memlayer.yaml, or of config.yaml for every project"
            )
        hint = did_you_mean(key, keys()) or "; `memlayer config --all` lists them"
        raise UserError(f"{key}: there is no such setting{hint}")
    group, _, name = key.partition(".")
    return group, name


def _typed(group: str, name: str, values: Sequence[str]) -> object:
    """Convert typed words to the setting's type; validation finds mistakes."""
    kind = fields_of(group)[name].annotation
    if get_origin(kind) is tuple:
        only = _from_yaml(values[0]) if len(values) == 1 else None
        if isinstance(only, list):
            return only
        is_text = get_args(kind)[0] is str
        return [value if is_text else _from_yaml(value) for value in values if value]
    if len(values) > 1:
        raise UserError(f"{group}.{name}: one value is expected. Put quotes around a value with blanks")
    if kind is str or get_origin(kind) is typing.Literal:
        return values[0]
    return _from_yaml(values[0])


def _from_yaml(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return text


def _change(home: str, values: Mapping[str, object], *, is_set: bool, dry_run: bool = False) -> None:
    """Edit the text, check that only these changed, replace the file."""
    file = paths.settings(home)
    text = user_text(file)
    before = parse_user_text(text.encode(), file)
    wanted: dict[str, Any] = dict(before)
    alone: dict[str, dict[str, object]] = {}
    edited = text
    for key, value in values.items():
        group, _, name = key.partition(".")
        wanted = _wanted(wanted, group, name, value, is_set=is_set)
        with contextlib.suppress(yaml.YAMLError):  # the edit before it spoilt the text: found below
            edited = _edited(edited, group, name, value, is_set=is_set)
        if is_set:
            alone.setdefault(group, {})[name] = value
    _validate(home, before, wanted, alone)
    if not _says(edited, file, wanted):
        if "#" in text:
            raise UserError(
                f"{file} cannot be changed without losing its comments. Edit {', '.join(values)} there by hand"
            )
        edited = yaml.safe_dump(wanted, allow_unicode=True, sort_keys=False)
    if "\r\n" in text:
        edited = edited.replace("\r\n", "\n").replace("\n", "\r\n")
    if len(edited.encode()) > MAX_BYTES:
        raise UserError(f"{file} would be longer than {MAX_BYTES} bytes")
    if dry_run:
        return
    paths.make_folder(home)
    paths.write_whole(os.path.realpath(file), edited.encode())  # a link, as dotfiles often are, stays one


def _validate(home: str, before: Mapping[str, Any], wanted: Mapping[str, Any], alone: Mapping[str, Any]) -> None:
    """Raise UserError for a wrong change, not for older mistakes elsewhere."""
    try:
        merge_settings(home, before, {})
    except UserError:
        wanted = alone
    try:
        merge_settings(home, wanted, {})
    except UserError as bad:
        raise UserError(str(bad).removesuffix(f" (in {paths.settings(home)})") + ". Nothing is changed") from bad


def _says(text: str, file: str, wanted: Mapping[str, Any]) -> bool:
    """True if a valid text has the wanted settings; empty groups aside."""
    try:
        settings = parse_user_text(text.encode(), file)
    except UserError:
        return False
    return {key: group for key, group in settings.items() if group} == {
        key: group for key, group in wanted.items() if group
    }


def _wanted(before: Mapping[str, Any], group: str, name: str, value: object, *, is_set: bool) -> dict[str, Any]:
    settings = before.get(group)
    if settings is not None and not isinstance(settings, dict):
        raise UserError(f"{group}: a group of settings is expected. Correct that line by hand first")
    fields = {key: value for key, value in (settings or {}).items() if key != name}
    if is_set:
        fields[name] = value
    wanted = {**before, group: fields}
    return wanted if fields else {key: fields for key, fields in wanted.items() if key != group}


def _edited(text: str, group: str, name: str, value: object, *, is_set: bool) -> str:
    """Return the text with a line edited; wrong for unusual spellings."""
    root: yaml.Node | None = yaml.compose(io.StringIO(text), yaml.SafeLoader)
    written = _scalar(value)
    pair = _entry(root, group)
    if pair is None or not isinstance(pair[1], yaml.MappingNode) or not pair[1].value:
        if not is_set:
            return text
        line = f"{INDENT}{name}: {written}\n"
        if pair is None:
            return _with_end(text) + f"{group}:\n{line}"
        end = text.find("\n", pair[1].end_mark.index)  # `recall:` with nothing, or only comments, under it
        return text[: end + 1] + line + text[end + 1 :] if end >= 0 else _with_end(text) + line
    fields = pair[1]
    entry = _entry(fields, name)
    if entry is not None and is_set:
        is_block = isinstance(entry[1], yaml.CollectionNode) and not entry[1].flow_style
        head = text[: entry[0].end_mark.index] + ": " if is_block else text[: entry[1].start_mark.index]
        return str(head + written + text[_end_of(entry[1], text) :])
    if fields.flow_style:
        return _edited_flow(text, fields, entry, f"{name}: {written}")
    if entry is not None:
        if len(fields.value) == 1 and "#" not in text[pair[0].start_mark.index : _next_group(root, pair[0], text)]:
            entry = (pair[0], entry[1])  # the group goes with its last setting
        start = text.rfind("\n", 0, entry[0].start_mark.index) + 1
        end = text.find("\n", _end_of(entry[1], text))
        return str(text[:start] + (text[end + 1 :] if end >= 0 else ""))
    last_key, last = fields.value[-1]
    end = text.find("\n", max(_end_of(last, text), last_key.end_mark.index))
    line = " " * int(last_key.start_mark.column) + f"{name}: {written}\n"
    return text[: end + 1] + line + text[end + 1 :] if end >= 0 else _with_end(text) + line


def _next_group(root: yaml.Node | None, group: yaml.Node, text: str) -> int:
    """Return the position of the next group."""
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    starts = [key.start_mark.index for key, _ in pairs if key.start_mark.index > group.start_mark.index]
    return min(starts, default=len(text))


def _edited_flow(text: str, fields: yaml.MappingNode, entry: tuple[Any, Any] | None, new: str) -> str:
    """Return `{a: 1, b: 2}` with a pair added or removed."""
    if entry is None:
        end = _end_of(fields.value[-1][1], text)
        return f"{text[:end]}, {new}{text[end:]}"
    place = next(at for at, (key, _) in enumerate(fields.value) if key is entry[0])
    start, end = entry[0].start_mark.index, _end_of(entry[1], text)
    if place:
        start = _end_of(fields.value[place - 1][1], text)
    elif len(fields.value) > 1:
        end = fields.value[1][0].start_mark.index
    return str(text[:start] + text[end:])


def _entry(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next(((key, value) for key, value in reversed(pairs) if str(key.value).lower() == name), None)


def _end_of(node: yaml.Node, text: str) -> int:
    """Return the end of a node's value, without the comments behind."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end = int(node.end_mark.index)
    return len(text[:end].rstrip()) if end > node.start_mark.index else end


def _scalar(value: object) -> str:
    """Return a value on one line of YAML."""
    dumped = yaml.safe_dump(value, allow_unicode=True, default_flow_style=True, width=10**6)
    return str(dumped).removesuffix("\n").removesuffix("\n...").strip()


def _with_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
