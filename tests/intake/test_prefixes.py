"""What stands before a line, what it tells of the rank, and what must be left alone."""

from __future__ import annotations

import pytest

from aifix.intake import document, prefixes
from aifix.model import Line

MESSAGE = "RuntimeError: CUDA out of memory."

# (raw line, what remains, rank): decided on the line alone
ALONE = [
    ("[rank3]: RuntimeError: x", "RuntimeError: x", 3),
    ('[rank3]:   File "a.py", line 1, in f', '  File "a.py", line 1, in f', 3),
    (
        "[rank12]:[E911 20:41:51.996672294 ProcessGroupNCCL.cpp:607] [Rank 12] Watchdog caught",
        "ProcessGroupNCCL.cpp:607] [Rank 12] Watchdog caught",
        12,
    ),
    ("[default0]:Epoch 1", "Epoch 1", 0),
    ("[default2]:[rank14]: boom", "boom", 14),
    ("[rank14]: [default2]:boom", "boom", 14),
    ("[trainer1]:boom", "boom", 1),
    ("[3]:boom", "boom", 3),
    ("[1]:", "[1]:", None),  # torchelastic's summary, not a prefix
    ("[1,4]<stderr>:boom", "boom", 4),
    ("[1,mpirank:2,algo-1]<stderr>:boom", "boom", 2),
    ("[E ProcessGroupNCCL.cpp:523] [Rank 7] Watchdog caught", "[E ProcessGroupNCCL.cpp:523] [Rank 7] Watchdog caught", 7),
    ("[rank: 3] Received SIGTERM: 15", "[rank: 3] Received SIGTERM: 15", 3),
    ("trainer-1  | boom", "boom", None),
    ('trainer-1  |   File "a.py", line 1, in f', '  File "a.py", line 1, in f', None),
    ("trainer-1  |", "", None),
    ("[pod/train-worker-0/pytorch] boom", "boom", None),
    ("2024-05-01T12:00:00.123456789Z boom", "boom", None),
    ('2024-05-01T12:00:00.123456Z   File "a.py", line 1, in f', '  File "a.py", line 1, in f', None),
    ("2024-05-01T12:00:00.123456789Z stderr F boom", "boom", None),
    ("2024-05-01T12:00:00.1234567Z ##[error]Process completed with exit code 1.", "Process completed with exit code 1.", None),
    ("2024-05-01T12:00:00+02:00 boom", "boom", None),
    ("2024-02-19 04:27:07,123 boom", "boom", None),
    ("2024-02-19 04:27:07 boom", "boom", None),
    ("2024/02/19 04:27:07 boom", "boom", None),
    ("[2024-02-19 04:27:07,123] boom", "boom", None),
    ("[2024-02-19T04:27:07Z] boom", "boom", None),
    ("[08:46:37.862] boom", "boom", None),
    ("18:57:53-195282 ERROR    boom", "boom", None),
    ("2025-01-20 09:14:02 INFO  boom", "boom", None),
    ("2021-08-18 19:35:11,802 - mmdet - INFO - boom", "boom", None),
    ("08/14/2024 11:20:04 - WARNING - __main__ -   boom", "boom", None),
    ("12/09 06:48:51 - mmengine - INFO - boom", "boom", None),
    ("2020-03-23 11:38:13 | INFO | fairseq.trainer | boom", "boom", None),
    ("2024-05-01 12:00:00.123 | ERROR    | app.train:main:12 - boom", "boom", None),
    ("[2023-07-10 03:14:03,211] [INFO] [comm.py:594:init_distributed] boom", "boom", None),
    ("[2024-02-19 04:27:07,123][trainer][ERROR] - boom", "boom", None),
    ("[2024-05-01, 12:00:00 UTC] {taskinstance.py:1824} ERROR - boom", "boom", None),
    ("[NeMo E 2024-05-01 12:00:00 exp_manager:394] boom", "boom", None),
    ("2026-02-24 20:21:56,114\tINFO worker.py:2012 -- boom", "boom", None),
    ("2022-11-08 15:10:55.402911: E tensorflow/core/x.cc:29] boom", "E tensorflow/core/x.cc:29] boom", None),
    ("E1106 10:02:11.094000 4120 torch/distributed/run.py:793] boom", "torch/distributed/run.py:793] boom", None),
    ("I0720 02:58:12.753147 68 metrics.cc:184] boom", "metrics.cc:184] boom", None),
    ("Mar 04 07:12:01 node-a train[123]: boom", "boom", None),
    ("Aug 10 15:36:05 node-a kernel: NVRM: Xid (PCI:0000:55:00): 48", "NVRM: Xid (PCI:0000:55:00): 48", None),
    ("2024-03-04T07:12:01+0000 node-a train[123]: boom", "boom", None),
    ("[12345.678901] NVRM: Xid", "NVRM: Xid", None),
    ("[  +0.000003] NVRM: Xid", "NVRM: Xid", None),
    ("[Mon Mar  4 07:12:01 2024] NVRM: Xid", "NVRM: Xid", None),
    ("kernel: NVRM: Xid", "NVRM: Xid", None),
    ("(RayTrainWorker pid=123, ip=10.0.0.1) boom", "boom", None),
    ("(EngineCore_DP0 pid=77) ERROR 05-01 12:00:00 [core.py:396] boom", "boom", None),
    ("(VllmWorkerProcess pid=77) boom", "boom", None),
    ("(VllmWorker rank=1 pid=77) boom", "boom", 1),
    ("(EngineCore_DP0 pid=77) (RayWorkerWrapper pid=9) boom", "boom", None),
    ("(train_mnist(lr=0.1) pid=5) boom", "boom", None),
    ("(raylet) [2025-12-07 09:57:19,206 E 391120 391120] (raylet) boom", "boom", None),
    ("ERROR 06-28 06:11:45 worker_base.py:145] boom", "boom", None),
    ("ERROR:root:boom", "boom", None),
    ("WARNING:torch.distributed.elastic.multiprocessing.api:boom", "boom", None),
    ("WARNING  store:store.py:41 boom", "boom", None),
    ("#12 2.465 npm ERR! code ERESOLVE", "npm ERR! code ERESOLVE", None),
    ("  │ exit code: 1", "exit code: 1", None),
    ("  ╰─> [6 lines of output]", "[6 lines of output]", None),
    ("  × No solution found when resolving dependencies:", "No solution found when resolving dependencies:", None),
    ("  ╰─▶ Because a depends on b", "Because a depends on b", None),
    ("│ /home/user/train.py:42 in <module>        │", "/home/user/train.py:42 in <module>", None),
    ("╭──────── Traceback (most recent call last) ────────╮", "Traceback (most recent call last)", None),
    ("╰──────────────╯", "", None),
    ("2024-05-01T12:00:00Z trainer-1  | [rank2]: boom", "boom", 2),
    ("2024-06-28T06:11:52.685304704Z (LLMRayActor pid=20814) ERROR 06-28 06:11:45 worker_base.py:145] boom", "boom", None),
]

