"""PostToolUseFailure: keep the failed call and its error."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("post_tool_use_failure")
