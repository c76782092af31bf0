"""Properties of terms, chunks, sentences and the transcript reader.

They hold for any text.
"""

import json
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memlayer.edge.capture.noise import is_noise, recallable
from memlayer.text.chunking import chunk, estimate_tokens, sentences
from memlayer.text.terms import MAX_TERM_CHARS, index_terms, query_terms
from memlayer.transcripts.reader import read_turns

SNIPPETS = st.sampled_from(
    [
        "결제",
        "모듈은 ",
        "했다.",
        "src/app/x.py",
        "--no-cache ",
        "\n\n",
        "e\u0301",
        "\u200d",
        "決済",
        "1,000",
        "#1",
        ".env",
    ]
)
TEXT = st.one_of(st.text(), st.lists(st.one_of(SNIPPETS, st.text(max_size=4)), max_size=200).map("".join))


@given(TEXT)
def test_terms_are_clean(text: str) -> None:
    for term in (*query_terms(text), *(index_terms(text).split(" ") if index_terms(text) else ())):
        assert term
        assert len(term.split()) == 1 and term == term.strip()
        assert len(term) <= MAX_TERM_CHARS
    assert len(query_terms(text)) == len(set(query_terms(text)))


@given(TEXT)
def test_text_finds_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text).split())


@settings(deadline=None)
@given(TEXT, st.integers(1, 120), st.integers(0, 60))
@example("0:A:A\x1b㐀㐀\r00000000\x08\x080", 14, 7)  # two spans ended at one break
def test_chunks_cover_and_end(text: str, max_tokens: int, overlap_tokens: int) -> None:
    spans = chunk(text, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
    assert bool(spans) == bool(text)
    covered = 0
    for span in spans:
        assert span.start <= covered < span.end
        covered = span.end
    assert covered == len(text)
    assert [span.start for span in spans] == sorted({span.start for span in spans})
    if max_tokens >= 40:
        assert all(estimate_tokens(text[span.start : span.end]) <= max_tokens for span in spans)


@given(TEXT)
def test_sentences_leave_only_white_space_out(text: str) -> None:
    spans = sentences(text)
    outside = "".join(
        text[left:right]
        for left, right in zip(
            [0, *(span.end for span in spans)], [*(span.start for span in spans), len(text)], strict=True
        )
    )
    assert not outside.strip()


@given(TEXT)
def test_noise_is_never_recalled_for(prompt: str) -> None:
    assert not (is_noise(prompt) and recallable(prompt))


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(),
        st.sampled_from(["user", "assistant", "text", "tool_result", "compact_boundary", "queued_command"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["type", "message", "content", "text", "promptId", "attachment", "prompt", "origin"]),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=20,
)
LINES = st.lists(st.one_of(st.binary(max_size=80), JSON.map(lambda value: json.dumps(value).encode())), max_size=12)


@settings(deadline=None)
@given(LINES, st.integers(0, 400), st.booleans())
def test_any_bytes_parse_as_transcript(lines: list[bytes], start_offset: int, torn: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_bytes(b"\n".join(lines) + (b"" if torn else b"\n"))
        for record in read_turns(str(path), start_offset=start_offset):
            record.text.encode()
            assert record.kind in ("user", "assistant", "compact")
            assert 0 <= record.resume_offset <= path.stat().st_size