UNTOUCHED = [
    MESSAGE,
    "12: a numbered point",
    "1. first",
    "[1/9] c++ -MMD -MF common.o.d",
    "[ 35%] Building CUDA object",
    "npm ERR! code ERESOLVE",
    "npm error code ERESOLVE",
    "ERROR: pip's dependency resolver does not currently take into account all the packages",
    "ERROR: Could not find a version that satisfies the requirement torch==9",
    "error: Failed to build `flash-attn`",
    "Error [ERR_REQUIRE_ESM]: require() of ES Module",
    "srun: error: node-1: task 3: Aborted (core dumped)",
    "slurmstepd: error: *** JOB 1102331 ON node-11 CANCELLED",
    "node-1:1755:1790 [0] misc/socket.cc:47 NCCL WARN Connect failed",
    "frame #0: c10::Error::Error(c10::SourceLocation) + 0x96",
    "    return forward_call(*args)",
    "  39 | #include <cuda.h>",
    "| knob | saves |",
    "(10 rows)",
    "(base) user@host:~$ python train.py",
    "#include <cuda.h>",
    "# a comment",
    "#311  CUDA out of memory",
    "Killed",
    "ptxas /tmp/tmp.ptx, line 12; error: Feature",
    "torch.cuda.OutOfMemoryError: CUDA out of memory.",
    "10%|█         | 1/10 [00:01<00:09,  1.00it/s]",
]


