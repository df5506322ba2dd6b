"""Traps met in practice: messages whose loudest words name the wrong failure, and noise of healthy runs."""

from __future__ import annotations

import pytest

from aifix import api

TRAPS: list[tuple[str | None, str]] = [
    ("tensor.index-dtype", "RuntimeError: \"nll_loss_forward_reduce_cuda_kernel_2d_index\" not implemented for 'Int'"),
    (
        "ckpt.lfs-pointer",
        "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options...\nPlease file an issue\ninvalid load key, 'v'.",
    ),
    (
        "ckpt.missing-class",
        "  File \"/home/user/project/t.py\", line 3, in <module>\n    m = torch.load('a.pt')\n  File \"/home/user/venv/lib/python3.10/site-packages/torch/serialization.py\", line 1172, in _load\n    result = unpickler.load()\nModuleNotFoundError: No module named 'models'",
    ),
    (
        "ckpt.keys",
        'RuntimeError: Error(s) in loading state_dict for DataParallel:\n\tMissing key(s) in state_dict: "module.bn.weight". \n\tUnexpected key(s) in state_dict: "module.norm.weight". ',
    ),
    (
        "hf.seq-length",
        '  File "/home/user/venv/lib/python3.10/site-packages/transformers/models/bert/modeling_bert.py", line 238, in forward\n    embeddings += position_embeddings\nRuntimeError: The size of tensor a (671) must match the size of tensor b (512) at non-singleton dimension 1',
    ),
    ("host.shm", "RuntimeError: unable to write to file </torch_1234_5678>: No space left on device (28)"),
    (
        "dist.nccl-system",
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1331, internal error - please report this issue to the NCCL developers, NCCL version 2.18.1\nncclInternalError: Internal check failed.\nLast error:\nBootstrap : no socket interface found",
    ),
    (
        "host.oom-killed",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.1, ID: ab) where the task (task ID: ff, name=f, pid=12, memory used=3GB) was running was 60.1GB / 62.0GB (0.96), which exceeds the memory usage threshold of 0.95.",
    ),
    (
        "cuda.oom-fragmentation",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 600.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 500.00 MiB is free. Process 4711 has 15.20 GiB memory in use. Of the allocated memory 14.00 GiB is allocated by PyTorch, and 800.00 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        None,
        "E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered\nI tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.\nEpoch 1/2\n10/10 - 1s - loss: 0.5\nsaved",
    ),
    (
        "data.label-range",
        "RuntimeError: Assertion `cur_target >= 0 && cur_target < n_classes' failed.  at /pytorch/aten/src/THNN/generic/ClassNLLCriterion.c:93",
    ),
    (
        "cuda.device-assert-label",
        "/pytorch/aten/src/THCUNN/ClassNLLCriterion.cu:105: void cunn_ClassNLLCriterion_updateOutput_kernel(): block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.",
    ),
    (
        None,
        "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\nstep 2 loss 2.1\nstep 3 loss 1.9\nstep 4 loss 1.7\ntraining done, saved",
    ),
    (None, "npm warn ERESOLVE overriding peer dependency\nnpm warn While resolving: a@1.0.0\n\nadded 120 packages in 3s"),
]


@pytest.mark.parametrize(("expected", "log"), TRAPS, ids=[f"{number}-{expected}" for number, (expected, _) in enumerate(TRAPS)])
def test_the_words_do_not_mislead(expected: str | None, log: str) -> None:
    ids = [diagnosis.id for diagnosis in api.diagnose_text(log, genre="log").diagnoses]
    assert ids[:1] == ([] if expected is None else [expected])
