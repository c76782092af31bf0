"""Settings in variables MEMLAYER_<GROUP>__<NAME>.

In a file of its own, since pydantic-settings takes 30 ms to import and most environments have no such variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsError

from memlayer.config.model import PREFIX, Settings
from memlayer.errors import UserError


class _Environ(EnvSettingsSource):
    """Source of variables in a given environment instead of this process's own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        # The source reads the fields and the configuration of any model.
        super().__init__(cast(type[BaseSettings], Settings), env_prefix=PREFIX, env_nested_delimiter="__")

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items() if name.startswith(PREFIX)}


def values_of(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return group -> name -> value. Raises UserError for bad JSON."""
    try:
        return _Environ(environ)()
    except SettingsError as bad:
        raise UserError(f"a variable {PREFIX}<GROUP> must hold a JSON object: {bad}") from bad