@pytest.mark.parametrize(("raw", "text", "rank"), ALONE, ids=lambda value: str(value)[:40])
def test_prefixes_that_need_no_vote(raw: str, text: str, rank: int | None) -> None:
    (line,) = prefixes.strip([Line(7, raw)])
    assert (line.text, line.rank, line.number) == (text, rank, 7)


@pytest.mark.parametrize("raw", UNTOUCHED)
def test_message_text_is_never_eaten(raw: str) -> None:
    (line,) = prefixes.strip([Line(1, raw)])
    assert line.text == raw
    assert line.prefix == ""


def texts(lines: list[str]) -> list[tuple[str, int | None]]:
    found = document.read("\n".join(lines).encode(), genre="log").lines
    return [(line.text, line.rank) for line in found]


def test_srun_labels_are_taken_where_the_whole_document_has_them() -> None:
    assert texts(
        ["0: step 1", "1: step 1", "12: Traceback (most recent call last):", '12:   File "a.py", line 1, in <module>', "srun: error: x"]
    ) == [
        ("step 1", 0),
        ("step 1", 1),
        ("Traceback (most recent call last):", 12),
        ('  File "a.py", line 1, in <module>', 12),
        ("srun: error: x", None),
    ]


def test_srun_labels_padded_and_nested() -> None:
    raw = [f"{n:2d}: [rank{r}]: {MESSAGE}" for n, r in [(0, 3), (11, 4), (0, 3), (7, 9)]]
    assert texts(raw) == [(MESSAGE, 3), (MESSAGE, 4), (MESSAGE, 3), (MESSAGE, 9)]


def test_a_numbered_list_keeps_its_numbers() -> None:
    raw = ["1: install torch", "2: install the driver", "3: reboot", "4: run it again", "5: look at the log", "6: ask"]
    assert [text for text, _ in texts(raw)] == raw


SHOWN = [
    "epoch 3",
    "Traceback (most recent call last):",
    '  File "a.py", line 1, in <module>',
    "    main()",
    MESSAGE,
    "",
    "make: *** [train] Error 1",
]


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param([f"{number:6d}\t{text}" for number, text in enumerate(SHOWN, 1)], id="cat -n"),
        pytest.param([f"{number:5d}→{text}" for number, text in enumerate(SHOWN, 4)], id="an agent's reading of a file"),
        pytest.param([f"{number}:{text}" for number, text in enumerate(SHOWN, 97)], id="grep -n"),
        pytest.param([f"{number}: {text}" for number, text in enumerate(SHOWN, 1)], id="a number and a colon"),
        pytest.param([f" {number:3d} | {text}" for number, text in enumerate(SHOWN, 1)], id="an editor's gutter"),
        pytest.param([f"logs/train.log:{number}:{text}" for number, text in enumerate(SHOWN, 1)], id="grep -Hn"),
        pytest.param([f"train.log{'-:'[number == 5]}{number}{'-:'[number == 5]}{text}" for number, text in enumerate(SHOWN, 1)], id="grep -n -C4"),
        pytest.param([f"job.out:{text}" for text in SHOWN], id="grep over several logs"),
        pytest.param(["    " + text for text in SHOWN], id="an indented paste"),
        pytest.param(["\u00a0\u00a0" + text.replace("  ", "\u00a0 ") for text in SHOWN], id="copied from a web page"),
    ],
)
def test_what_a_program_that_shows_files_puts_first_is_taken_off(shown: list[str]) -> None:
    found = document.read("\n".join(shown).encode())
    assert [line.text for line in found.lines if line.text.strip()] == [text for text in SHOWN if text]
    assert all(line.rank is None for line in found.lines)
    assert found.tracebacks[0].kind == "RuntimeError"
    assert found.genre == "log"


def test_the_rank_in_the_name_of_a_file_that_grep_prints_is_read() -> None:
    raw = [f"logs/rank{rank}.log:{number}:{text}" for rank in (0, 3) for number, text in enumerate(SHOWN[:5], 1)]
    assert {rank for _, rank in texts(raw)} == {0, 3}


