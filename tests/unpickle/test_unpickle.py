from __future__ import annotations

import contextlib
import copyreg
import io
import os
import pickle
import pickletools
import struct
import subprocess
import sys
import textwrap
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aifix import unpickle
from aifix.unpickle.scan import scan

PROTOCOLS = range(6)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=64)
keys = st.integers() | st.text() | st.booleans() | st.none() | st.tuples(st.integers(), st.text())
plain = st.recursive(scalars, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner), max_leaves=40)


WAYS = (1 << 30, 0)
"""As a small file is read, and as a large one."""


def both(data: bytes) -> list[Any]:
    return [unpickle.loads(data, small=small) for small in WAYS]


class TestPlainData:
    @pytest.mark.parametrize("protocol", [protocol for protocol in PROTOCOLS if protocol])
    @given(value=plain)
    @settings(max_examples=60, deadline=None)
    def test_comes_back_as_it_was(self, value: Any, protocol: int) -> None:
        try:
            data = pickle.dumps(value, protocol)
            expected = pickle.loads(data)  # noqa: S301 - its own
        except ValueError:  # more digits than the interpreter itself prints
            return
        if any(opcode.name == "GLOBAL" for opcode, _, _ in pickletools.genops(data)):  # bytes before protocol 3 are a call
            with pytest.raises(unpickle.RefusedPickleError, match=r"_codecs\.encode|__builtin__\.bytes"):
                unpickle.loads(data)
            return
        for found in both(data):
            assert found == expected

    @given(value=st.lists(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text("aé\n\\'", max_size=9)))
    def test_comes_back_from_the_text_of_protocol_0(self, value: Any) -> None:
        assert unpickle.loads(pickle.dumps(value, 0)) == value

    @pytest.mark.parametrize("protocol", [4, 5])
    def test_sets_are_plain(self, protocol: int) -> None:
        value = {"ranks": {1, 2, 3}, "frozen": frozenset(["a"]), ("a", 1): 2}
        for found in both(pickle.dumps(value, protocol)):
            assert found == value

    def test_what_stands_in_two_places_is_one_object(self) -> None:
        frames = [{"name": "step"}]
        for found in both(pickle.dumps([frames, frames], 2)):
            assert found[0] is found[1]

    def test_a_list_may_hold_itself(self) -> None:
        value: list[Any] = []
        value.append(value)
        for found in both(pickle.dumps(value, 4)):
            assert found[0] is found

    def test_strings_of_python_2(self) -> None:
        assert unpickle.loads(b"S'it\\'s'\n.") == "it's"
        assert unpickle.loads(b"U\x03abc.") == "abc"


class Evil:
    def __init__(self, *reduced: Any) -> None:
        self.reduced = reduced

    def __reduce__(self) -> Any:
        return self.reduced


class Thing:
    pass


def persistent() -> bytes:
    stream = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, _: Any) -> Any:
            return "storage"

    Pickler(stream, 2).dump([1])
    return stream.getvalue()


def nested(value: Any) -> list[Any]:
    for _ in range(50):
        value = [{"frames": value}]
    return value


