"""aifix and torch's own analyzer read the same dumps: real ones of gloo ranks, and NCCL's layout made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.flight_recorder.parts import CASES

from aifix.flight_recorder import flight

if TYPE_CHECKING:
    from tests.flight_recorder.conftest import WithTorch

    from aifix.flight_recorder.verdict import Flight

KINDS = {
    "type": "COLLECTIVE_TYPE_MISMATCH",
    "size": "SIZE_OR_SYNTAX_MISMATCH",
    "dtype": "COLLECTIVE_DTYPE_MISMATCH",
    "state": "COLLECTIVE_STATE_MISMATCH",
}
REAL = ("healthy", "behind", "other_type", "size", "dtype", "groups", "kinds")
OURS_ALONE = {"all-gather-sizes": "its list of gathers says all_gather_base where NCCL records _all_gather_base, so sizes that do not fit pass"}


def first_complaint(said: dict[str, Any]) -> dict[str, Any] | None:
    return next((one for one in said["collectives"] if not one["passed"] or one["missing"]), None)


def agree(found: Flight, complaint: dict[str, Any] | None) -> None:
    failures = [finding for finding in found.findings if finding.failed]
    if complaint is None:
        assert not failures
        return
    first = failures[0]
    assert (first.group.name, first.sequence) == (complaint["group"], complaint["sequence"])
    if complaint["missing"]:
        assert first.kind == "not-joined"
        assert list(first.culprits) == complaint["missing"]
    else:
        assert {KINDS[first.kind]} == set(complaint["wrong"].values())
        wrong = {int(rank) for rank in complaint["wrong"]}
        # torch blames whoever differs from the first rank that it reads; aifix whoever differs from most.
        assert set(first.culprits) in (wrong, set(first.group.members) - wrong, set())


@pytest.mark.slow
class TestSameVerdict:
    @pytest.mark.parametrize("case", REAL)
    def test_on_dumps_of_real_gloo_ranks(self, case: str, with_torch: WithTorch) -> None:
        agree(flight(with_torch.folder / "named" / case), first_complaint(with_torch.says[f"named/{case}"]))

    @pytest.mark.parametrize("case", sorted(CASES.keys() - OURS_ALONE.keys()))
    def test_on_the_layout_of_nccl(self, case: str, with_torch: WithTorch) -> None:
        agree(flight(with_torch.folder / "made" / case), first_complaint(with_torch.says[f"made/{case}"]))


@pytest.mark.slow
class TestWhereTorchStops:
    @pytest.mark.parametrize("case", REAL)
    def test_gloo_groups_without_names_are_read_all_the_same(self, case: str, with_torch: WithTorch) -> None:
        assert "KeyError" in with_torch.says[f"raw/{case}"]["stopped"]
        named, raw = (flight(with_torch.folder / kind / case) for kind in ("named", "raw"))
        assert [(one.kind, one.sequence, one.culprits) for one in raw.findings] == [(one.kind, one.sequence, one.culprits) for one in named.findings]

    @pytest.mark.parametrize("case", REAL)
    def test_json_dumps_say_the_same(self, case: str, with_torch: WithTorch) -> None:
        raw, as_json = (flight(with_torch.folder / "raw" / name) for name in (case, f"{case}-json"))
        assert [(one.kind, one.sequence, one.culprits) for one in raw.findings] == [
            (one.kind, one.sequence, one.culprits) for one in as_json.findings
        ]

    @pytest.mark.parametrize("case", OURS_ALONE)
    def test_sizes_that_cannot_fit_are_seen(self, case: str, with_torch: WithTorch) -> None:
        assert first_complaint(with_torch.says[f"made/{case}"]) is None
        assert flight(with_torch.folder / "made" / case).findings[0].kind == "size"


@pytest.mark.slow
def test_the_line_of_the_program_is_named(with_torch: WithTorch) -> None:
    found = flight(with_torch.folder / "raw" / "other_type")
    side = next(side for side in found.findings[0].sides if side.rank == 1)
    assert side.call is not None
    assert [frame.function for frame in side.call.frames if frame.user][:2] == ["late", "other_type"]
    assert found.findings[0].parting is not None
    location = found.diagnoses[0].location
    assert location is not None
    assert location.file.endswith("with_torch.py")
