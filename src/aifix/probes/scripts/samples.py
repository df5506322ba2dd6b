"""Read a dataset's samples: labels out of range, unequal shapes, nan and inf, unreadable ones, pickling, worker start."""

from __future__ import annotations

import csv
import importlib
import math
import os
import pickle
import sys
import time
from typing import Any

from _protocol import Refusal, Request, build, main, place, say, sentence, stage

SHOWN = 20
"""Bad samples that are listed of each kind."""
IMAGES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff")
LABELS = ("label", "labels", "target", "class", "y", "category")


class Tally:
    """Bad samples by kind."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}
        self.counts: dict[str, int] = {}

    def add(self, kind: str, index: Any, detail: str) -> None:
        """Note one bad sample."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        listed = self.found.setdefault(kind, [])
        if len(listed) < SHOWN:
            listed.append({"index": index, "detail": detail})


def samples(request: Request) -> None:
    """Look at what was given: a folder of images, a csv file, or a factory."""
    what = str(request["dataset"])
    classes = request.get("classes")
    until = time.monotonic() + 0.6 * float(request["limit"])
    tally = Tally()
    if os.path.isdir(what):
        read = _images(what, tally, int(request["samples"]), until)
    elif what.lower().endswith((".csv", ".tsv")):
        read = _csv(what, tally, classes, int(request["samples"]))
    else:
        stage(f"build the dataset {what}")
        dataset = build(what)
        read = _dataset(dataset, tally, classes, int(request["samples"]), until)
        say(bad=tally.found, counts=tally.counts, **read)
        _pickling(dataset, tally)
        _worker(dataset, tally, what)
    say(bad=tally.found, counts=tally.counts, done=True, **read)


def _dataset(dataset: Any, tally: Tally, classes: Any, most: int, until: float) -> dict[str, Any]:
    """Read samples by index (or in order), and look at each."""
    length = len(dataset) if hasattr(dataset, "__len__") else None
    if classes is None:
        named = getattr(dataset, "num_classes", None) or getattr(dataset, "n_classes", None)
        listed = getattr(dataset, "classes", None)
        classes = named if isinstance(named, int) else len(listed) if isinstance(listed, (list, tuple)) else None
    shapes: dict[str, list[int]] = {}
    labels: list[tuple[int, Any]] = []
    read = 0
    iterator = None if hasattr(dataset, "__getitem__") and length is not None else iter(dataset)
    total = most if length is None else min(length, most)
    stage("read samples")
    for index in range(total):
        if time.monotonic() > until:
            break
        try:
            sample = dataset[index] if iterator is None else next(iterator)
        except StopIteration:
            break
        except Exception as error:
            tally.add("unreadable", index, f"{sentence(error)} at {place(error)}")
            continue
        read += 1
        data, label = _parts(sample)
        if label is not None:
            labels.append((index, label))
        shape = _shape(data)
        if shape is not None:
            shapes.setdefault(shape, []).append(index)
        trouble = _nonfinite(data)
        if trouble:
            tally.add("nonfinite", index, trouble)
        if sample is None:
            tally.add("none", index, "the sample is None")
    if len(shapes) > 1:
        usual = max(shapes, key=lambda shape: len(shapes[shape]))
        for shape, indices in shapes.items():
            if shape != usual:
                for index in indices:
                    tally.add("shape", index, f"shape {shape} where most have {usual}")
    _label_range(labels, classes, tally)
    answer: dict[str, Any] = {"length": length, "read": read, "classes": classes, "shapes": {shape: len(found) for shape, found in shapes.items()}}
    numbers = [label for _, label in labels]
    if numbers:
        answer["labels"] = {"least": min(numbers), "most": max(numbers), "different": len(set(numbers))}
    return answer


def _label_range(labels: list[tuple[Any, Any]], classes: Any, tally: Tally) -> None:
    for index, label in labels:
        if label != int(label):
            tally.add("label", index, f"label {label} is no whole number")
        elif label < 0 and label != -100:
            tally.add("label", index, f"label {int(label)} is negative (only -100 is ignored by cross_entropy)")
        elif classes is not None and label >= classes:
            tally.add("label", index, f"label {int(label)} with {classes} classes: the largest is {classes - 1}")


def _parts(sample: Any) -> tuple[Any, float | None]:
    """Split a sample into its data and its class label, where it has one."""
    if isinstance(sample, dict):
        label = next((sample[name] for name in LABELS if name in sample), None)
        data = next((item for name, item in sample.items() if name not in LABELS and _shape(item) is not None), None)
        return data, _number(label)
    if isinstance(sample, (tuple, list)) and len(sample) >= 2:
        return sample[0], _number(sample[-1])
    return sample, None


def _number(label: Any) -> float | None:
    """Give a class label as a number; None for what is no single number."""
    if isinstance(label, bool) or label is None:
        return None
    if isinstance(label, int):
        return label
    if hasattr(label, "numel") and label.numel() == 1 and not label.is_floating_point():
        return int(label.item())
    if hasattr(label, "dtype") and hasattr(label, "item") and getattr(label, "size", 0) == 1 and getattr(label.dtype, "kind", "") in "iu":
        return int(label.item())
    return None


def _shape(data: Any) -> str | None:
    shape = getattr(data, "shape", None)
    if shape is not None:
        return "x".join(str(part) for part in shape) or "scalar"
    if hasattr(data, "size") and hasattr(data, "mode"):  # a PIL image
        return "{} {}x{}".format(data.mode, *data.size)
    return None