HOSTILE = {
    "os.system": (pickle.dumps(Evil(os.system, ("echo gone",))), "posix.system|nt.system"),
    "eval": (pickle.dumps(Evil(eval, ("1+1",)), 2), r"__builtin__\.eval"),
    "eval, protocol 4": (pickle.dumps(Evil(eval, ("1+1",)), 4), r"builtins\.eval"),
    "deep inside plain data": (pickle.dumps(nested(Evil(eval, ("1+1",))), 4), r"builtins\.eval"),
    "copyreg": (pickle.dumps(Evil(copyreg._reconstructor, (Thing, object, None)), 2), r"copy_?reg\._reconstructor"),
    "an instance": (pickle.dumps(Thing(), 4), "Thing"),
    "an ordered dictionary": (pickle.dumps(OrderedDict(a=1), 4), r"collections\.OrderedDict"),
    "text global": (b"cos\nsystem\n(S'echo gone'\ntR.", r"os\.system"),
    "INST": (b"(S'echo gone'\nios\nsystem\n.", r"os\.system"),
    "OBJ": (b"(cos\nsystem\nS'echo gone'\no.", r"os\.system"),
    "a global of strings on the stack": (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", r"posix\.system"),
    "a global of something else": (b"\x80\x04K\x01K\x02\x93.", r"1\.2"),
    "REDUCE of plain data": (b"]).R"[:2] + b"R.", "REDUCE"),
    "BUILD": (b"]}b.", "BUILD"),
    "NEWOBJ": (b"\x80\x02])\x81.", "NEWOBJ"),
    "NEWOBJ_EX": (b"\x80\x04])}\x92.", "NEWOBJ_EX"),
    "EXT1": (b"\x80\x02\x82\x07.", "object 7 of the extension registry"),
    "EXT4": (b"\x80\x02\x84\x07\x00\x00\x00.", "object 7 of the extension registry"),
    "PERSID": (b"Pname\n.", "persistent"),
    "a persistent id": (persistent(), "persistent"),
    "a buffer outside": (b"\x80\x05\x97.", "buffer"),
    "a writable buffer": (pickle.dumps(bytearray(b"x"), 5), "BYTEARRAY8"),
    "torch's storage": (b"\x80\x02ctorch.storage\n_load_from_bytes\nq\x00B\x00\x00\x00\x00\x85R.", r"torch\.storage\._load_from_bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_could_run_code_is_refused_by_name(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    data, said = HOSTILE[name]
    for small in WAYS:
        with pytest.raises(unpickle.RefusedPickleError, match=said):
            unpickle.loads(data, small=small)
    assert "gone" not in "".join(capfd.readouterr())


def chain(levels: int) -> bytes:
    """A tuple of two of the tuple before, as a key: its hash takes 2 ** levels steps."""
    grown = b"".join(b"h" + bytes([level]) + b"h" + bytes([level]) + b"\x86q" + bytes([level + 1]) for level in range(levels))
    return b"\x80\x02}K\x01q\x000" + grown + b"K\x01s."


BROKEN = {
    "nothing": b"",
    "no pickle": b"\x7fELF\x02\x01\x01",
    "a zip, as torch.save writes": b"PK\x03\x04" + b"\x00" * 40,
    "text": b"CUDA out of memory\n",
    "no end": b"]" * 100,
    "an empty stack": b".",
    "only a mark": b"(.",
    "no mark": b"]e.",
    "an unknown memo": b"h\x09.",
    "a huge memo index never used again": b"]r\xff\xff\xff\xff",
    "a length beyond the file": b"X\xff\xff\xff\x7fabc.",
    "a length of 2**60": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b".",
    "a frame of 2**60": b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"K\x01.",
    "a negative length": b"\x8b\xff\xff\xff\xff.",
    "a number of a million digits": b"I" + b"9" * 1_000_000 + b"\n.",
    "a list as a key": b"}](K\x01es.",
    "a dictionary as a key": b"}}K\x01s.",
    "a key whose hash takes years": chain(200),
    "a key of doubled tuples": b"}K\x01K\x02\x86" + b"2\x86" * 200 + b"K\x01s.",
    "a key of remembered tuples": b"\x80\x02}K\x01K\x02\x86q\x00"
    + b"".join(b"h" + bytes([n]) + b"h" + bytes([n]) + b"\x86q" + bytes([n + 1]) for n in range(200))
    + b"K\x01s.",
    "a key of tuples that are remembered late": b"\x80\x02}K\x01K\x02\x86q\x00"
    + b"".join(b"h" + bytes([n]) + b"h" + bytes([n]) + b"\x86N0q" + bytes([n + 1]) for n in range(200))
    + b"K\x01s.",
    "a key of tuples laid bare": b"\x80\x02}K\x01K\x02\x86q\x00"
    + b"".join(b"h" + bytes([n]) + b"h" + bytes([n]) + b"\x86(1q" + bytes([n + 1]) for n in range(200))
    + b"K\x01s.",
    "a key nested a hundred thousand deep": b"}K\x01" + b"\x85" * 100_000 + b"K\x01s.",
    "an odd dictionary": b"(K\x01d.",
    "an unquoted string": b"Sabc\n.",
    "bytes that are no text": b"X\x02\x00\x00\x00\xff\xfe.",
    "an unknown protocol": b"\x80\x09K\x01.",
    "a number that is none": b"Iabc\n.",
    "a float that is none": b"Fabc\n.",
    "items for a number": b"K\x01(K\x02e.",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_told(name: str) -> None:
    for small in WAYS:
        with pytest.raises(unpickle.UnpickleError):
            unpickle.loads(BROKEN[name], small=small)


@given(data=st.binary(max_size=400))
@example(b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.")
@settings(max_examples=400, deadline=None)
def test_bytes_of_any_kind_end_with_data_or_the_one_error(data: bytes) -> None:
    for small in WAYS:
        with contextlib.suppress(unpickle.UnpickleError):
            unpickle.loads(data, small=small)


opcodes = st.sampled_from([opcode.code.encode("latin-1") for opcode in pickletools.opcodes])


@given(parts=st.lists(opcodes | st.binary(max_size=3) | st.sampled_from([b"K\x01", b"X\x01\x00\x00\x00a", b"q\x00", b"h\x00", b"(", b"]", b"}"])))
@settings(max_examples=600, deadline=None)
def test_instructions_in_any_order_end_with_data_or_the_one_error(parts: list[bytes]) -> None:
    for small in WAYS:
        with contextlib.suppress(unpickle.UnpickleError):
            unpickle.loads(b"".join(parts) + b".", small=small)


@given(value=plain, cut=st.integers(0, 10_000), protocol=st.integers(2, 5))
@settings(max_examples=150, deadline=None)
def test_a_cut_pickle_never_passes_for_a_whole_one(value: Any, cut: int, protocol: int) -> None:
    data = pickle.dumps([value, "end"], protocol)
    with pytest.raises(unpickle.UnpickleError):
        unpickle.loads(data[: cut % len(data)])


def test_pairs_of_texts_that_torch_does_not_remember_are_read_by_the_fast_machine() -> None:
    """As c10d's pickler writes the name and description of a process group in every entry."""
    entries = b"".join(b"}X\x01\x00\x00\x00gh\x01h\x02\x86s" for _ in range(1000))
    data = b"\x80\x02](X\x01\x00\x00\x000q\x01X\x02\x00\x00\x00pgq\x02" + entries + b"e."
    assert scan(data)
    assert unpickle.loads(data, small=0) == ["0", "pg", *[{"g": ("0", "pg")}] * 1000]


def test_a_large_file_of_records_is_read_by_the_fast_machine() -> None:
    trace = [{"action": "alloc", "addr": 2**46 + 512 * at, "size": at, "frames": [], "time_us": 10**15 + at} for at in range(20_000)]
    for protocol in (2, 4, 5):
        data = pickle.dumps({"segments": [], "device_traces": [trace]}, protocol)
        assert scan(data)
        assert unpickle.loads(data)["device_traces"][0] == trace


BOMBS = {
    "a memo index of four billion": "b']r\\xff\\xff\\xff\\xff' + b'K\\x01a' * 600_000 + b'.'",
    "strings announced and not there": "b'\\x80\\x04(' + b'\\x8e\\x00\\x00\\x00\\x00\\x10\\x00\\x00\\x00' * 200_000 + b'l.'",
    "lists a million deep": "b']' * 1_000_000 + b'a' * 999_999 + b'.'",
    "a billion leaves": "b']' + b''.join(b'q' + bytes([n]) + b']h' + bytes([n]) + b'h' + bytes([n]) + b'\\x86a' for n in range(60)) + b'.'",
    "tuples a million deep as a key": "b'}K\\x01' + b'\\x85' * 1_000_000 + b'K\\x01s.'",
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_neither_memory_nor_time(name: str) -> None:
    program = f"""
        import resource
        from aifix import unpickle
        data = {BOMBS[name]}
        try:
            unpickle.loads(data)
        except unpickle.UnpickleError as error:
            print(error)
        used = resource.getrusage(resource.RUSAGE_SELF)
        try:  # ru_maxrss would begin at what the process that started this one held at most
            peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) // 1024
        except OSError:
            peak = used.ru_maxrss // 1024
        print(peak, used.ru_utime)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    megabytes, seconds = done.stdout.split("\n")[-2].split()
    assert int(megabytes) < 400
    assert float(seconds) < 20
