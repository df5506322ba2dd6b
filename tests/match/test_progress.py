from __future__ import annotations

import pytest

from aifix.match import progress


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("Epoch 3/10, step 20/400, loss 0.31", "Epoch 3/10, step 20/400"),
        ("[epoch 18] saved", "epoch 18"),
        ("[step 120450] loss=2.1", "step 120450"),
        ("Epoch: [3][ 120/5004]  Loss 2.31", "Epoch: [3][ 120/5004]"),
        ("global_step=12 | lr 1e-4", "global_step=12"),
        ("step 100 - 2.31 s", "step 100"),
        ("{'loss': nan, 'epoch': 0.04}", "epoch': 0.04"),
        ("Training diverged at epoch 3. Stop.", "epoch 3"),
        ("the batch 32 does not fit", ""),
        ("2 steps forward", ""),
    ],
)
def test_the_place_in_the_run_that_a_line_tells(line: str, place: str) -> None:
    assert progress.of_line(line) == place
