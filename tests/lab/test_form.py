"""specimen.yaml and the files around it: what is read off names, and what is refused, with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix.lab.specimen import SpecimenError, UnknownSpecimenError, find_folder, load, load_chosen

if TYPE_CHECKING:
    from pathlib import Path


def specimen(folder: Path, form: str = "", **files: str) -> Path:
    """Write a specimen folder; a file `fail_py` is called fail.py."""
    folder.mkdir(parents=True)
    for name, text in (files or {"fail_py": "import torch\n"}).items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem.replace('__', '-')}.{suffix}").write_text(text, "utf-8")
    if form:
        (folder / "specimen.yaml").write_text(form, "utf-8")
    return folder


def test_names_and_imports_tell_what_is_needed(tmp_path: Path) -> None:
    read = load(
        specimen(
            tmp_path / "tensor.view-size+two",
            "modules: ['torch>=2.1']",
            fail_py="import os\nimport torch.nn\nimport helper\ntry:\n    import apex\nexcept ImportError:\n    pass\n",
            helper_py="from numpy import array\n",
            fixed__infer__batch_py="import torch\n",
        )
    )
    assert (read.name, read.id, read.program) == ("tensor.view-size+two", "tensor.view-size", "fail.py")
    assert read.modules == ("numpy", "torch>=2.1")
    assert [(proof.fix, proof.how) for proof in read.proofs] == [("infer-batch", "file")]
    assert read.warm
    assert not read.slow


@pytest.mark.parametrize(
    ("form", "warm", "slow"),
    [
        ("", True, False),
        ("ranks: 2", False, True),
        ("env: {A: b}", False, True),
        ("command: python fail.py", False, True),
        ("warm: false", False, True),
        ("warm: false\nslow: false", False, False),
    ],
)
def test_only_a_lone_program_is_run_warm_and_what_starts_torch_anew_is_left_to_ci(tmp_path: Path, form: str, warm: bool, slow: bool) -> None:
    read = load(specimen(tmp_path / "tensor.view-size", form))
    assert (read.warm, read.slow) == (warm, slow)


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("says: a\nlimt: 3\n", "specimen.yaml:2:1: Object contains unknown field `limt`"),
        ("says: a\nlimit: long\n", "specimen.yaml:2:1: Expected `float`, got `str`"),
        ("says: a\nranks: 99\n", "specimen.yaml:2:1"),
        ("says: [a\n", "not valid YAML"),
        ("modules:\n  - torch>=2.1\n  - 'torch >>> 2'\n", "specimen.yaml:3"),
        ("python: new\n", "specimen.yaml:1:1: Invalid specifier"),
        ("fixes: {other: {says: b}}", "neither a file fixed-other.*, nor `env` or `command`"),
        ("apply: [mean]\nunproven: {mean: why}", "mean is called unproven, and has a proof"),
    ],
)
def test_a_bad_form_is_refused_with_its_line(tmp_path: Path, form: str, says: str) -> None:
    with pytest.raises(SpecimenError) as error:
        load(specimen(tmp_path / "tensor.view-size", form))
    assert says in str(error.value)


def test_a_folder_must_be_a_specimen(tmp_path: Path) -> None:
    with pytest.raises(SpecimenError, match="called as its diagnosis"):
        load(specimen(tmp_path / "No Id"))
    with pytest.raises(SpecimenError, match="one program must fail"):
        load(specimen(tmp_path / "tensor.two", fail_py="", fail_sh=""))
    with pytest.raises(SpecimenError, match="has neither"):
        load(specimen(tmp_path / "tensor.none", other_py=""))
    with pytest.raises(SpecimenError, match="has a file as well"):
        load(specimen(tmp_path / "tensor.both", "apply: [mean]", fail_py="", fixed__mean_py=""))


def test_specimens_are_chosen_by_id_variant_and_family(tmp_path: Path) -> None:
    for name in ("tensor.view-size", "tensor.view-size+two", "train.nan-loss"):
        specimen(tmp_path / "tests" / "specimens" / name)
    folder = find_folder(tmp_path / "tests")
    assert folder is not None
    for asked, found in (
        ((), 3),
        (("tensor",), 2),
        (("tensor.*",), 2),
        (("tensor.view-size",), 2),
        (("tensor.view-size+two",), 1),
        (("train", "tensor"), 3),
    ):
        assert len(load_chosen(folder, asked)) == found, asked
    with pytest.raises(UnknownSpecimenError):
        load_chosen(folder, ("tensr",))
