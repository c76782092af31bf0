"""UserPromptExpansion: keeps what was typed after one of memlayer's own commands, for that command."""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0])

from memlayer.edge.hook.main import run

run("user_prompt_expansion")
