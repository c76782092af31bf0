"""Write the encoder as an ONNX graph.

With fused onnxruntime operators and matrices of 8 bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from quantize import write_quantized
from source_weights import BLOCK, Floats, Quantized, Source

FUSED = "com.microsoft"


class _Graph:
    """Nodes and initializers, in the order they are added.

    The file's bytes depend on it.
    """

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def matmul(self, value: str, weights: Quantized, output: str) -> str:
        return self.node("MatMul", [value, self.constant(output + "_w", weights.floats().T)], output)


def write_model(source: Source, words: Quantized, tokenizer: Path, path: Path) -> None:
    """Write model.onnx: inputs input_ids and attention_mask (int64, batch x length), output last_hidden_state.

    words: the embedding table of the vocabulary that is kept. tokenizer: tokenizer.json of that vocabulary.
    """
    write_quantized(_build(source, words), tokenizer, path)


def _build(source: Source, words: Quantized) -> onnx.ModelProto:
    graph = _Graph()
    _add_words(graph, words)
    hidden = _add_embeddings(graph, source)
    for number in range(len(source.layers)):
        hidden = _add_layer(graph, source, number, hidden)
    width = source.positions.shape[1]
    made = helper.make_graph(
        graph.nodes,
        "bert",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["b", "s", width])],
        graph.initializers,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)])
    model.ir_version = 10
    return model


def _add_words(graph: _Graph, words: Quantized) -> None:
    """Add the embedding table, which stays at 4 bits.

    onnxruntime looks rows up and widens only those.
    """
    signed = (words.nibbles.astype(np.int16) - 8) & 15
    tensor = TensorProto()
    tensor.name = "wemb"
    tensor.data_type = TensorProto.INT4
    tensor.dims.extend(words.nibbles.shape)
    tensor.raw_data = (signed[:, 0::2] | (signed[:, 1::2] << 4)).astype(np.uint8).tobytes()
    graph.initializers.append(tensor)
    scales = graph.constant("wemb_s", words.scales.astype(np.float16))
    graph.node(
        "GatherBlockQuantized",
        ["wemb", "input_ids", scales],
        "we16",
        FUSED,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    graph.node("Cast", ["we16"], "we", to=TensorProto.FLOAT)


def _add_embeddings(graph: _Graph, source: Source) -> str:
    """Add words, positions and the one token type.

    Also the mask in the type that attention wants.
    """
    positions: Floats = source.positions + source.types[0]
    graph.node("Shape", ["input_ids"], "sh")
    bounds = [
        graph.constant(name, np.array([value], np.int64)) for name, value in (("one", 1), ("two", 2), ("zero", 0))
    ]
    graph.node("Slice", ["sh", *bounds], "slen")
    graph.node("Slice", [graph.constant("pos", positions), "zero", "slen", "zero"], "ps")
    graph.node("Add", ["we", "ps"], "e0")
    scale, bias = source.norm
    graph.node(
        "LayerNormalization",
        ["e0", graph.constant("eg", scale), graph.constant("eb", bias)],
        "x0",
        axis=-1,
        epsilon=source.epsilon,
    )
    graph.node("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
    return "x0"


def _add_layer(graph: _Graph, source: Source, number: int, hidden: str) -> str:
    layer, name = source.layers[number], f"l{number}_"
    projected = [
        graph.matmul(hidden, layer.linear[key][0], name + long)
        for key, long in (("q", "query"), ("k", "key"), ("v", "value"))
    ]
    bias = graph.constant(name + "qkvb", np.concatenate([layer.linear[key][1] for key in ("q", "k", "v")]))
    graph.node("MultiHeadAttention", [*projected, bias, "mask32"], name + "ctx", FUSED, num_heads=source.heads)
    attended = graph.matmul(name + "ctx", layer.linear["ao"][0], name + "ao")
    scale, shift = layer.norms["aln"]
    constants = [
        graph.constant(name + "g1", scale),
        graph.constant(name + "b1", shift),
        graph.constant(name + "ob", layer.linear["ao"][1]),
    ]
    graph.node("SkipLayerNormalization", [attended, hidden, *constants], name + "h", FUSED, epsilon=source.epsilon)
    widened = graph.matmul(name + "h", layer.linear["fi"][0], name + "fi")
    graph.node("BiasGelu", [widened, graph.constant(name + "fib", layer.linear["fi"][1])], name + "g", FUSED)
    narrowed = graph.matmul(name + "g", layer.linear["fo"][0], name + "fo")
    scale, shift = layer.norms["oln"]
    constants = [
        graph.constant(name + "g2", scale),
        graph.constant(name + "b2", shift),
        graph.constant(name + "fob", layer.linear["fo"][1]),
    ]
    output = "last_hidden_state" if number == len(source.layers) - 1 else name + "x"
    graph.node("SkipLayerNormalization", [narrowed, name + "h", *constants], output, FUSED, epsilon=source.epsilon)
    return output
