"""RapidOCR as the recogniser: PP-OCR models that its package brings, run by ONNX Runtime on the CPU (XT-08).

The models are named by their files, so nothing is ever fetched: without a path the library would look for a newer
file on the network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from linkrag_dagster.extraction.ocr.lines import Corners, RecognisedLine

EXTRA = 'pip install "linkrag-dagster[ocr]"'
"""How to install what recognition needs."""

_DETECTION, _RECOGNITION = "*_det_*.onnx", "*_rec_*.onnx"
_RIM = 32
"""Pixels of paper around a picture, without which lines at its edges are overlooked."""
_DETECTED_AT = 1_280
"""Pixels of the longer side at which lines are looked for: enough for a page in small type, at half the time."""


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


@cache
def components() -> Mapping[str, str]:
    """What recognised characters depend on: versions of the library and its runtime, and a hash of the models.

    `rapidocr: none` where it is not installed: then installing it makes stale what had needed it.
    """
    if not is_installed():
        return {"rapidocr": "none"}
    state = hashlib.sha256()
    for path in _models():
        state.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        "rapidocr": version("rapidocr"),
        "rapidocr_models": state.hexdigest()[:32],
        "onnxruntime": _version("onnxruntime"),
    }


@cache
def recogniser() -> RapidOcr:
    """The recogniser, loaded once a process: it takes seconds and 200 MB.

    Raises:
        ImportError: when the extra is not installed.
    """
    detection, recognition = _models()
    library = import_module("rapidocr")
    engine = library.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            # The picture is taken as it is: whoever renders it decides on its size.
            "Global.use_preprocess_img": False,
            "Global.use_vertical_padding": False,
            "Det.model_path": str(detection),
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTED_AT,
            "Rec.model_path": str(recognition),
            # Documents are read side by side by worker processes: more threads cost more than they save.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    return RapidOcr(engine)


@dataclass(frozen=True, slots=True)
class RapidOcr:
    """The library behind `Recogniser`."""

    engine: Any

    def read(self, image: Any) -> list[RecognisedLine]:
        """The lines of an image, lines that run up or down turned by a quarter against the clock before.

        The steps of the library are called one by one, since its result leaves out the lines that it couldn't read.
        """
        paper = [int(value) for value in np.median(image.reshape(-1, 3), axis=0)]
        framed = np.empty((image.shape[0] + 2 * _RIM, image.shape[1] + 2 * _RIM, 3), np.uint8)
        framed[:] = paper
        framed[_RIM:-_RIM, _RIM:-_RIM] = image
        found, _, read, _ = self.engine.run_ocr_steps(framed, {})
        if found.boxes is None or read.txts is None:
            return []
        return [
            RecognisedLine(text.strip(), _corners(quad), float(score) if text.strip() else 0.0)
            for quad, text, score in zip(found.boxes.tolist(), read.txts, read.scores, strict=True)
        ]


def _corners(quad: Sequence[Sequence[float]]) -> Corners:
    upper_left, upper_right, lower_right, lower_left = ((x - _RIM, y - _RIM) for x, y in quad)
    return upper_left, upper_right, lower_right, lower_left


def _models() -> Sequence[Path]:
    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise ImportError(f"rapidocr is not installed: {EXTRA}")
    folder = Path(spec.origin).parent / "models"
    found: list[Path] = []
    for pattern in (_DETECTION, _RECOGNITION):
        # Several versions may lie there, where a person has put them: the last name is the newest.
        files = sorted(folder.glob(pattern))
        if not files:
            raise ImportError(f"rapidocr {_version('rapidocr')} has no model {pattern}: {EXTRA}")
        found.append(files[-1])
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
