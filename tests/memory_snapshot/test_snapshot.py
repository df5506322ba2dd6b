from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory_snapshot.allocator import GIB, MIB, SITE, Allocator
from tests.memory_snapshot.programs import BACKWARD, BATCH, KEPT, LAYERS, LOSS, MOVE, PROGRAMS, STATE, Training, forward

from aifix.memory_snapshot import snapshot
from aifix.memory_snapshot.read import SnapshotError, parse
from aifix.memory_snapshot.stacks import Frame, kind_of
from aifix.memory_snapshot.verdict import judge

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.memory_snapshot.verdict import Device


def device(memory: Allocator) -> Device:
    (found,) = judge(parse(memory.snapshot()), {}, source="x").devices
    return found


class TestPeak:
    def test_is_what_stood_in_the_middle_of_a_step(self) -> None:
        found = device(PROGRAMS["healthy"]())
        # parameters, twice as much state, all gradients, one layer's activation and the batch: the backward pass frees as it goes
        assert found.peak == 4 * LAYERS * 16 * MIB + 12 * MIB + 4 * MIB + 4
        assert found.kinds == {
            "parameters": LAYERS * 16 * MIB,
            "gradients": LAYERS * 16 * MIB,
            "optimizer": 2 * LAYERS * 16 * MIB,
            "activations": 12 * MIB + 4,
            "input": 4 * MIB,
        }

    def test_by_stack_adds_up(self) -> None:
        found = device(PROGRAMS["retained_graph"]())
        assert sum(one.bytes for one in found.holders) == found.peak == sum(found.kinds.values())

    def test_counts_what_was_there_before_the_record_began(self) -> None:
        """The record is a ring; torch keeps only its end."""
        memory = PROGRAMS["healthy"]()
        whole = device(memory)
        memory.trace = memory.trace[len(memory.trace) // 2 :]
        part = device(memory)
        assert part.peak == whole.peak
        assert part.kinds["parameters"] == LAYERS * 16 * MIB
        assert part.kinds["optimizer"] == 2 * LAYERS * 16 * MIB
        assert part.before > 0

    def test_without_a_record_is_what_stands(self) -> None:
        memory = PROGRAMS["retained_graph"]()
        memory.trace = []
        found = device(memory)
        assert found.peak_event == -1
        assert found.peak == found.now.asked
        assert found.kinds["parameters"] == LAYERS * 16 * MIB

    def test_of_a_plain_list_of_segments(self) -> None:
        memory = PROGRAMS["healthy"]()
        (found,) = judge(parse(memory.snapshot()["segments"]), {}, source="x").devices
        assert found.now == device(memory).now

    @given(
        sizes=st.lists(st.tuples(st.integers(1, 40 * MIB), st.booleans()), min_size=1, max_size=60),
    )
    @settings(deadline=None, max_examples=60)
    def test_is_that_of_a_plain_count(self, sizes: list[tuple[int, bool]]) -> None:
        memory = Allocator(1000 * GIB)
        live: list[tuple[int, int]] = []
        held = peak = 0
        for size, frees in sizes:
            live.append((memory.malloc(size, KEPT), size))
            held += size
            peak = max(peak, held)
            if frees:
                address, freed = live.pop(0)
                memory.free(address)
                held -= freed
        found = device(memory)
        assert (found.peak, found.now.asked) == (peak, held)
        assert found.now.reserved == memory.reserved
        assert found.now.held + found.now.free == found.now.reserved
        assert [point.held for point in found.timeline][-1:] or not sizes


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        (MOVE, "parameters"),
        (BACKWARD, "gradients"),
        (STATE, "optimizer"),
        (forward(1), "activations"),
        (LOSS, "activations"),
        (BATCH, "input"),
        (KEPT, "other"),
        ([], "unknown"),
    ],
)
def test_the_kind_is_told_by_the_librarys_frames(frames: list[dict[str, Any]], kind: str) -> None:
    made = tuple(Frame(one["filename"], one["line"], one["name"], not one["filename"].startswith(SITE)) for one in frames)
    assert kind_of(made) == kind


@pytest.mark.parametrize(
    ("functions", "kind"),
    [
        (
            (("at::native::mm", "libtorch.so"), ("torch::autograd::generated::MmBackward0::apply", ""), ("torch::autograd::Engine::thread_main", "")),
            "gradients",
        ),
        ((("at::cuda::getCUDABlasLtWorkspaceSize", ""), ("linear", f"{SITE}/nn/functional.py")), "workspace"),
        ((("c10d::ProcessGroupNCCL::allreduce", ""), ("step", "/home/user/train.py")), "communication"),
        ((("_init_group", f"{SITE}/optim/adamw.py"), ("_engine_run_backward", f"{SITE}/autograd/graph.py")), "optimizer"),
        (
            (
                ("_call_impl", f"{SITE}/nn/modules/module.py"),
                ("unpack_hook", f"{SITE}/utils/checkpoint.py"),
                ("_engine_run_backward", f"{SITE}/autograd/graph.py"),
            ),
            "activations",
        ),
        ((("_load", f"{SITE}/serialization.py"), ("main", "/home/user/train.py")), "parameters"),
    ],
)
def test_the_kind_is_told_by_frames_of_c_and_of_other_parts(functions: tuple[tuple[str, str], ...], kind: str) -> None:
    assert kind_of(tuple(Frame(file, 1, name, file.startswith("/home")) for name, file in functions)) == kind


