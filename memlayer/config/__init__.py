"""Settings that a person may change, with bounds and origins.

defaults < <home>/config.yaml < a project's .memlayer.yaml < MEMLAYER_<GROUP>__<NAME>. Frozen once
loaded. A project's file comes with a clone and is untrusted: ProjectSettings has all that it may set, it may only
ask for less than the user allows, and nothing in it is an error.
"""

from memlayer.config.consolidation import daemon_variables, language_model_variables, write_daemon_variables
from memlayer.config.edit import set_setting, unset_setting
from memlayer.config.files import is_outdated, settings_stamp
from memlayer.config.load import (
    ignored_variables,
    load_project_settings,
    load_settings,
    load_what_holds,
    problem_since,
    what_holds,
)
from memlayer.config.model import FIRST_KEYS, ProjectSettings, SettingDescription, Settings, describe, describe_groups
from memlayer.config.privacy import write_own_patterns

__all__ = [
    "FIRST_KEYS",
    "ProjectSettings",
    "SettingDescription",
    "Settings",
    "daemon_variables",
    "describe",
    "describe_groups",
    "ignored_variables",
    "is_outdated",
    "language_model_variables",
    "load_project_settings",
    "load_settings",
    "load_what_holds",
    "problem_since",
    "set_setting",
    "settings_stamp",
    "unset_setting",
    "what_holds",
    "write_daemon_variables",
    "write_own_patterns",
]
