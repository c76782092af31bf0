"""Model folders: finding, verifying, recipes, and error messages."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from memlayer.adapters.embedding import calibration, fastembed_embedder, model_folder
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL
from memlayer.errors import EmbedderError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small folder with one sound file and its checksum."""
    place = tmp_path / "모델 폴더"
    place.mkdir()
    (place / "model.onnx").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    (place / "SHA256SUMS").write_text(f"{digest}  model.onnx\n", encoding="utf-8")
    return place


def test_the_shipped_model_is_found_and_whole(tmp_path: Path) -> None:
    shipped = model_folder.find(SHIPPED_MODEL)
    assert shipped is not None
    model_folder.verify(shipped, tmp_path)
    names = {line.split("  ")[1] for line in (shipped / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    assert {"model.onnx", "tokenizer.json"} <= names


def test_a_catalogue_name_is_no_folder() -> None:
    assert model_folder.find("BAAI/bge-small-en-v1.5") is None


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="no-such does not exist"):
        model_folder.find(str(tmp_path / "no-such"))


def test_a_sound_file_passes_and_a_changed_one_is_named(folder: Path, tmp_path: Path) -> None:
    model_folder.verify(folder, tmp_path / "cache")
    (folder / "model.onnx").write_bytes(b"weightz")
    os.utime(folder / "model.onnx", ns=(1, 1))
    with pytest.raises(EmbedderError, match=r"model\.onnx is damaged"):
        model_folder.verify(folder, tmp_path / "cache")


def test_a_missing_file_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "model.onnx").unlink()
    with pytest.raises(EmbedderError, match=r"model\.onnx is missing"):
        model_folder.verify(folder, tmp_path)


def test_a_file_is_hashed_once_while_size_and_time_stay(folder: Path, tmp_path: Path) -> None:
    path = folder / "model.onnx"
    before = path.stat()
    first = model_folder.sha256(path, tmp_path / "cache")
    path.write_bytes(b"WEIGHTS")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert model_folder.sha256(path, tmp_path / "cache") == first
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert model_folder.sha256(path, tmp_path / "cache") == hashlib.sha256(b"WEIGHTS").hexdigest()


@pytest.mark.parametrize("spoiled", ["{", "[]", ""])
def test_a_spoiled_memory_of_checksums_is_made_again(folder: Path, tmp_path: Path, spoiled: str) -> None:
    (tmp_path / "model-checksums.json").write_text(spoiled, encoding="utf-8")
    model_folder.verify(folder, tmp_path)
    assert len(json.loads((tmp_path / "model-checksums.json").read_text(encoding="utf-8"))) == 1


def test_a_cache_that_cannot_be_written_is_no_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    model_folder.verify(folder, tmp_path / "file" / "cache")


def test_a_recipe_is_guessed_from_names_and_pooling(folder: Path) -> None:
    assert model_folder.read_recipe(folder).pooling == "mean"
    assert model_folder.read_recipe(folder).query_prefix == ""
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")
    e5 = folder.rename(folder.with_name("multilingual-e5-base"))
    recipe = model_folder.read_recipe(e5)
    assert (recipe.pooling, recipe.query_prefix, recipe.passage_prefix) == ("cls", "query: ", "passage: ")


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}', '{"surprise": 1}'])
def test_a_spoiled_recipe_is_an_embedder_error(folder: Path, text: str) -> None:
    (folder / "memlayer.json").write_text(text, encoding="utf-8")
    with pytest.raises(EmbedderError, match=r"memlayer\.json"):
        model_folder.read_recipe(folder)


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"holds no model\.onnx"):
        fastembed_embedder.load(str(tmp_path), tmp_path / "cache")


def test_a_file_that_is_no_model_is_one_line(folder: Path, tmp_path: Path) -> None:
    shipped = model_folder.models_root() / SHIPPED_MODEL
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json", "special_tokens_map.json"):
        shutil.copy(shipped / name, folder)
    with pytest.raises(EmbedderError, match="cannot be loaded") as caught:
        fastembed_embedder.load(str(folder), tmp_path / "cache")
    assert "\n" not in str(caught.value)


def test_unknown_name_error_lists_valid_names(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="neither e5-small-ko-en-int8, nor"):
        fastembed_embedder.load("somebody/한국어-모델", tmp_path)


def test_a_catalogue_model_offline_fails_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EmbedderError, match="HF_HUB_OFFLINE forbids"):
        fastembed_embedder.load("BAAI/bge-small-en-v1.5", tmp_path)


def test_foreign_folder_is_calibrated_once_like_the_shipped(tmp_path: Path) -> None:
    """Takes long: the model embeds all texts of the calibration."""
    shipped = model_folder.models_root() / SHIPPED_MODEL
    copy = tmp_path / "my-e5"
    copy.mkdir()
    for file in shipped.iterdir():
        if file.name not in ("calibration.json", "memlayer.json", "SHA256SUMS"):
            (copy / file.name).symlink_to(file)
    made = fastembed_embedder.load(str(copy), tmp_path / "cache")
    stored = list((tmp_path / "cache" / "calibration").glob("*/calibration.json"))
    assert len(stored) == 1
    ships = calibration.read(shipped)
    assert ships is not None
    # Products of 8 bits saturate on processors without instructions for them, so the cosines differ by that much.
    assert abs(made.calibration.low - ships.calibration.low) < 0.04
    assert abs(made.calibration.high - ships.calibration.high) < 0.04
    before = stored[0].stat().st_mtime_ns
    again = fastembed_embedder.load(str(copy), tmp_path / "cache")
    assert stored[0].stat().st_mtime_ns == before
    assert again.fingerprint == made.fingerprint


def test_another_centring_is_another_fingerprint(tmp_path: Path) -> None:
    shipped = model_folder.models_root() / SHIPPED_MODEL
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in shipped.iterdir():
        (copy / file.name).symlink_to(file)
    data = json.loads((shipped / "calibration.json").read_text(encoding="utf-8"))
    data["mean"][0] += 0.001
    (copy / "calibration.json").unlink()
    (copy / "calibration.json").write_text(json.dumps(data), encoding="utf-8")
    changed = fastembed_embedder.load(str(copy), tmp_path / "cache")
    assert changed.fingerprint != fastembed_embedder.load(SHIPPED_MODEL, tmp_path / "cache").fingerprint


@pytest.mark.parametrize("text", ["{}", '{"mean": [0.0], "axis": [], "low": 0.9, "high": 0.1}', "nonsense"])
def test_a_spoiled_calibration_is_an_embedder_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "calibration.json").write_text(text, encoding="utf-8")
    with pytest.raises(EmbedderError, match=r"calibration\.json"):
        calibration.read(tmp_path)
