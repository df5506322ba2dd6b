"""What a traceback tells, however it was printed, cut or mixed with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.intake import document, tracebacks

if TYPE_CHECKING:
    from aifix.model import Document, Traceback

PLAIN = """\
epoch 1
Traceback (most recent call last):
  File "/home/user/project/train.py", line 10, in <module>
    main()
  File "/home/user/venv/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x100 and 128x10)
"""

CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in load
    cache["x"]
KeyError: 'x'

{}

Traceback (most recent call last):
  File "b.py", line 2, in <module>
    load()
ValueError: no x
"""

WORKER = """\
Traceback (most recent call last):
  File "train.py", line 5, in <module>
    for batch in loader:
  File "/venv/lib/python3.10/site-packages/torch/_utils.py", line 706, in reraise
    raise exception
KeyError: Caught KeyError in DataLoader worker process 2.
Original Traceback (most recent call last):
  File "/venv/lib/python3.10/site-packages/torch/utils/data/_utils/worker.py", line 309, in _worker_loop
    data = fetcher.fetch(index)
  File "/home/user/project/data/birds.py", line 47, in __getitem__
    target = self.index[row["label"]]
KeyError: 'great tit'
"""

GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "run.py", line 3, in <module>
  |     raise ExceptionGroup("several", errors)
  | ExceptionGroup: several (3 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "part.py", line 8, in one
    |     int("x")
    | ValueError: invalid literal for int() with base 10: 'x'
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "part.py", line 12, in two
    |     open("nope")
    | FileNotFoundError: [Errno 2] No such file or directory: 'nope'
    +---------------- 3 ----------------
    | TypeError: never raised
    +------------------------------------
done
"""

REMOTE = '''\
multiprocessing.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/usr/lib/python3.10/multiprocessing/pool.py", line 125, in worker
    result = (True, func(*args, **kwds))
  File "/home/user/tile.py", line 10, in cut
    raise TileError("no")
TileError: no
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/user/tile.py", line 21, in <module>
    pool.map(cut, range(9))
TileError: no
'''

SPAWN = """\
Traceback (most recent call last):
  File "main.py", line 134, in <module>
    mp.spawn(worker, nprocs=2)
  File "/venv/lib/python3.8/site-packages/torch/multiprocessing/spawn.py", line 150, in join
    raise ProcessRaisedException(msg, error_index, failed_process.pid)
torch.multiprocessing.spawn.ProcessRaisedException:

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "/venv/lib/python3.8/site-packages/torch/multiprocessing/spawn.py", line 59, in _wrap
    fn(i, *args)
  File "/home/user/net.py", line 203, in forward
    loss = F.cross_entropy(x, y)
RuntimeError: expected scalar type Long but found Float
"""

OLD_WORKER = """\
Traceback (most recent call last):
  File "score.py", line 39, in go
    for item in loader:
  File "/usr/local/lib/python2.7/dist-packages/torch/utils/data/dataloader.py", line 221, in _process_next_batch
    raise batch.exc_type(batch.exc_msg)
TypeError: Traceback (most recent call last):
  File "/usr/local/lib/python2.7/dist-packages/torch/utils/data/dataloader.py", line 112, in default_collate
    .format(type(batch[0]))))
TypeError: batch must contain tensors; found <class 'PIL.Image.Image'>
"""

RAY = """\
Traceback (most recent call last):
  File "/home/user/launch.py", line 58, in main
    ray.get(driver.run.remote(cfg))
ray.exceptions.RayTaskError(ImportError): ray::Runner.run() (pid=71022, ip=10.0.0.7)
  File "/home/user/rl/workers.py", line 30, in run
    import flash_attn
ImportError: undefined symbol: x
"""

IPYTHON_OLD = """\
---------------------------------------------------------------------------
IndexError                                Traceback (most recent call last)
<ipython-input-84-50b088184c61> in <module>()
      4
----> 5 fit_and_save(2)

4 frames
/usr/local/lib/python3.6/dist-packages/torch/nn/functional.py in nll_loss(input, target, weight)
   1837     if dim == 2:
