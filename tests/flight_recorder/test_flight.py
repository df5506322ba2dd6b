from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.flight_recorder.parts import ALL, CASES, DP, GRID, GRID_2, HEALTHY, TP, call, dump, older, write

from aifix.flight_recorder import flight
from aifix.flight_recorder.dump import DumpError, parse
from aifix.flight_recorder.load import NoDumpsError

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("2.9", "2.7", "2.4", "2.2", "1.4", "1.1")


def started(name: str, sequence: int, **more: Any) -> dict[str, Any]:
    return call(name, sequence, state="started", **more)


class TestWhoIsToBlame:
    @pytest.mark.parametrize(
        ("case", "kind", "sequence", "culprits", "diagnosis"),
        [
            ("behind", "not-joined", 4, (1,), "dist.nccl-timeout"),
            ("type", "type", 4, (2,), "dist.desync"),
            ("size", "size", 4, (3,), "dist.desync"),
            ("dtype", "dtype", 4, (3,), "dist.desync"),
            ("state", "state", 4, (3,), "dist.nccl-timeout"),
            ("all-to-all", "size", 4, (), "dist.desync"),
            ("wrapped", "not-joined", 60, (2,), "dist.nccl-timeout"),
            ("skipped", "type", 3, (2,), "dist.desync"),
        ],
    )
    def test_in_each_case(self, case: str, kind: str, sequence: int, culprits: tuple[int, ...], *, diagnosis: str, tmp_path: Path) -> None:
        found = flight(write(tmp_path, CASES[case]))
        first = found.findings[0]
        assert (first.kind, first.sequence, first.culprits) == (kind, sequence, culprits)
        assert found.failed
        assert found.diagnoses[0].id == diagnosis
        assert found.diagnoses[0].fixes

    def test_nobody_when_all_is_well(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, CASES["healthy"]))
        assert not found.failed
        assert not found.findings

    def test_nobody_when_all_ranks_wait_in_the_same_call(self, tmp_path: Path) -> None:
        stuck = started("all_reduce", 4, retired=True)
        found = flight(write(tmp_path, {rank: dump([*HEALTHY, stuck], ALL) for rank in range(4)}))
        assert [(one.kind, one.culprits, one.failed) for one in found.findings] == [("stuck", (), True)]

    def test_work_in_flight_is_no_failure(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, {rank: dump([*HEALTHY, started("all_reduce", 4)], ALL) for rank in range(4)}))
        assert not found.failed
        assert "when the dumps were written" in found.findings[0].title

    def test_the_rank_without_a_dump(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, {rank: dump([*HEALTHY, started("all_reduce", 4)], ALL) for rank in (0, 1, 3)}))
        assert found.missing == (2,)
        assert (found.findings[0].kind, found.findings[0].culprits) == ("no-dump", (2,))

    def test_a_missing_dump_hides_no_disagreement(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, {rank: one for rank, one in CASES["type"].items() if rank != 0}))
        assert (found.findings[0].kind, found.findings[0].culprits) == ("type", (2,))

    def test_a_rank_that_recorded_nothing(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, {0: dump(HEALTHY, ALL), 1: dump([], ALL), 2: dump(HEALTHY, ALL), 3: dump(HEALTHY, ALL)}))
        assert (found.findings[0].kind, found.findings[0].sequence, found.findings[0].culprits) == ("not-joined", 1, (1,))

    def test_the_call_that_one_rank_left_out_is_found_before_it_shows(self, tmp_path: Path) -> None:
        parting = flight(write(tmp_path, CASES["skipped"])).findings[0].parting
        assert parting is not None
        assert parting.sequence == 2
        assert {path.ranks: path.frames[0].line for path in parting.paths} == {(0, 1, 3): 20, (2,): 30}