def test_frames_that_stand_first_keep_their_blanks() -> None:
    raw = ['  File "a.py", line 1, in <module>', "    main()", '  File "b.py", line 4, in main', "    raise ValueError"]
    assert [text for text, _ in texts(raw)] == raw


def test_a_rust_backtrace_keeps_its_numbers() -> None:
    raw = [
        "stack backtrace:",
        "   0: rust_begin_unwind",
        "             at /rustc/x.rs:1:2",
        "   1: core::panicking::panic_fmt",
        "             at /rustc/y.rs:3:4",
    ]
    assert [text for text, _ in texts(raw)] == raw


def test_deepspeed_hosts() -> None:
    raw = [
        "node-1: step 1",
        "node-2: step 1",
        "node-1: step 2",
        "node-2: Traceback (most recent call last):",
        'node-2:   File "a.py", line 1, in <module>',
    ]
    raw += ["node-2:     main()", "node-2: ValueError: x", "node-1: done"]
    assert [text for text, _ in texts(raw)][3:7] == [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in <module>',
        "    main()",
        "ValueError: x",
    ]


def test_hosts_are_found_in_a_log_that_is_mostly_something_else() -> None:
    raw = [f"step {n} loss 0.5" for n in range(500)]
    raw += ["gpu07: Traceback (most recent call last):", 'gpu07:   File "a.py", line 1, in <module>', "gpu07:     main()", "gpu07: ValueError: x"]
    assert [text for text, _ in texts(raw)][-1] == "ValueError: x"


def test_a_machine_made_word_before_every_line() -> None:
    raw = [f"jobs.node-{n % 2}.nolog [stderr] [rank{n}]: step {n}" for n in range(12)] + ["jobs.node-1.nolog [stderr] "]
    assert texts(raw)[:2] == [("step 0", 0), ("step 1", 1)]
    assert texts(raw)[-1] == ("", None)


def test_stern() -> None:
    raw = [f"train-worker-{n % 3} step {n}" for n in range(12)]
    assert texts(raw)[4] == ("step 4", None)


def test_words_that_programs_say_before_every_line_stay() -> None:
    for word in ("npm error", "Epoch", "Error:", "NVRM:", "src/a.py:12:"):
        raw = [f"{word} {n} things" for n in range(12)]
        assert [text for text, _ in texts(raw)] == raw


def test_compose_services_without_a_number() -> None:
    raw = ["web  | starting", "db   | ready", "web  | ValueError: x", "db   | checkpoint", "web  | done", "db   | done"]
    assert texts(raw)[2] == ("ValueError: x", None)


def test_docker_build_clock() -> None:
    raw = [
        "------",
        " > [builder 6/6] RUN npm run build:",
        "0.412 ",
        "0.412 > tsc -p .",
        "4.310 src/cart.ts(8,11): error TS2322: no",
        "------",
        "0.5 is the answer",
    ]
    assert [text for text, _ in texts(raw)][3:] == ["> tsc -p .", "src/cart.ts(8,11): error TS2322: no", "------", "0.5 is the answer"]


def test_a_traceback_logged_line_by_line_loses_the_place_of_the_log_call() -> None:
    head = "E0813 10:22:14.000 123 torch/_inductor/subproc.py:205] "
    raw = [
        head + line
        for line in ("Error in subprocess", "Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "ValueError: x")
    ]
    assert [text for text, _ in texts(raw)][1:] == ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "ValueError: x"]


def test_a_traceback_logged_by_dynamo_loses_the_number_of_the_frame_too() -> None:
    head = "W0815 22:53:17.219000 9155 torch/_dynamo/convert_frame.py:906] [0/0_1] "
    raw = [
        head + line
        for line in ("WON'T CONVERT f", "Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "", "ValueError: x")
    ]
    assert [text for text, _ in texts(raw)][1:] == [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in f',
        "    g()",
        "",
        "ValueError: x",
    ]


def test_the_prefix_is_kept() -> None:
    (line,) = prefixes.strip([Line(1, "2024-05-01T12:00:00Z trainer-1  | [rank2]: boom")])
    assert line.prefix + line.text == "2024-05-01T12:00:00Z trainer-1  | [rank2]: boom"
