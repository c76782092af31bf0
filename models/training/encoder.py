"""The encoder of models/build in PyTorch, for training.

Its lower layers are frozen; it is written back for the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

MODELS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(MODELS / "build"))

from source_weights import Floats, Layer, Quantized, Source  # noqa: E402
from vocabulary import kept_ids  # noqa: E402

PAD = 1
END = 2


@dataclass(frozen=True)
class Dense:
    """A trained matrix, in the place of a Quantized one.

    values: (rows, columns).
    """

    values: Floats

    def floats(self) -> Floats:
        return self.values


class TransformerLayer(nn.Module):
    """One layer, as onnx_graph builds it.

    (batch, length, width) and a mask (batch, length) in, the same shape out.
    """

    def __init__(self, layer: Layer, heads: int, epsilon: float) -> None:
        super().__init__()
        self.heads = heads
        self.linear = nn.ModuleDict({name: _linear(*pair) for name, pair in layer.linear.items()})
        self.norms = nn.ModuleDict({name: _norm(*pair, epsilon) for name, pair in layer.norms.items()})

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = hidden.shape
        query, key, value = (
            self.linear[name](hidden).view(batch, length, self.heads, -1).transpose(1, 2) for name in "qkv"
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        joined = self.linear["ao"](attended.transpose(1, 2).reshape(hidden.shape))
        hidden = self.norms["aln"](hidden + joined)
        inner = functional.gelu(self.linear["fi"](hidden))
        return self.norms["oln"](hidden + self.linear["fo"](inner))

    def trained(self) -> Layer:
        """Its weights as models/build wants them."""
        linear = {
            name: (Dense(one.weight.detach().numpy()), one.bias.detach().numpy()) for name, one in self.linear.items()
        }
        norms = {name: (one.weight.detach().numpy(), one.bias.detach().numpy()) for name, one in self.norms.items()}
        return Layer(linear, norms)  # type: ignore[arg-type]  # Dense has all that the graph asks of Quantized


@dataclass(frozen=True)
class Lower:
    """The frozen half's output for one text.

    hidden: (length, width); vector: the output of the whole untrained model.
    """

    hidden: Tensor
    vector: Tensor


class Encoder:
    """e5-small whose layers from `frozen` on are trained.

    The rest is computed once for each text and kept.
    """

    def __init__(self, source: Source, tokenizer: Path, frozen: int, max_tokens: int) -> None:
        kept = kept_ids(source.pieces)
        self._source, self._max_tokens = source, max_tokens
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._words = torch.tensor(source.words.rows(kept).floats())
        self._positions = torch.tensor(source.positions + source.types[0])
        self._norm = _norm(*source.norm, source.epsilon).requires_grad_(False)

        def stack(first: int, end: int) -> nn.ModuleList:
            chosen = source.layers[first:end]
            return nn.ModuleList(TransformerLayer(layer, source.heads, source.epsilon) for layer in chosen)

        self._lower = stack(0, frozen).requires_grad_(False)
        self._untrained = stack(frozen, len(source.layers)).requires_grad_(False)
        self.upper = stack(frozen, len(source.layers))
        self._known: dict[str, Lower] = {}

    @torch.no_grad()
    def prepare(self, texts: Sequence[str], batch_size: int = 32) -> None:
        """Run the frozen half on texts (with their prefixes)."""
        fresh = sorted(set(texts) - self._known.keys(), key=len)
        for first in range(0, len(fresh), batch_size):
            batch = fresh[first : first + batch_size]
            ids = [self._ids(text) for text in batch]
            hidden, mask = self._lower_half(ids)
            vectors = self._pooled(self._untrained, hidden, mask)
            for row, text in enumerate(batch):
                self._known[text] = Lower(hidden[row, : len(ids[row])].clone(), vectors[row].clone())

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors of prepared texts by the layers in training, (texts, width)."""
        rows = [self._known[text].hidden for text in texts]
        hidden = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        mask = torch.arange(hidden.shape[1])[None, :] < lengths[:, None]
        return self._pooled(self.upper, hidden, mask)

    def untrained(self, texts: Sequence[str]) -> Tensor:
        """Return the untrained model's vectors of prepared texts.

        (texts, width).
        """
        return torch.stack([self._known[text].vector for text in texts])

    def trained_source(self) -> Source:
        """Return the source with the trained layers in it.

        models/build writes a graph of it.
        """
        layers = list(self._source.layers)
        layers[len(self._lower) :] = [layer.trained() for layer in self.upper]
        return replace(self._source, layers=layers)

    def _ids(self, text: str) -> list[int]:
        ids = self._tokenizer.encode(text).ids
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], END]

    def _lower_half(self, ids: list[list[int]]) -> tuple[Tensor, Tensor]:
        padded = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in ids], batch_first=True, padding_value=PAD)
        lengths = torch.tensor([len(row) for row in ids])
        mask = torch.arange(padded.shape[1])[None, :] < lengths[:, None]
        hidden = self._norm(self._words[padded] + self._positions[: padded.shape[1]])
        for layer in self._lower:
            hidden = layer(hidden, mask)
        return hidden, mask

    @staticmethod
    def _pooled(layers: nn.ModuleList, hidden: Tensor, mask: Tensor) -> Tensor:
        for layer in layers:
            hidden = layer(hidden, mask)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return functional.normalize(mean, dim=-1)


def _linear(weights: Quantized, bias: Floats) -> nn.Linear:
    values = weights.floats()
    made = nn.Linear(values.shape[1], values.shape[0])
    made.weight.data = torch.tensor(values)
    made.bias.data = torch.tensor(np.array(bias))
    return made


def _norm(scale: Floats, shift: Floats, epsilon: float) -> nn.LayerNorm:
    made = nn.LayerNorm(len(scale), eps=epsilon)
    made.weight.data, made.bias.data = torch.tensor(np.array(scale)), torch.tensor(np.array(shift))
    return made