class TestGroups:
    def test_what_follows_from_another_group_hangs_below_it(self, tmp_path: Path) -> None:
        """Rank 1 never comes to tp, so rank 0 never comes to dp, where rank 2 waits."""
        dumps = {
            0: dump([call("all_reduce", 1), started("all_reduce", 1, group=TP, at=1)], GRID),
            1: dump([call("all_reduce", 1), call("all_reduce", 1, group=DP)], GRID | GRID_2 | {TP: (0, 1)}),
            2: dump([call("all_reduce", 1), started("all_reduce", 1, group=DP, at=2)], GRID_2 | GRID | {TP: (2, 3)}),
            3: dump([call("all_reduce", 1), call("all_reduce", 1, group=DP)], GRID_2),
        }
        dumps[1]["pg_config"]["2"]["ranks"] = "[1, 3]"
        found = flight(write(tmp_path, dumps))
        assert [(one.kind, one.group.description, one.culprits, one.caused_by) for one in found.findings] == [
            ("not-joined", "tp", (1,), None),
            ("not-joined", "dp", (0,), 0),
        ]
        assert "rank 0 waited in all_reduce 1" in found.findings[1].explanation
        assert found.diagnoses[1].caused_by == found.diagnoses[0].id

    def test_groups_of_one_name_and_other_members_are_told_apart(self, tmp_path: Path) -> None:
        dumps = {rank: dump([call("all_reduce", 1, group=TP, shape=(4 if rank < 2 else 8,))], GRID if rank < 2 else GRID_2) for rank in range(4)}
        found = flight(write(tmp_path, dumps))
        assert not found.findings
        assert sorted(group.members for group in found.groups) == [(0, 1), (2, 3)]


def peer(
    name: str, source: int, target: int, number: int, *, shape: tuple[int, ...] = (4,), state: str = "completed", line: int = 50
) -> dict[str, Any]:
    arrow = f"{source}->{target}" if name == "send" else f"{target}<-{source}"
    return {**call(name, number, shape=shape, state=state, point_to_point=number, line=line), "profiling_name": f"nccl:{name} {arrow}"}


class TestPeers:
    PAIR = {("0", "default_pg"): (0, 1)}  # noqa: RUF012 - a table

    @pytest.mark.parametrize(
        ("sends", "receives", "kind", "culprits"),
        [
            pytest.param([peer("send", 0, 1, 1)], [peer("recv", 0, 1, 1)], None, (), id="met"),
            pytest.param([peer("send", 0, 1, 1, state="started")], [], "unmatched", (1,), id="never received"),
            pytest.param([], [peer("recv", 0, 1, 1, state="started")], "unmatched", (0,), id="never sent"),
            pytest.param([peer("send", 0, 1, 1, shape=(5,))], [peer("recv", 0, 1, 1)], "peer-size", (), id="other size"),
            pytest.param(
                [peer("send", 0, 1, 1), peer("send", 0, 1, 2, state="started")], [peer("recv", 0, 1, 1)], "unmatched", (1,), id="one receive less"
            ),
        ],
    )
    def test_sends_meet_receives(self, sends: Any, receives: Any, kind: str | None, culprits: tuple[int, ...], tmp_path: Path) -> None:
        found = flight(write(tmp_path, {0: dump(sends, self.PAIR), 1: dump(receives, self.PAIR)}))
        assert [(one.kind, one.culprits) for one in found.findings] == ([(kind, culprits)] if kind else [])

    def test_a_ring_of_both_at_once_is_no_disagreement(self, tmp_path: Path) -> None:
        def ring(rank: int) -> list[dict[str, Any]]:
            calls = [peer("send", rank, (rank + 1) % 4, 1), peer("recv", (rank - 1) % 4, rank, 1)]
            return [*calls, {**call("coalesced", 1, point_to_point=1), "input_sizes": [], "output_sizes": []}]

        assert not flight(write(tmp_path, {rank: dump(ring(rank), ALL) for rank in range(4)})).findings

    def test_coalesced_collectives_are_compared_one_by_one(self, tmp_path: Path) -> None:
        def batch(second: int) -> list[dict[str, Any]]:
            parts = [
                {**call("all_gather_into_tensor_coalesced", 1, shape=(size,), out=(size * 4,)), "op_id": at} for at, size in enumerate((4, second))
            ]
            return [*parts, {**call("coalesced", 1), "op_id": 2}]

        assert not flight(write(tmp_path / "well", {rank: dump(batch(8), ALL) for rank in range(4)})).findings
        found = flight(write(tmp_path / "ill", {rank: dump(batch(6 if rank == 2 else 8), ALL) for rank in range(4)}))
        assert (found.findings[0].kind, found.findings[0].culprits) == ("size", (2,))


