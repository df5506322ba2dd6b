"""No input raises anything undocumented, or takes longer than its size allows."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.targets import TARGETS

HERE = Path(__file__).parent
OOM = (HERE.parents[1] / "src" / "aifix" / "examples" / "cuda-oom.log").read_bytes()
WORDS = [
    b"Traceback (most recent call last):\n", b'  File "train.py", line 3, in <module>\n    main()\n', b"RuntimeError: CUDA out of memory. Tried to allocate ",
    b"ValueError: x\n", b"\nDuring handling of the above exception, another exception occurred:\n\n", b"[rank3]: ", b"\x1b[31m", b"\x1b]0;", b"\x07", b"\r", b"\n",
    b"\xe2\x80\xae", b"\xc2\x9b", b"\xff\xfe", b"\x00", b" 12%|##  | 3/4 [00:01<00:02,  1.9it/s, loss=nan]", b"epoch 1: loss 0.5\n", b"  + Exception Group Traceback (most recent call last):\n",
    b"  | ", b"+-+---------------- 1 ----------------\n", b"Caught RuntimeError in DataLoader worker process 0.\nOriginal ", b"2024-05-01 12:00:01,123 ERROR x: ",
    b"(pid=12, ip=10.0.0.1) ", b"1.50 GiB", b"{a}", b"[if a]", b"id: x\n", b"signatures: [{pattern: '", b"'}]\n", b"explain: |\n  ", b"- ", b"? ", b"*a", b"&a ", b"!!python/object:os.system ",
    b"(", b")", b"a + b * ", b"text[0]", b"shape", b" and ", b"not ", b"**", b"9" * 30, b"lambda: ", b"__class__", b".", b"'", b'"', b"password=", b"hf_" + b"a" * 34, b"://u:p@h", b"sk-" * 9,
]  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(WORDS), st.sampled_from(OOM.splitlines(keepends=True)), st.binary(max_size=40), st.text(max_size=30).map(str.encode)
)
INPUTS = st.lists(PIECES, max_size=30).map(b"".join)


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_undocumented_comes_out(name: str) -> None:
    @settings(max_examples=60 if name == "diagnose" else 300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(INPUTS)
    def check(data: bytes) -> None:
        TARGETS[name](data)

    check()


@pytest.mark.parametrize("name", TARGETS)
def test_the_kept_cases_stay_fixed(name: str) -> None:
    for path in sorted((HERE / "corpus" / name).glob("*")):
        TARGETS[name](path.read_bytes())


def cost(name: str, data: bytes) -> float:
    start = time.process_time()
    TARGETS[name](data)
    return time.process_time() - start


@pytest.mark.parametrize("name", ["intake", "tracebacks", "redact", "diagnose", "keeper", "template"])
@pytest.mark.parametrize(
    "piece",
    [*WORDS, b"a", b"[", b"(", b" ", b"\t", b"\x1b[", b"\x1b]", b'File "', b"{", b"a.b.", b"Error: ", b"-", b"=" * 40 + b"\n"],
    ids=lambda piece: repr(piece[:24]),
)
def test_twice_the_input_takes_no_more_than_a_bit_more_than_twice(name: str, piece: bytes) -> None:
    size = {"diagnose": 40_000, "template": 25_000}.get(name, 100_000)  # a rule file may have 64 KB
    data = piece * (size // len(piece))
    cost(name, data[: size // 8])
    for _ in range(3):  # a neighbour may have spoilt one
        half, whole = cost(name, data[: size // 2]), cost(name, data)
        if whole < 0.15 or whole < 3.2 * half:
            return
    pytest.fail(f"{half:.3f} s, then {whole:.3f} s")