class TestGrowth:
    def test_a_healthy_run_has_none(self) -> None:
        found = device(PROGRAMS["healthy"]())
        assert not found.leaks

    def test_of_kept_tensors_is_the_line_that_keeps_them(self) -> None:
        found = device(PROGRAMS["kept_outputs"]())
        assert [leak.frames[0].line for leak in found.leaks] == [55]
        assert found.growth.cause == "kept-tensors"
        assert found.growth.per_step == 3 * MIB

    def test_of_a_retained_graph_is_told_from_it(self) -> None:
        found = device(PROGRAMS["retained_graph"]())
        assert found.growth.cause == "retained-graph"
        assert found.growth.per_step == LAYERS * 12 * MIB + 4 * MIB + 4
        assert {leak.kind for leak in found.leaks} == {"activations", "input"}

    def test_without_stacks_is_seen_and_said_so(self) -> None:
        found = device(PROGRAMS["without_stacks"]())
        assert found.growth.cause == "no-stack"
        assert found.growth.bytes > 100 * MIB

    def test_parameters_made_in_a_loop_at_the_beginning_are_none(self) -> None:
        training = Training()
        for _ in range(200):
            training.memory.malloc(MIB, MOVE)
        for _ in range(60):
            training.step()
        assert not device(training.memory).leaks

    def test_an_unfinished_step_is_none(self) -> None:
        training = Training()
        for _ in range(40):
            training.step()
        for layer in range(LAYERS):
            for _ in range(20):
                training.memory.malloc(MIB, forward(layer))
        assert not device(training.memory).leaks

    def test_what_is_freed_at_the_end_of_each_epoch_is_none(self) -> None:
        training = Training()
        for _ in range(6):
            kept = []
            for _ in range(20):
                training.step()
                kept.append(training.memory.malloc(2 * MIB, KEPT))
            for address in kept:
                training.memory.free(address)
        assert not device(training.memory).leaks


class TestFailures:
    @pytest.mark.parametrize(
        ("program", "ids", "fragmented"),
        [
            ("healthy", [], None),
            ("too_large", ["cuda.oom"], False),
            ("fragmented", ["cuda.oom-fragmentation"], True),
            ("kept_outputs", ["train.memory-growth"], None),
            ("retained_graph", ["train.memory-growth"], None),
        ],
    )
    def test_are_diagnosed(self, program: str, ids: list[str], fragmented: bool | None, snapshots: Path) -> None:
        found = snapshot(snapshots / f"{program}.pickle")
        assert [diagnosis.id for diagnosis in found.diagnoses] == ids
        assert found.failed == bool(ids)
        assert [failure.fragmented for one in found.devices for failure in one.failures] == ([] if fragmented is None else [fragmented])
        assert all(diagnosis.fixes for diagnosis in found.diagnoses)

    def test_that_a_leak_led_to_hang_below_it(self, snapshots: Path) -> None:
        found = snapshot(snapshots / "leak_to_the_end.pickle")
        assert found.diagnoses[0].id == "train.memory-growth"
        assert found.diagnoses[0].location is not None
        assert found.diagnoses[0].location.line == 55
        assert found.diagnoses[1].caused_by == "train.memory-growth"

    def test_say_what_was_wanted(self, snapshots: Path) -> None:
        (failure,) = snapshot(snapshots / "too_large.pickle").devices[0].failures
        assert failure.requested == 16 * 12 * MIB
        assert failure.frames[0].function == "forward"

    def test_private_pools_are_counted_apart(self, snapshots: Path) -> None:
        (found,) = snapshot(snapshots / "graphs.pickle").devices
        assert [(pool.name, pool.cut.reserved, pool.cut.held) for pool in found.pools] == [((0, 1), LAYERS * 30 * MIB, 30 * MIB)]
        assert found.shared.reserved + found.pools[0].cut.reserved == found.now.reserved