class TestLayouts:
    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("case", ["healthy", "behind", "type", "size", "state"])
    def test_of_every_version_say_the_same(self, case: str, version: str, tmp_path: Path) -> None:
        newest = flight(write(tmp_path / "new", CASES[case]))
        found = flight(write(tmp_path / "old", {rank: older(one, version) for rank, one in CASES[case].items()}))
        assert [(one.kind, one.sequence, one.culprits) for one in found.findings] == [
            (one.kind, one.sequence, one.culprits) for one in newest.findings
        ]
        assert {rank.version for rank in found.ranks} == {version}

    def test_a_list_of_entries_is_read_too(self, tmp_path: Path) -> None:
        found = flight(write(tmp_path, {rank: one["entries"] for rank, one in CASES["type"].items()}))
        assert (found.findings[0].kind, found.findings[0].culprits) == ("type", (2,))

    def test_only_unfinished_calls(self, tmp_path: Path) -> None:
        """TORCH_INCLUDE_ONLY_ACTIVE leaves out what was finished: a rank that finished a call has no entry of it, and did call it."""
        dumps = {rank: dump([*HEALTHY, started("all_reduce", 4), started("all_reduce", 5)], ALL) for rank in range(4)}
        dumps[1] = dump([*HEALTHY, call("all_reduce", 4), started("all_reduce", 5)], ALL)
        for one in dumps.values():
            one["entries"] = [entry for entry in one["entries"] if entry["state"] != "completed"]
        assert all(finding.kind != "not-joined" for finding in flight(write(tmp_path, dumps)).findings)

    def test_one_prefix_among_other_files(self, tmp_path: Path) -> None:
        write(tmp_path, CASES["type"])
        (tmp_path / "core.12345").write_bytes(b"\x7fELF")
        (tmp_path / "notes.txt").write_text("none")
        assert len(flight(tmp_path).ranks) == 4

    def test_named_files_and_a_named_prefix(self, tmp_path: Path) -> None:
        write(tmp_path, CASES["type"])
        assert [rank.rank for rank in flight(tmp_path / "nccl_trace_rank_0", tmp_path / "nccl_trace_rank_2").ranks] == [0, 2]
        with pytest.raises(NoDumpsError, match="--prefix"):
            flight(tmp_path, prefix="comm_lib_trace_rank_")


class TestHostileDumps:
    def test_code_is_refused_and_named_and_the_rest_is_read(self, tmp_path: Path) -> None:
        write(tmp_path, CASES["type"])
        (tmp_path / "nccl_trace_rank_0").write_bytes(b"cos\nsystem\n(S'echo gone'\ntR.")
        found = flight(tmp_path)
        assert [(rank.rank) for rank in found.ranks] == [1, 2, 3]
        assert "os.system" in found.skipped[0].why

    def test_one_stack_said_in_every_entry_costs_nothing(self, tmp_path: Path) -> None:
        frames = [{"name": "f", "filename": "a.py", "line": 1}] * 100_000
        entries = [{**call("all_reduce", number), "frames": frames} for number in range(1, 2000)]
        found = flight(write(tmp_path, {0: dump(entries, {("0", "default_pg"): (0,)})}))
        assert found.ranks[0].calls == 1999

    @given(
        data=st.recursive(
            st.none() | st.integers() | st.text(max_size=5) | st.floats() | st.booleans(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["entries", "pg_config", "pg_status", "0", "ranks", "name", "desc", "process_group", "profiling_name", "input_sizes"]
                    )
                    | st.text(max_size=3),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=30,
        )
    )
    @settings(deadline=None)
    def test_plain_data_of_any_shape_is_a_dump_or_is_none(self, data: Any) -> None:
        try:
            parse(data, rank=0, file="x")
        except DumpError as error:
            assert str(error)  # noqa: PT017 - either is fine


