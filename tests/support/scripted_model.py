"""A language model with scripted answers that records its requests."""

from collections.abc import Sequence

from memlayer.ports import Completion


class ScriptedModel:
    """A scripted model.

    answers: in turn, each a text, a Completion or an error to raise; the last one is repeated.
    """

    def __init__(self, *answers: str | Completion | Exception) -> None:
        self.answers: Sequence[str | Completion | Exception] = answers
        self.asked: list[tuple[str, str]] = []

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """See LanguageModel."""
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append((system, prompt))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, 700, 50)
