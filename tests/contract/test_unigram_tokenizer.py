"""The lean tokenizer gives the same ids as the `tokenizers` library."""

import json
import shutil
from pathlib import Path

import pytest
from fastembed.common.preprocessor_utils import load_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memlayer.adapters.embedding import unigram_tokenizer
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL, models_root

ROOT = Path(__file__).resolve().parents[2]
SPECIAL = ("<s>", "</s>", "<pad>", "<unk>", "<mask>", "＜s＞", "▁", "\n", "\t", "  ", "　")
WORDS = (
    "order", "Events", "결제", "모듈은", "주문했어요", "normalize_cart()", "C:\\a", "\ufb01", "①", "한국", "漢字",
    "\U0001f600\U0001f468\u200d\U0001f469", "\u200b",
)  # fmt: skip


@pytest.fixture(scope="module")
def both() -> tuple[Tokenizer, Tokenizer]:
    """The library's tokenizer and the lean one, of the shipped model."""
    folder = models_root() / SHIPPED_MODEL
    lean = unigram_tokenizer.load(folder, load_tokenizer)
    assert lean is not None
    whole, special_ids = load_tokenizer(folder)
    assert lean[1] == special_ids
    return whole, lean[0]


def assert_same(both: tuple[Tokenizer, Tokenizer], text: str) -> None:
    whole, lean = (tokenizer.encode_batch([text])[0] for tokenizer in both)
    assert lean.ids == whole.ids, text
    assert lean.attention_mask == whole.attention_mask


def test_the_projects_own_texts(both: tuple[Tokenizer, Tokenizer]) -> None:
    data = [*(ROOT / "models" / "calibration").glob("*.jsonl"), ROOT / "tests" / "data" / "secrets_positive.jsonl"]
    lines = [line for path in data for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) > 500 and any("가" <= char <= "힣" for char in "".join(lines))
    for line in lines:
        assert_same(both, "passage: " + line)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(SPECIAL + WORDS), st.text(max_size=12)), max_size=30).map("".join))
def test_any_text(both: tuple[Tokenizer, Tokenizer], text: str) -> None:
    assert_same(both, text.encode("utf-8", "replace").decode("utf-8"))


@pytest.mark.parametrize("text", ["", " ", "a" * 16_384, "가" * 5_000, "단어 word " * 600, "𠀀" * 40 + "漢" * 40])
def test_long_and_empty_texts(both: tuple[Tokenizer, Tokenizer], text: str) -> None:
    assert_same(both, text)
    assert len(both[1].encode(text).ids) <= 512


@pytest.mark.parametrize("change", [{"type": "BPE"}, {"byte_fallback": True}, {"unk_id": None}])
def test_another_kind_of_tokenizer_is_left_to_the_library(tmp_path: Path, change: dict[str, object]) -> None:
    shutil.copytree(models_root() / SHIPPED_MODEL, tmp_path / "model", ignore=shutil.ignore_patterns("*.onnx"))
    path = tmp_path / "model" / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"].update(change)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert unigram_tokenizer.load(tmp_path / "model", load_tokenizer) is None
