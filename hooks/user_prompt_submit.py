"""UserPromptSubmit: keeps the prompt and answers with the memories that fit it."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("user_prompt_submit")