class TestFormats:
    def test_blocks_of_old_versions_had_a_history(self) -> None:
        whole = PROGRAMS["healthy"]().snapshot()
        old = copy.deepcopy(whole["segments"])
        for segment in old:
            for block in segment["blocks"]:
                frames, asked = block.pop("frames"), block.pop("requested_size")
                del block["address"]
                if block["state"] != "inactive":
                    block["history"] = [{"addr": 1, "frames": frames, "real_size": asked}]
        new, found = (judge(parse(data), {}, source="x").devices[0] for data in (whole["segments"], old))
        assert (found.now, found.kinds) == (new.now, new.kinds)

    def test_only_requests_to_free_are_recorded(self) -> None:
        """With skip_actions=["free_completed"]."""
        memory = PROGRAMS["healthy"]()
        whole = device(memory)
        memory.trace = [entry for entry in memory.trace if entry["action"] != "free_completed"]
        assert device(memory).peak == whole.peak

    def test_expandable_segments_are_mapped_and_unmapped(self) -> None:
        frames: list[Any] = []
        events = [("segment_map", 4), ("alloc", 3), ("free_requested", 3), ("free_completed", 3), ("segment_unmap", 2), ("alloc", 1)]
        trace = [
            {"action": action, "addr": 1 << 40, "size": size * MIB, "stream": 0, "time_us": at, "frames": frames}
            for at, (action, size) in enumerate(events)
        ]
        segment = {
            "device": 0,
            "address": 1 << 40,
            "total_size": 2 * MIB,
            "is_expandable": True,
            "blocks": [
                {"address": 1 << 40, "size": MIB, "requested_size": MIB, "state": "active_allocated", "frames": frames},
                {"address": (1 << 40) + MIB, "size": MIB, "requested_size": 0, "state": "inactive", "frames": frames},
            ],
        }
        (found,) = judge(parse({"segments": [segment], "device_traces": [trace]}), {}, source="x").devices
        assert (found.peak, found.now.reserved, max(point.reserved for point in found.timeline)) == (3 * MIB, 2 * MIB, 4 * MIB)
        assert found.now.expandable

    def test_a_block_that_waits_for_another_stream_is_not_free(self) -> None:
        data = PROGRAMS["fragmented"]().snapshot()
        block = next(block for segment in data["segments"] for block in segment["blocks"] if block["state"] == "inactive")
        block["state"] = "active_pending_free"
        (found,) = judge(parse(data), {}, source="x").devices
        assert found.now.pending == block["size"]

    @given(
        data=st.recursive(
            st.none() | st.integers() | st.text(max_size=5) | st.floats() | st.booleans(),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "segments",
                            "device_traces",
                            "blocks",
                            "frames",
                            "action",
                            "addr",
                            "size",
                            "state",
                            "total_size",
                            "segment_pool_id",
                            "allocator_settings",
                        ]
                    )
                    | st.text(max_size=3),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=40,
        )
    )
    @settings(deadline=None, max_examples=300)
    def test_plain_data_of_any_shape_is_a_snapshot_or_is_none(self, data: Any) -> None:
        for wrapped in (data, {"segments": [data], "device_traces": [[data]]}):
            try:
                judge(parse(wrapped), {}, source="x")
            except SnapshotError as error:
                assert str(error)  # noqa: PT017 - either is fine


def aifix(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "FORCE_COLOR"}} | {"PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", "aifix", "snapshot", *arguments], cwd=cwd, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


class TestCommand:
    def test_says_what_leaks(self, snapshots: Path) -> None:
        done = aifix("kept_outputs.pickle", cwd=snapshots)
        assert done.returncode == 1
        assert "peak 577.00 MiB" in done.stdout
        assert "/home/user/train.py:55 in" in done.stdout
        assert "3.00 MiB a step" in done.stdout
        assert "Keep numbers, not tensors with their graphs" in done.stdout

    def test_as_json(self, snapshots: Path) -> None:
        done = aifix("fragmented.pickle", "--format", "json", "--exit-zero", cwd=snapshots)
        report = json.loads(done.stdout)
        assert done.returncode == 0
        assert (report["schema"], report["failed"]) == ("aifix.snapshot/1", True)
        assert report["diagnoses"][0]["id"] == "cuda.oom-fragmentation"
        assert report["devices"][0]["shared"]["largest_free"] == 5 * MIB

    def test_a_healthy_run_ends_with_0(self, snapshots: Path) -> None:
        assert aifix("healthy.pickle", cwd=snapshots).returncode == 0

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "no pickle"),
            (b"cos\nsystem\n(S'echo gone'\ntR.", "asks for os.system"),
            (pickle.dumps({"model": 1}), "no memory snapshot"),
            (pickle.dumps({"segments": []})[:-3], "cut"),
        ],
    )
    def test_what_cannot_be_read_is_one_line(self, content: bytes, said: str, tmp_path: Path) -> None:
        (tmp_path / "x.pickle").write_bytes(content)
        done = aifix("x.pickle", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize(("path", "said"), [("nowhere", "nowhere cannot be read: No such file"), (".", ". is a directory")])
    def test_nothing_to_read(self, path: str, said: str, tmp_path: Path) -> None:
        done = aifix(path, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr

    def test_escapes_in_a_snapshot_do_not_reach_the_terminal(self, tmp_path: Path) -> None:
        memory = Allocator()
        memory.malloc(MIB, [{"name": "\x1b]0;gone\x07step\u202e", "filename": "/home/user/\x1b[31mx.py", "line": 3}])
        (tmp_path / "x.pickle").write_bytes(pickle.dumps(memory.snapshot()))
        done = aifix("x.pickle", "-v", cwd=tmp_path)
        assert "step" in done.stdout
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout
