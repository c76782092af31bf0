"""UserPromptExpansion: keep the words typed after a memlayer command."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("user_prompt_expansion")
