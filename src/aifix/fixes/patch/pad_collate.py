"""A collate function that pads what differs in length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused, loaders
from aifix.fixes.patch.edit import keyword

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

COLLATE = '''def {name}(samples):
    """Pad each field to the longest sample of the batch, behind its end, with zeros."""
    first = samples[0]
    if isinstance(first, dict):
        return {{key: {name}([sample[key] for sample in samples]) for key in first}}
    if isinstance(first, (tuple, list)):
        return tuple({name}(list(field)) for field in zip(*samples))
    if torch.is_tensor(first) and first.dim() > 0:
        return pad_sequence(samples, batch_first=True)
    return default_collate(samples)
'''


def patch(code: Code, case: Case) -> list[str]:
    """Define the function in front of its first use, and give it to the loader."""
    chosen = loaders.meant(code, case)
    if any(keyword(call, "collate_fn") is not None for call in chosen):
        raise Refused("its DataLoader has a collate function already: pad there")
    name = code.fresh("pad_batch", "pad_samples")
    top = _top(code, chosen[0])
    code.add_import("import torch")
    code.add_import("from torch.nn.utils.rnn import pad_sequence")
    code.add_import("from torch.utils.data import default_collate")
    code.insert_before(top, COLLATE.format(name=name))
    for call in chosen:
        code.argument(call, "collate_fn", name)
    return [
        "Only the first dimension may differ; give the model the true lengths or a mask, so that it does not learn from the padding.",
        "For class targets of a padded sequence, pad with -100 (padding_value), which losses ignore.",
    ]


def _top(code: Code, node: cst.CSTNode) -> cst.CSTNode:
    """Give the statement at the top of the module in which a node stands."""
    here: cst.CSTNode = code.statement(node)
    while (above := code.parent(here)) is not None and not isinstance(above, cst.Module):
        here = above
    return here
