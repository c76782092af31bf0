"""Embedder over fastembed: a shipped, local or catalogue model.

Measured with the shipped model on two cores (models/README.md): one onnxruntime thread answers a query in 8 to
10 ms. Two take 5 ms on an idle machine, but spin, burn three times the CPU and take 22 ms (worst 286 ms) beside
other work. Texts go through the model one at a time: batches of up to 32 bring no throughput here, cost up to
400 MB of memory, and with 8-bit dynamic quantization a text's vector would depend on its neighbours in the batch.
"""

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memlayer.adapters.embedding import calibration as calibrations
from memlayer.adapters.embedding import model_folder, unigram_tokenizer
from memlayer.adapters.embedding.calibration import CentredEmbedder, Centring, Matrix
from memlayer.adapters.embedding.model_folder import Recipe
from memlayer.adapters.search.project_rows import QueriesFirst
from memlayer.errors import EmbedderError
from memlayer.ports import Embedder, Vector

# Nothing leaves the machine: onnxruntime's Linux wheels report their use and keep a device id under ~/.cache unless
# this is set before they are loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.common.preprocessor_utils import load_tokenizer
from loguru import logger
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors

logger.disable("fastembed")  # it writes to stderr. Errors that matter come back as EmbedderError

PIPELINE_VERSION = 1  # raise it when the same text would get another vector
MAX_CHARS = 16_384  # no 512-token model reads further. Tokenising a megabyte would take seconds
THREADS = 1
ENABLE_CPU_MEM_ARENA = False
DOWNLOAD_DEADLINE_S = 900.0
_POOLING = {
    "mean": PoolingType.MEAN,
    "cls": PoolingType.CLS,
    "last_token": PoolingType.LAST_TOKEN,
    "none": PoolingType.DISABLED,
}
_ONNX_ERRORS: tuple[type[Exception], ...] = tuple(
    value for value in vars(onnx_errors).values() if isinstance(value, type) and issubclass(value, Exception)
)
_MODEL_ERRORS: tuple[type[Exception], ...] = (
    *_ONNX_ERRORS,
    OSError,
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    AssertionError,
)


