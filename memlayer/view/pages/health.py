"""Health and settings: the checks with their cures, the settings with theirs."""

import os
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from memlayer.config import FIRST_KEYS, describe, describe_groups, is_outdated, unset_setting, what_holds
from memlayer.config.edit import set_settings
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import UserError
from memlayer.view.texts import harmless
from memlayer.view.visit import Visit, endpoint


def checks(visit: Visit) -> Response:
    """Return the checks of `memlayer doctor`."""
    found = list(visit.source.verbs.checks(visit.folder or os.path.expanduser("~")))
    order = {"fail": 0, "warn": 1, "ok": 2}
    found.sort(key=lambda check: order.get(check.state, 0))
    bad = sum(check.state != "ok" for check in found)
    return visit.page("health.html", "Health", checks=found, bad=bad, status=visit.source.status())


def settings(visit: Visit) -> Response:
    """Return every setting with its explanation.

    Those that people touch first, and those that are set, stand open on top, the others folded under their subjects.
    """
    query = visit.text("q")
    found = values(visit)
    words = harmless(query).casefold().split()
    shown = [
        row for row in found["settings"]
        if all(word in f"{row['key']} {row['description']}".casefold() for word in words)
    ]  # fmt: skip
    groups = describe_groups()
    on_top = [row for row in shown if not words and (row["key"] in FIRST_KEYS or row["from"] != "default")]
    folded = [row for row in shown if row not in on_top]
    by_group = [
        (name, groups[name].partition("\n")[0], [row for row in folded if row["key"].startswith(name + ".")])
        for name in groups
    ]
    return visit.page(
        "settings.html", "Settings", on_top=on_top, groups=[one for one in by_group if one[2]], query=query, **{
            name: found[name] for name in ("file", "problem", "warnings", "changed_since_daemon")
        },
    )  # fmt: skip


def values(visit: Visit) -> dict[str, Any]:
    """Return the settings as `memlayer config --json` has them, masked."""
    home = visit.source.home
    held = what_holds(home, visit.folder, os.environ)
    about = {one.key: one for one in describe()}
    for row in held["settings"]:
        one, value = about[row["key"]], row["value"]
        row |= {"value": _masked(value), "typed": typed(value), "default": _masked(one.default)}
        row |= {"description": one.description, "bounds": one.bounds}
    del held["ignored"]
    return {**held, "changed_since_daemon": is_outdated(visit.source.status().get("settings_stamp"), home)}


def _masked(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_masked(part) for part in value]
    return redact(value) if isinstance(value, str) else value


def typed(value: object) -> str:
    """Return a value as a person types it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return "\n".join(map(typed, value))
    return "" if value is None else redact(str(value))


def change(visit: Visit) -> Response:
    """Change a setting as `memlayer config set` does, or unset it."""
    key = visit.form.get("key", "")
    if visit.form.get("unset") == "1":
        unset_setting(visit.source.home, key)
        told = f"{key} has its default again."
    else:
        set_one(visit, key, visit.form.get("value", ""))
        told = f"{key} is changed."
    return visit.back("/settings", told)


def set_one(visit: Visit, key: str, text: str) -> object:
    """Write a setting; several lines make a list. Raises UserError."""
    words = [line.strip() for line in text.split("\n") if line.strip()]
    if not words:
        raise UserError(f"{key}: a value is expected. To have its default back, unset it")
    return set_settings(visit.source.home, {key: words})[key]


def restart(visit: Visit) -> Response:
    """Restart the daemon, so that it reads the settings."""
    visit.source.verbs.restart()
    return visit.back("/settings", "The daemon has started anew, with these settings.")


ROUTES = (
    Route("/health", endpoint(checks)),
    Route("/settings", endpoint(settings)),
    Route("/settings", endpoint(change), methods=["POST"]),
    Route("/settings/restart", endpoint(restart), methods=["POST"]),
)
