"""PreToolUse: tell that the same call failed before, and what worked."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("pre_tool_use")