class FastembedEmbedder(CentredEmbedder):
    """Unit vectors from a fastembed model, centred by its calibration. Thread-safe."""

    def __init__(self, model: TextEmbedding, recipe: Recipe, model_sha256: str, centring: Centring) -> None:
        """Raises EmbedderError when the centring is for vectors of another length."""
        super().__init__(_fingerprint(recipe, model_sha256, centring), centring)
        self._model = model
        self._recipe = recipe
        self._queries_first = QueriesFirst()
        width = _embed_raw(model, ["."]).shape[1]
        if width != self.dimensions:
            raise EmbedderError(
                f"The calibration of {recipe.name} is for {self.dimensions} dimensions, the model has {width}; "
                "remove the model's calibration.json."
            )

    def embed_query(self, text: str) -> Vector:
        """Embed a question or prompt. Raises EmbedderError."""
        self._queries_first.announce()
        return self._vectors([self._recipe.query_prefix + _clean(text)])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts, in their order. Raises EmbedderError.

        Somebody waits for the answer to a query and nobody for this: while one is being answered, it pauses.
        """
        made: list[Vector] = []
        for text in texts:
            self._queries_first.wait()
            made += self._vectors([self._recipe.passage_prefix + _clean(text)])
        return made

    def _vectors(self, prefixed: Sequence[str]) -> list[Vector]:
        if not prefixed:
            return []
        return self._centred(_embed_raw(self._model, prefixed))


def load(
    model: str, cache_dir: str | os.PathLike[str], *, download_deadline_s: float = DOWNLOAD_DEADLINE_S
) -> Embedder:
    """Load a model: shipped (name), local (absolute path), or from the catalogue.

    Local files never touch the network. A catalogue model comes from cache_dir or, unless HF_HUB_OFFLINE is set,
    from the hub within download_deadline_s. A model without a calibration of its own is calibrated on the shipped
    background corpus, once (10 s). Takes 0.5 s for the shipped model, so call it in a background thread.
    Raises EmbedderError: one line with the cause and the remedy.
    """
    cache = Path(cache_dir)
    folder = model_folder.find(model)
    if folder is None:
        return _load_from_catalogue(model, cache, download_deadline_s)
    model_folder.verify(folder, cache)
    recipe = model_folder.read_recipe(folder)
    digest = model_folder.sha256(folder / recipe.model_file, cache)
    with _as_embedder_error(f"The embedding model in {folder} cannot be loaded"):
        loaded = TextEmbedding(
            _register(folder, recipe),
            specific_model_path=str(folder),
            cache_dir=str(cache / "fastembed"),
            threads=THREADS,
            providers=["CPUExecutionProvider"],
            local_files_only=True,
            lazy_load=True,
            enable_cpu_mem_arena=ENABLE_CPU_MEM_ARENA,
        )
        inner: Any = loaded.model  # fastembed takes no tokenizer from outside. One that is there it leaves alone
        lean = unigram_tokenizer.load(folder, load_tokenizer)
        if lean is not None:
            inner.tokenizer, inner.special_token_to_id = lean
        inner.load_onnx_model()
    centring = calibrations.read(folder) or _calibrate(loaded, recipe, digest, cache)
    return FastembedEmbedder(loaded, recipe, digest, centring)


def _load_from_catalogue(model: str, cache: Path, deadline_s: float) -> Embedder:
    known = {str(entry["model"]).lower() for entry in TextEmbedding.list_supported_models()}
    if model.lower() not in known:
        raise EmbedderError(
            f"embedding.model {model!r} is neither {model_folder.SHIPPED_MODEL}, nor the absolute path of a "
            "folder, nor a model that fastembed knows."
        )
    try:
        loaded = _catalogue_model(model, cache, local_files_only=True)
    except EmbedderError as missing:
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
            raise EmbedderError(
                f"The embedding model {model} is not in {cache} and HF_HUB_OFFLINE forbids fetching it; unset it "
                f"or set embedding.model to {model_folder.SHIPPED_MODEL}."
            ) from missing
        loaded = _within(
            deadline_s,
            lambda: _catalogue_model(model, cache, local_files_only=False),
            f"Fetching the embedding model {model} took longer than {deadline_s:.0f} s; try again with a "
            f"better connection or set embedding.model to {model_folder.SHIPPED_MODEL}.",
        )
    inner: Any = loaded.model  # fastembed offers no public way to the files of a model it fetched
    query_prefix, passage_prefix = model_folder.default_prefixes(model)
    recipe = Recipe(model, inner.model_description.model_file, "", query_prefix, passage_prefix)
    digest = model_folder.sha256(Path(inner._model_dir) / recipe.model_file, cache)
    return FastembedEmbedder(loaded, recipe, digest, _calibrate(loaded, recipe, digest, cache))


def _catalogue_model(model: str, cache: Path, *, local_files_only: bool) -> TextEmbedding:
    with _as_embedder_error(
        f"The embedding model {model} is not in {cache} and could not be fetched from the hub; check the "
        f"connection or set embedding.model to {model_folder.SHIPPED_MODEL}"
    ):
        return TextEmbedding(
            model,
            cache_dir=str(cache / "fastembed"),
            threads=THREADS,
            providers=["CPUExecutionProvider"],
            local_files_only=local_files_only,
        )


def _register(folder: Path, recipe: Recipe) -> str:
    """Register the folder as a custom model, once; return its name."""
    place = hashlib.sha256(f"{folder.resolve()}|{recipe}".encode()).hexdigest()[:12]
    name = f"memlayer/{recipe.name}-{place}"
    if all(str(entry["model"]).lower() != name.lower() for entry in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=_POOLING[recipe.pooling],
            normalization=True,
            sources=ModelSource(hf=name),  # required, never used: specific_model_path goes first
            dim=1,  # required, never used: the real width is measured
            model_file=recipe.model_file,
        )
    return name


def _calibrate(model: TextEmbedding, recipe: Recipe, digest: str, cache: Path) -> Centring:
    place = cache / "calibration" / f"{_slug(recipe)}-{digest[:12]}"
    known = calibrations.read(place)
    if known is not None:
        return known
    made = calibrations.measure(
        lambda texts: _embed_raw(model, [recipe.query_prefix + text for text in texts]),
        lambda texts: _embed_raw(model, [recipe.passage_prefix + text for text in texts]),
        model_folder.models_root() / "calibration",
    )
    calibrations.write(place, made, f"measured on this machine for {recipe.name}")
    return made


def _embed_raw(model: TextEmbedding, prefixed: Sequence[str]) -> Matrix:
    """Return the model's own unit vectors, one row a text."""
    with _as_embedder_error("The embedding model failed on a text"):
        return np.asarray(list(model.embed(list(prefixed), batch_size=1)), dtype=np.float32)


def _clean(text: str) -> str:
    """Return a text as a tokenizer takes it: lone surrogates are `?`."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")


def _fingerprint(recipe: Recipe, model_sha256: str, centring: Centring) -> str:
    parts = [recipe.pooling, recipe.query_prefix, recipe.passage_prefix, centring.mean, centring.axis]
    how = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    return f"{recipe.name}/{model_sha256[:12]}/{PIPELINE_VERSION}-{how}"


def _slug(recipe: Recipe) -> str:
    return "".join(char if char.isalnum() else "-" for char in recipe.name)


def _within(deadline_s: float, make: Callable[[], TextEmbedding], late: str) -> TextEmbedding:
    """Run make in a thread: neither fastembed nor hub bounds downloads."""
    made: list[TextEmbedding] = []
    failed: list[EmbedderError] = []

    def run() -> None:
        try:
            made.append(make())
        except EmbedderError as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="embedder-download", daemon=True)
    thread.start()
    thread.join(deadline_s)
    if failed:
        raise failed[0]
    if not made:
        raise EmbedderError(late)
    return made[0]


@contextlib.contextmanager
def _as_embedder_error(failure: str) -> Iterator[None]:
    try:
        yield
    except _MODEL_ERRORS as error:
        reason = " ".join(str(error).split())[:200]
        raise EmbedderError(f"{failure} ({type(error).__name__}: {reason}).") from error