-> 1838         ret = torch._C._nn.nll_loss(input, target, weight)
   1839     elif dim == 4:

IndexError: Target 5 is out of bounds.
"""

IPYTHON_NEW = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 5
      3 x = 1
      4
----> 5 fit(x)

File ~/project/train.py:12, in fit(x)
     10 def fit(x):
     11     if x:
---> 12         raise ValueError("no")

ValueError: no
"""

RICH = """\
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/user/train.py:42 in <module>                                           │
│                                                                              │
│   39                                                                         │
│   40 if __name__ == "__main__":                                              │
│ ❱ 42     main()                                                              │
│                                                                              │
│ /home/user/venv/lib/python3.10/site-packages/torch/nn/modules/module_with_lo │
│ ng_name.py:1501 in _call_impl                                                │
│                                                                              │
│ ❱ 1501         return forward_call(*args, **kwargs)                          │
╰──────────────────────────────────────────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
"""

SYNTAX = """\
  File "/home/user/nets/acts.py", line 11
    match name:
             ^
SyntaxError: invalid syntax
"""

FATAL = """\
Fatal Python error: Segmentation fault

Current thread 0x000014844b65d740 (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3938 in barrier
  File "/home/user/check.py", line 11 in entry
  File "/home/user/check.py", line 18 in <module>

Extension modules: numpy._core._multiarray_umath
"""

ELASTIC = """\
Root Cause (first observed failure):
[0]:
  time      : 2023-06-03_22:45:52
  rank      : 2 (local_rank: 2)
  traceback : Traceback (most recent call last):
    File "/opt/conda/lib/python3.10/site-packages/torch/distributed/elastic/multiprocessing/errors/__init__.py", line 346, in wrapper
      return f(*args, **kwargs)
    File "/home/user/train.py", line 61, in main
      net(x)
  RuntimeError: boom
"""

HEADLESS = """\
    out = self.stem(x)
  File "/home/user/nets/slim.py", line 94, in forward
    x = self.stem(x)
  File "/venv/lib/python3.9/site-packages/torch/nn/modules/conv.py", line 442, in _conv_forward
    return F.conv2d(input, weight, bias)
RuntimeError: Given groups=1, weight of size [10, 3, 3, 3], expected input[1, 344, 410, 3] to have 3 channels
"""