def _nonfinite(data: Any) -> str:
    """Say how many values of a sample are nan or inf."""
    if isinstance(data, float):
        return f"the value is {data}" if not math.isfinite(data) else ""
    if hasattr(data, "is_floating_point"):
        if not data.is_floating_point():
            return ""
        bad = int((~data.isfinite()).sum())
        return f"{bad} of {data.numel()} values are nan or inf" if bad else ""
    if getattr(getattr(data, "dtype", None), "kind", "") == "f":
        numpy = sys.modules["numpy"]
        bad = int((~numpy.isfinite(data)).sum())
        return f"{bad} of {data.size} values are nan or inf" if bad else ""
    return ""


def _pickling(dataset: Any, tally: Tally) -> None:
    stage("pickle the dataset, as spawned workers do")
    try:
        size = len(pickle.dumps(dataset))
        pickled = pickle.loads(pickle.dumps(dataset)) if size < 64 << 20 else dataset
        del pickled
        say(pickled_bytes=size)
    except Exception as error:
        tally.add("pickle", None, sentence(error))


def _worker(dataset: Any, tally: Tally, what: str) -> None:
    """Start one spawned worker of torch's DataLoader and take a batch."""
    torch = sys.modules.get("torch")
    if torch is None or "pickle" in tally.counts or not what.rpartition(":")[0] or what.rpartition(":")[0].endswith(".py"):
        return
    stage("start a worker by spawn and take one batch")
    started = time.monotonic()
    try:
        loader = torch.utils.data.DataLoader(dataset, batch_size=1, num_workers=1, multiprocessing_context="spawn", timeout=60)
        next(iter(loader))
        say(worker_seconds=round(time.monotonic() - started, 2))
    except Exception as error:
        tally.add("worker", None, sentence(error)[-400:])


def _csv(path: str, tally: Tally, classes: Any, most: int) -> dict[str, Any]:
    stage(f"read {path}")
    if not os.path.exists(path):
        raise Refusal(f"there is no file {path}")
    labels: list[tuple[Any, Any]] = []
    read, column, width = 0, None, 0
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        reader = csv.reader(stream, delimiter="\t" if path.endswith(".tsv") else ",")
        header = next(reader, [])
        width = len(header)
        names = [name.strip().lower() for name in header]
        column = next((names.index(name) for name in LABELS if name in names), width - 1)
        for number, row in enumerate(reader):
            if read >= most:
                break
            read += 1
            if len(row) != width:
                tally.add("fields", number, f"line {reader.line_num}: {len(row)} fields where the header has {width}")
                continue
            empty = [header[at] for at, cell in enumerate(row) if cell.strip().lower() in {"", "nan", "inf", "-inf", "null", "none"}]
            if empty:
                tally.add("nonfinite", number, "line {}: no value in {}".format(reader.line_num, ", ".join(empty[:4])))
            try:
                labels.append((number, float(row[column])))
            except (ValueError, IndexError):
                continue
    if len(labels) * 2 < read:
        labels = []  # labels that are words: their range is no question
    labels = [(index, label) for index, label in labels if math.isfinite(label)]
    if any(label == int(label) for _, label in labels):
        _label_range(labels, classes, tally)
    answer: dict[str, Any] = {"read": read, "classes": classes, "label_column": header[column] if header else ""}
    if labels:
        answer["labels"] = {"least": min(label for _, label in labels), "most": max(label for _, label in labels)}
    return answer


def _pillow() -> Any:
    """Give Pillow's decoder; None where it is not installed."""
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        return None


def _images(folder: str, tally: Tally, most: int, until: float) -> dict[str, Any]:
    stage(f"read the images of {folder}")
    decoder = _pillow()
    read = 0
    modes: dict[str, int] = {}
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.lower().endswith(IMAGES) or read >= most or time.monotonic() > until:
                continue
            path = os.path.join(at, name)
            read += 1
            trouble = ""
            if decoder is None:
                trouble = _header(path)
            else:
                try:
                    with decoder.open(path) as picture:
                        picture.load()
                        modes[picture.mode] = modes.get(picture.mode, 0) + 1
                except Exception as error:
                    trouble = sentence(error)
            if trouble:
                tally.add("unreadable", os.path.relpath(path, folder), trouble)
    if not read:
        raise Refusal(f"there is no image in {folder}")
    return {"read": read, "modes": modes, "decoder": "Pillow" if decoder is not None else "file marks only: Pillow is not installed"}


def _header(path: str) -> str:
    """Look at an image's first and last bytes, where no decoder is installed."""
    with open(path, "rb") as stream:
        head = stream.read(64)
        stream.seek(0, os.SEEK_END)
        size = stream.tell()
        stream.seek(max(0, size - 64))
        tail = stream.read()
    if not size:
        return "the file is empty"
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not an image"
    for start, end in ((b"\xff\xd8\xff", b"\xff\xd9"), (b"\x89PNG", b"IEND"), (b"GIF8", b";")):
        if head.startswith(start):
            return "" if end in tail else "truncated: its end mark is missing"
    return "" if head[:4] == b"RIFF" or head[:2] in (b"BM", b"II", b"MM") else "no known image format"


if __name__ == "__main__":
    main(samples)