def aifix(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "FORCE_COLOR"}} | {"PYTHONUTF8": "1"} | more
    return subprocess.run([sys.executable, "-m", "aifix", *arguments], cwd=cwd, env=environ, capture_output=True, text=True, timeout=60, check=False)


class TestCommand:
    def test_says_what_happened(self, tmp_path: Path) -> None:
        write(tmp_path / "dumps", CASES["type"])
        done = aifix("flight", "dumps", cwd=tmp_path)
        assert done.returncode == 1
        assert "Rank 2 calls something else than all_reduce number 4 of group 0 (default_pg)" in done.stdout
        assert "at /home/user/train.py:30 in step" in done.stdout
        assert "dist.desync" in done.stdout
        assert "Call every collective on every rank" in done.stdout

    def test_as_json(self, tmp_path: Path) -> None:
        write(tmp_path / "dumps", CASES["behind"])
        done = aifix("flight", "--format", "json", "--exit-zero", "dumps", cwd=tmp_path)
        report = json.loads(done.stdout)
        assert done.returncode == 0
        assert report["schema"] == "aifix.flight/1"
        assert report["failed"] is True
        assert report["findings"][0]["title"] == "Rank 1 never came to all_reduce number 4 of group 0 (default_pg)"
        assert report["diagnoses"][0]["id"] == "dist.nccl-timeout"

    def test_healthy_dumps_end_with_0(self, tmp_path: Path) -> None:
        write(tmp_path, CASES["healthy"])
        done = aifix("flight", ".", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "the ranks agree" in done.stdout

    def test_escapes_in_a_dump_do_not_reach_the_terminal(self, tmp_path: Path) -> None:
        name = "\x1b]0;gone\x07all_reduce\u202e"
        write(tmp_path, {rank: dump([call(name if rank else "broadcast", 1)], {("0", "\x1b[31mred"): (0, 1)}) for rank in range(2)})
        done = aifix("flight", ".", cwd=tmp_path)
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "it is empty"),
            (b"CUDA out of memory\n", "neither a pickle nor JSON"),
            (b"0\timportlib.machinery\n", "neither a pickle nor JSON"),
            (b"cos\nsystem\n(S'x'\ntR.", "asks for os.system"),
            (pickle.dumps({"model": 1}), "no flight-recorder dump"),
            (b'{"entries": [', "broken JSON"),
        ],
    )
    def test_what_cannot_be_read_is_one_line(self, content: bytes, said: str, tmp_path: Path) -> None:
        (tmp_path / "fr_rank_0").write_bytes(content)
        done = aifix("flight", "fr_rank_0", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        assert said in done.stderr
        assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize(
        ("path", "said"), [("nowhere", "nowhere cannot be read: No such file or directory"), (".", "no flight-recorder dump is there")]
    )
    def test_nothing_to_read(self, path: str, said: str, tmp_path: Path) -> None:
        done = aifix("flight", path, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_thousand_ranks_take_seconds(tmp_path: Path) -> None:
    world = {("0", "default_pg"): tuple(range(256))}
    entries = [call("all_reduce", number) for number in range(1, 101)]
    for rank in range(256):
        write(tmp_path, {rank: dump(entries[:-1] if rank == 77 else entries, world)})
    found = flight(tmp_path)
    assert (found.findings[0].kind, found.findings[0].sequence, found.findings[0].culprits) == ("not-joined", 100, (77,))