# text, [(kind, first line of the message, relation, frames, file of the location, its line)]
CASES: dict[str, tuple[str, list[tuple[str, str, str, int, str, int]]]] = {
    "plain": (
        PLAIN,
        [("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x100 and 128x10)", "first", 2, "/home/user/project/train.py", 10)],
    ),
    "direct cause": (
        CHAINED.format("The above exception was the direct cause of the following exception:"),
        [("KeyError", "'x'", "first", 1, "a.py", 1), ("ValueError", "no x", "cause", 1, "b.py", 2)],
    ),
    "during handling": (
        CHAINED.format("During handling of the above exception, another exception occurred:"),
        [("KeyError", "'x'", "first", 1, "a.py", 1), ("ValueError", "no x", "context", 1, "b.py", 2)],
    ),
    "worker": (
        WORKER,
        [
            ("KeyError", "Caught KeyError in DataLoader worker process 2.", "first", 2, "train.py", 5),
            ("KeyError", "'great tit'", "worker", 2, "/home/user/project/data/birds.py", 47),
        ],
    ),
    "group": (
        GROUP,
        [
            ("ExceptionGroup", "several (3 sub-exceptions)", "first", 1, "run.py", 3),
            ("ValueError", "invalid literal for int() with base 10: 'x'", "worker", 1, "part.py", 8),
            ("FileNotFoundError", "[Errno 2] No such file or directory: 'nope'", "worker", 1, "part.py", 12),
            ("TypeError", "never raised", "worker", 0, "", 0),
        ],
    ),
    "remote": (
        REMOTE,
        [("TileError", "no", "first", 2, "/home/user/tile.py", 10), ("TileError", "no", "cause", 1, "/home/user/tile.py", 21)],
    ),
    "spawn": (
        SPAWN,
        [
            ("torch.multiprocessing.spawn.ProcessRaisedException", "", "first", 2, "main.py", 134),
            ("RuntimeError", "expected scalar type Long but found Float", "worker", 2, "/home/user/net.py", 203),
        ],
    ),
    "old worker": (
        OLD_WORKER,
        [
            ("TypeError", "Traceback (most recent call last):", "first", 2, "score.py", 39),
            (
                "TypeError",
                "batch must contain tensors; found <class 'PIL.Image.Image'>",
                "worker",
                1,
                "/usr/local/lib/python2.7/dist-packages/torch/utils/data/dataloader.py",
                112,
            ),
        ],
    ),
    "ray": (
        RAY,
        [
            ("ray.exceptions.RayTaskError(ImportError)", "ray::Runner.run() (pid=71022, ip=10.0.0.7)", "first", 1, "/home/user/launch.py", 58),
            ("ImportError", "undefined symbol: x", "worker", 1, "/home/user/rl/workers.py", 30),
        ],
    ),
    "ipython before 8": (IPYTHON_OLD, [("IndexError", "Target 5 is out of bounds.", "first", 2, "<ipython-input-84-50b088184c61>", 5)]),
    "ipython 8": (IPYTHON_NEW, [("ValueError", "no", "first", 2, "~/project/train.py", 12)]),
    "ipython without a head": (
        IPYTHON_OLD.split("\n", 2)[2],
        [("IndexError", "Target 5 is out of bounds.", "first", 2, "<ipython-input-84-50b088184c61>", 5)],
    ),
    "rich": (RICH, [("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB", "first", 2, "/home/user/train.py", 42)]),
    "syntax": (SYNTAX, [("SyntaxError", "invalid syntax", "first", 1, "/home/user/nets/acts.py", 11)]),
    "fatal": (FATAL, [("Fatal Python error", "Segmentation fault", "first", 3, "/home/user/check.py", 11)]),
    "elastic": (ELASTIC, [("RuntimeError", "boom", "first", 2, "/home/user/train.py", 61)]),
    "no head": (
        HEADLESS,
        [
            (
                "RuntimeError",
                "Given groups=1, weight of size [10, 3, 3, 3], expected input[1, 344, 410, 3] to have 3 channels",
                "first",
                2,
                "/home/user/nets/slim.py",
                94,
            )
        ],
    ),
    "indented": (
        "".join(f"         {line}\n" for line in PLAIN.splitlines()),
        [("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x100 and 128x10)", "first", 2, "/home/user/project/train.py", 10)],
    ),
    "in a box of compose": (
        "".join(f"trainer-1  | {line}\n" for line in PLAIN.splitlines()),
        [("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x100 and 128x10)", "first", 2, "/home/user/project/train.py", 10)],
    ),
    "bars between": (
        "".join(f"{line}\n 10%|#         | 1/10 [00:01<00:09,  1.00it/s]\n" for line in PLAIN.splitlines()),
        [("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (4x100 and 128x10)", "first", 2, "/home/user/project/train.py", 10)],
    ),
    "module of the exception": (
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\n_pickle.UnpicklingError: invalid load key, 'v'.\n",
        [("_pickle.UnpicklingError", "invalid load key, 'v'.", "first", 1, "a.py", 1)],
    ),
    "exception without a message": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyboardInterrupt\n',
        [("KeyboardInterrupt", "", "first", 1, "a.py", 1)],
    ),
    "own exception with an odd name": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\napp.core.Boom: x\n',
        [("app.core.Boom", "x", "first", 1, "a.py", 1)],
    ),
    "never ended": ('Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n', [("", "", "first", 1, "a.py", 1)]),
}


def read(text: str) -> Document:
    return document.read(text.encode(), genre="log")


def told(found: tuple[Traceback, ...]) -> list[tuple[str, str, str, int, str, int]]:
    out = []
    for item in found:
        place = tracebacks.location(item)
        where = (place.file, place.line) if place else ("", 0)
        out.append((item.kind, item.message.partition("\n")[0], item.relation, len(item.frames), *where))
    return out


