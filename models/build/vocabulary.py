"""Cut the vocabulary to Korean and English and write the tokenizer files."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # ids 0 to 3
MASK = "<mask>"
SPACE = "▁"
CONTEXT = 512
Piece = tuple[str, float]


def kept_ids(pieces: list[Piece]) -> list[int]:
    """Return the ids of the pieces that are kept.

    Special pieces, single characters, and pieces of only ASCII, Hangul and symbols.
    """
    return [
        number
        for number, (text, _) in enumerate(pieces)
        if number < len(SPECIAL) or text == MASK or len(text) == 1 or all(map(_is_kept, text))
    ]


def write_tokenizer(pieces: list[Piece], unknown_id: int, charsmap: bytes, kept: list[int], folder: Path) -> None:
    """Write tokenizer.json and the three small files that fastembed reads beside it."""
    tokenizer = _whole_tokenizer(pieces, unknown_id, charsmap)
    content = json.loads(tokenizer.to_str())
    new_id = {old: new for new, old in enumerate(kept)}
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = [vocabulary[old] for old in kept]
    content["model"]["unk_id"] = new_id[unknown_id]
    for added in content["added_tokens"]:
        added["id"] = new_id[added["id"]]
    _write(folder / "tokenizer.json", content)
    _write(folder / "config.json", {"model_type": "bert", "hidden_size": 384, "pad_token_id": 1})
    limits = {"model_max_length": CONTEXT, "pad_token": "<pad>", "tokenizer_class": "XLMRobertaTokenizer"}
    _write(folder / "tokenizer_config.json", limits)
    names = {"bos": "<s>", "eos": "</s>", "unk": "<unk>", "pad": "<pad>", "cls": "<s>", "sep": "</s>", "mask": MASK}
    _write(folder / "special_tokens_map.json", {f"{name}_token": token for name, token in names.items()})


def _whole_tokenizer(pieces: list[Piece], unknown_id: int, charsmap: bytes) -> Tokenizer:
    named = [(text or f"<empty{number}>", score) for number, (text, score) in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram(named, unk_id=unknown_id, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_special_tokens([AddedToken(MASK, special=True, lstrip=True, normalized=False)])
    return tokenizer


def _is_kept(char: str) -> bool:
    code = ord(char)
    if code < 0x80 or char == SPACE:
        return True
    if 0xAC00 <= code <= 0xD7A3 or 0x1100 <= code <= 0x11FF or 0x3130 <= code <= 0x318F:  # Hangul
        return True
    if 0x80 <= code < 0x250 or 0x3040 <= code < 0x3100:  # accented Latin; kana
        return False
    if 0x4E00 <= code < 0xA000 or 0x3400 <= code < 0x4DC0 or code >= 0x20000:  # Han
        return False
    return unicodedata.category(char)[0] in "SPNZ"


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
