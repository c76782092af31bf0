"""An embedding model's folder: its place, its checksums, its recipe."""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memlayer.edge.home import paths
from memlayer.errors import EmbedderError

SHIPPED_MODEL = "e5-small-ko-en-int8"
CHECKSUMS_FILE = "SHA256SUMS"
RECIPE_FILE = "memlayer.json"
_VERIFIED_FILE = "model-checksums.json"
_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_POOLINGS = ("mean", "cls", "last_token", "none")


@dataclass(frozen=True)
class Recipe:
    """The use of a model.

    model_file: relative to the folder. pooling: mean | cls | last_token | none.
    """

    name: str
    model_file: str
    pooling: str
    query_prefix: str
    passage_prefix: str


def models_root() -> Path:
    """Return the folder of the models that ship.

    It lies beside the package in a clone or plugin cache, inside it in a wheel.

    Raises EmbedderError when there is none.
    """
    package = Path(__file__).resolve().parents[2]
    for root in (package / "_models", package.parent / "models"):
        if (root / SHIPPED_MODEL).is_dir():
            return root
    raise EmbedderError(
        f"The embedding model {SHIPPED_MODEL} is not in this installation; reinstall memlayer, "
        "or set embedding.provider to none for search by words only."
    )


def find(model: str) -> Path | None:
    """Return a model's local folder; None where it names none."""
    if model == SHIPPED_MODEL:
        return models_root() / SHIPPED_MODEL
    path = Path(model).expanduser()
    if not path.is_absolute():
        return None
    if not path.is_dir():
        raise EmbedderError(f"The embedding model folder {path} does not exist; correct embedding.model.")
    return path


def read_recipe(folder: Path) -> Recipe:
    """Read the folder's memlayer.json, or guess from its files and name."""
    path = folder / RECIPE_FILE
    if not path.exists():
        return _guess_recipe(folder)
    data = read_json(path)
    try:
        recipe = Recipe(**{key: str(value) for key, value in data.items()})
    except TypeError as error:
        raise EmbedderError(f"{path} lacks a key or has an unknown one: {error}.") from error
    if recipe.pooling not in _POOLINGS:
        raise EmbedderError(f"{path}: pooling must be one of {', '.join(_POOLINGS)}, not {recipe.pooling!r}.")
    return recipe


def default_prefixes(name: str) -> tuple[str, str]:
    """Return (query prefix, passage prefix) by name, as e5 was trained."""
    return ("query: ", "passage: ") if "e5" in name.lower().replace("_", "-").split("/")[-1].split("-") else ("", "")


def verify(folder: Path, cache_dir: Path) -> None:
    """Verify the checksums of the folder's SHA256SUMS, if it has that file.

    Hashing 48 MB takes 0.1 s or more, so a file that was sound is not read again while its size and time of change
    stay (remembered in cache_dir). Raises EmbedderError that names the file.
    """
    sums = folder / CHECKSUMS_FILE
    if not sums.exists():
        return
    for line in sums.read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        path = folder / name.strip()
        if not path.is_file():
            raise EmbedderError(f"{path} is missing; reinstall memlayer or fetch the model again.")
        if sha256(path, cache_dir) != expected:
            raise EmbedderError(
                f"{path} is damaged (its checksum differs); reinstall memlayer or fetch the model again."
            )


def sha256(path: Path, cache_dir: Path) -> str:
    """Return a file's hex digest, cached by path, size and mtime."""
    memo = cache_dir / _VERIFIED_FILE
    state = path.stat()
    key = f"{path.resolve()}|{state.st_size}|{state.st_mtime_ns}"
    known = paths.read_object(str(memo))
    if key in known:
        return str(known[key])
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    same_path = f"{path.resolve()}|"
    known = {old: value for old, value in known.items() if not old.startswith(same_path)}
    write_json(memo, {**known, key: digest})
    return digest


def read_json(path: Path) -> dict[str, object]:
    """Read the JSON object in a model's file. Raises EmbedderError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbedderError(f"{path} cannot be read: {error}.") from error
    if not isinstance(data, dict):
        raise EmbedderError(f"{path} does not hold a JSON object.")
    return data


def write_json(path: Path, data: object) -> None:
    """Replace a cache file in one step; ignore a read-only folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(temporary, path)
    except OSError:
        return


def _guess_recipe(folder: Path) -> Recipe:
    model_file = next((name for name in _MODEL_FILES if (folder / name).is_file()), "")
    if not model_file:
        raise EmbedderError(
            f"{folder} holds no {_MODEL_FILES[0]}; embedding.model must name a folder with an ONNX model."
        )
    query_prefix, passage_prefix = default_prefixes(folder.name)
    pooling = "mean"
    pooling_file = folder / "1_Pooling" / "config.json"  # written by sentence-transformers
    if pooling_file.exists() and read_json(pooling_file).get("pooling_mode_cls_token"):
        pooling = "cls"
    return Recipe(folder.name, model_file, pooling, query_prefix, passage_prefix)
