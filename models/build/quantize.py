"""Quantize the encoder's matrices to 8 bits, with smoothed inputs.

Also an already quantized encoder anew.

    python models/build/quantize.py OLD.onnx NEW.onnx [--smoothed]

takes the matrices of an 8-bit model back to floats and does it again. --smoothed: it was smoothed before, so that its
matrices come out number by number as they were, and only the operators around them may change.

A few numbers of each input are ten times as large as the rest, and one scale for the whole input leaves the rest with
few steps. Dividing each column by a number of its own, and multiplying the matrix's row by it, takes the outliers to
the weights, which have a scale for each column: SmoothQuant (Xiao et al. 2023). Nearly all of the loss of 8 bits was at
the two matrices of the feed-forward layers (models/README.md).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from quicker_graph import quickened
from tokenizers import Tokenizer

MODELS = Path(__file__).resolve().parents[1]
TURNS = MODELS / "training" / "turns.jsonl"
EVERY = 8  # of them, with all that is asked of it
SMOOTHED = ("fi", "fo")  # the matrices of the feed-forward layers, by the ends of their outputs' names
TO_WEIGHTS = 0.75  # of an outlier's size: 0.5, 0.65, 0.85 and 1 left more of the error
MAX_TOKENS = 128
LEAST = 1e-6
Floats = NDArray[np.float32]


def write_quantized(model: onnx.ModelProto, tokenizer: Path, path: Path) -> None:
    """Smooth a float model in place and write it with 8 bits.

    It is smoothed by the inputs of its matrices on turns and questions.
    """
    wide = path.with_name("unquantized.onnx")
    _smooth(model, _largest(model, tokenizer, wide))
    write_smoothed(model, path)


def write_smoothed(model: onnx.ModelProto, path: Path) -> None:
    """Write a float model with 8 bits and quick operators; changes it."""
    wide = path.with_name("unquantized.onnx")
    onnx.save(quickened(model), wide)
    quantize_dynamic(
        wide,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )
    wide.unlink()


def _largest(model: onnx.ModelProto, tokenizer: Path, wide: Path) -> dict[str, Floats]:
    """Return the largest size of each input column of smoothed matrices.

    By the input's name.
    """
    inputs = sorted({node.input[0] for node in _to_smooth(model)})
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs)
    onnx.save(watched, wide)
    session = onnxruntime.InferenceSession(str(wide), providers=["CPUExecutionProvider"])
    splits = Tokenizer.from_file(str(tokenizer))
    largest: dict[str, Floats] = {}
    for line in TURNS.read_text(encoding="utf-8").splitlines()[::EVERY]:
        turn = json.loads(line)
        said = turn["passage"].replace("User: ", "").replace("Assistant: ", "")
        for text in ("passage: " + said, *("query: " + question for question in turn["q"])):
            ids = np.array([splits.encode(text).ids[:MAX_TOKENS]], np.int64)
            found = session.run(inputs, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            for name, rows in zip(inputs, found, strict=True):
                here = np.abs(rows[0]).max(axis=0)
                largest[name] = np.maximum(largest[name], here) if name in largest else here
    return largest


def _smooth(model: onnx.ModelProto, largest: dict[str, Floats]) -> None:
    constants = {one.name: one for one in model.graph.initializer}
    chosen = {node.output[0] for node in _to_smooth(model)}
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.output[0] in chosen:
            value, weights = node.input
            matrix = numpy_helper.to_array(constants[weights])
            rows = np.maximum(np.abs(matrix).max(axis=1), LEAST)
            scale = np.maximum(largest[value], LEAST) ** TO_WEIGHTS / rows ** (1 - TO_WEIGHTS)
            scale = (scale / np.exp(np.log(scale).mean())).astype(np.float32)
            constants[weights].CopyFrom(numpy_helper.from_array(matrix * scale[:, None], weights))
            shrink, smoothed = node.output[0] + "_shrink", node.output[0] + "_in"
            model.graph.initializer.append(numpy_helper.from_array(1 / scale, shrink))
            nodes.append(helper.make_node("Mul", [value, shrink], [smoothed]))
            node.input[0] = smoothed
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _to_smooth(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [one for one in model.graph.node if one.op_type == "MatMul" and one.output[0].split("_")[-1] in SMOOTHED]


def in_floats(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model that write_quantized wrote, or its like, with matrices of floats."""
    constants = {one.name: one for one in model.graph.initializer}
    made = {output: node for node in model.graph.node for output in node.output}
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    widened: dict[str, onnx.NodeProto] = {}  # by the output of the last node that it replaces
    gone: set[str] = set()
    for node in [one for one in model.graph.node if one.op_type == "MatMulInteger"]:
        value, weights, _, zero = node.input
        (cast,) = users[node.output[0]]
        (product,) = users[cast.output[0]]
        scales = made[next(name for name in product.input if name != cast.output[0])]
        scale = numpy_helper.to_array(constants[next(name for name in scales.input if name in constants)])
        steps = numpy_helper.to_array(constants[weights]).astype(np.int32) - numpy_helper.to_array(constants[zero])
        name = weights.removesuffix("_quantized")
        model.graph.initializer.append(numpy_helper.from_array((steps * scale).astype(np.float32), name))
        widened[product.output[0]] = helper.make_node("MatMul", [made[value].input[0], name], [product.output[0]])
        gone.update(one.output[0] for one in (made[value], node, cast, scales))
    nodes = [widened.get(one.output[0], one) for one in model.graph.node if one.output[0] not in gone]
    used = {name for node in nodes for name in node.input}
    kept = [one for one in model.graph.initializer if one.name in used]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(kept)
    return model


def main(arguments: Sequence[str] | None = None) -> None:
    """Quantize anew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--smoothed", action="store_true")
    chosen = parser.parse_args(arguments)
    model = in_floats(onnx.load(chosen.old))
    if chosen.smoothed:
        write_smoothed(model, chosen.new)
    else:
        write_quantized(model, MODELS / "e5-small-ko-en-int8" / "tokenizer.json", chosen.new)


if __name__ == "__main__":
    main()
