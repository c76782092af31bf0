"""UserPromptSubmit: keep the prompt and print the memories that fit."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("user_prompt_submit")