@pytest.mark.parametrize("name", CASES)
def test_a_traceback_is_read(name: str) -> None:
    text, expected = CASES[name]
    assert told(read(text).tracebacks) == expected


def test_where_it_stands() -> None:
    doc = read(PLAIN)
    (item,) = doc.tracebacks
    assert (item.start, item.error, item.end) == (1, 7, 8)
    assert item.quoted == {2, 3, 4, 5, 6}
    assert [frame.source for frame in item.frames] == ["main()", "return forward_call(*args, **kwargs)"]
    assert [frame.user for frame in item.frames] == [True, False]


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (
            'Error(s) in loading state_dict for Net:\n\tMissing key(s): "a"\n\tUnexpected key(s): "b"\nnext epoch\n\nother',
            'Error(s) in loading state_dict for Net:\n\tMissing key(s): "a"\n\tUnexpected key(s): "b"\nnext epoch',
        ),
        (
            "CUDA error: x\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.\nCompile with `TORCH_USE_CUDA_DSA`.\n\nepoch 2",
            "CUDA error: x\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.\nCompile with `TORCH_USE_CUDA_DSA`.",
        ),
        ("x\n2024-05-01 12:00:00,123 INFO epoch 2", "x"),
        ("x\nERROR:root:y", "x"),
        ("x\n$ python b.py", "x"),
        ("x\n(base) user@host:~$ python b.py", "x"),
        ("x\nsrun: error: node-1: task 3: Exited with exit code 1", "x"),
        ("x\n[rank1]:[E ProcessGroupNCCL.cpp:523] y", "x"),
        ("x\nW1106 10:02:11.094000 4120 run.py:793] y", "x"),
        ("x\n10%|#         | 1/10 [00:01<00:09,  1.00it/s]", "x"),
        ("a\n\n  b\n\nc", "a\n\n  b"),
    ],
)
def test_where_a_message_ends(tail: str, message: str) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nRuntimeError: ' + tail
    assert read(text).tracebacks[0].message == message


def test_ranks_that_print_at_once_are_read_apart() -> None:
    one = [f"[rank1]: {line}" for line in PLAIN.splitlines()]
    two = [f"[rank2]: {line}" for line in PLAIN.replace("4x100", "8x100").splitlines()]
    mixed = [line for pair in zip(one, two, strict=True) for line in pair]
    found = read("\n".join(mixed)).tracebacks
    assert [(item.rank, item.message[:54], len(item.frames)) for item in found] == [
        (1, "mat1 and mat2 shapes cannot be multiplied (4x100 and 1", 2),
        (2, "mat1 and mat2 shapes cannot be multiplied (8x100 and 1", 2),
    ]


def test_actors_that_print_at_once_are_read_apart() -> None:
    mixed = [f"(Worker pid={pid}) {line}" for line in PLAIN.splitlines() for pid in (7, 8)]
    assert len([item for item in read("\n".join(mixed)).tracebacks if len(item.frames) == 2]) == 2


def test_ranks_attributed_at_random_do_not_tear_a_traceback() -> None:
    mixed = [f"[rank{n % 3}]: {line}" for n, line in enumerate(PLAIN.splitlines())]
    assert told(read("\n".join(mixed)).tracebacks) == CASES["plain"][1]


def test_two_processes_that_print_the_same_into_one_another() -> None:
    doubled = "".join(f"{line}\n{line}\n" for line in PLAIN.splitlines())
    found = read(doubled).tracebacks
    assert told(found)[0] == CASES["plain"][1][0]


def test_recursion() -> None:
    frame = '  File "a.py", line 2, in f\n    return f()\n'
    text = (
        "Traceback (most recent call last):\n"
        + 3 * frame
        + "  [Previous line repeated 995 more times]\nRecursionError: maximum recursion depth exceeded\n"
    )
    (item,) = read(text).tracebacks
    assert (item.kind, len(item.frames)) == ("RecursionError", 3)


def test_a_traceback_that_is_quoted_in_code_is_none() -> None:
    assert not read('print("Traceback (most recent call last):")\nif "Traceback (most recent call last):" in text:\n').tracebacks


def test_a_chain_is_located_where_it_began() -> None:
    place = tracebacks.location(read(WORKER).tracebacks)
    assert place is not None
    assert (place.file, place.line, place.function, place.source) == (
        "/home/user/project/data/birds.py",
        47,
        "__getitem__",
        'target = self.index[row["label"]]',
    )


def test_chains_are_grouped() -> None:
    doc = read(PLAIN + WORKER + CASES["direct cause"][0])
    assert [len(chain) for chain in tracebacks.chains(doc.tracebacks)] == [1, 2, 2]


@pytest.mark.parametrize(
    ("file", "user"),
    [
        ("train.py", True),
        ("/home/user/project/train.py", True),
        ("/home/user/lib/train.py", True),
        ("C:\\Users\\user\\project\\net.py", True),
        ("<stdin>", True),
        ("<ipython-input-3-5f1c0d9e2a77>", True),
        ("/tmp/ipykernel_1187/2906112087.py", True),
        ("/usr/local/lib/python3.10/dist-packages/torch/x.py", False),
        ("/home/user/venv/lib/python3.10/site-packages/torch/x.py", False),
        ("/home/user/miniconda3/envs/x/lib/python3.8/runpy.py", False),
        ("/usr/lib/python3.10/threading.py", False),
        ("/usr/lib64/python3.6/queue.py", False),
        ("C:\\Users\\user\\miniconda3\\envs\\play\\lib\\runpy.py", False),
        ("C:\\x\\site-packages\\torch\\x.py", False),
        ("D:\\Anaconda\\envs\\swin\\lib\\multiprocessing\\spawn.py", False),
        ("/home/user/.pyenv/versions/3.11.7/lib/python3.11/copy.py", False),
        ("/Library/Frameworks/Python.framework/Versions/3.11/lib/python3.11/ast.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("torch/nn/modules/module.py", False),
        ("/home/user/pytorch/torch/jit/__init__.py", False),
        ("/home/user/venv/bin/torchrun", False),
        ("C:\\x\\Scripts\\torchrun.exe\\__main__.py", False),
        ("pandas/_libs/index.pyx", False),
        ("/home/user/bin/train.py", True),
    ],
)
def test_whose_code_it_is(file: str, *, user: bool) -> None:
    assert tracebacks.is_user(file) is user


PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        '    File "/x/site-packages/b.py", line 22222, in g',
        "    g()",
        "    ^^^",
        "ValueError: x",
        "KeyError",
        "",
        "The above exception was the direct cause of the following exception:",
        "During handling of the above exception, another exception occurred:",
        "Original Traceback (most recent call last):",
        "  + Exception Group Traceback (most recent call last):",
        "  | ValueError: y",
        "    +---------------- 2 ----------------",
        '"""',
        "Cell In[3], line 5",
        "----> 5 foo()",
        "ValueError                                Traceback (most recent call last)",
        "╭──── Traceback (most recent call last) ────╮",
        "│ /home/user/train.py:42 in <module>        │",
        "╰───────────────────────────────────────────╯",
        "Fatal Python error: Aborted",
        "Current thread 0x1 (most recent call first):",
        "  [Previous line repeated 3 more times]",
        "====================",
        " 10%|#         | 1/10 [00:01<00:09,  1.00it/s]",
        "plain text",
        "TypeError: Traceback (most recent call last):",
    ]
)


@given(st.lists(st.tuples(st.sampled_from(["", "[rank0]: ", "[rank1]: ", "1: ", "    ", "(A pid=1) "]), PIECES), max_size=40))
def test_any_mixture_is_parsed_within_bounds(pieces: list[tuple[str, str]]) -> None:
    doc = read("\n".join(head + piece for head, piece in pieces))
    for item in doc.tracebacks:
        assert 0 <= item.start <= item.error < item.end <= len(doc.lines)
        assert all(0 <= index < len(doc.lines) for index in item.quoted)
        assert item.error not in item.quoted or not item.kind
        assert item.frames or item.kind
