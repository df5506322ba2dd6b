"""Each transformation as before and after, and what it refuses."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("libcst")

from aifix.fixes.patch import NEEDS, PATCHES, Refused, make, may_apply
from aifix.fixes.source import SourceFile
from aifix.model import Fact


def source(text: str, *lines: int, changed: int = 0, name: str = "train.py") -> SourceFile:
    return SourceFile(name, f"/srv/{name}", textwrap.dedent(text).lstrip("\n").encode(), lines, changed=changed)


def patched(name: str, text: str, *lines: int, facts: dict[str, Fact] | None = None) -> str:
    return make(name, [source(text, *lines)], facts or {}).changes[0].after


def lines_of(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


PLAIN = """
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    """
CASES: list[tuple[str, str, str, tuple[int, ...]]] = [
    # ------------------------------------------------------------ batch size
    (
        "batch-size",
        ("loader = DataLoader(data, batch_size=64)\nfor epoch in range(3):\n    for i, (x, y) in enumerate(loader):\n        optimizer.zero_grad()\n"
        "        loss = f(x, y)\n        loss.backward()\n        clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n        log(i)\n"),
        ("loader = DataLoader(data, batch_size=32)\nfor epoch in range(3):\n    optimizer.zero_grad()\n    for i, (x, y) in enumerate(loader):\n"
        "        loss = f(x, y)\n        (loss / 2).backward()\n        if (i + 1) % 2 == 0:\n            clip_grad_norm_(model.parameters(), 1.0)\n"
        "            optimizer.step()\n            optimizer.zero_grad()\n        log(i)\n"),
        (),
    ),
    (
        "batch-size",  # the size is an argument's default
        'p.add_argument("--batch-size", type=int, default=128)\nloader = DataLoader(data, batch_size=args.batch_size)\n',
        'p.add_argument("--batch-size", type=int, default=64)\nloader = DataLoader(data, batch_size=args.batch_size)\n',
        (),
    ),
    (
        "batch-size",  # a constant, a dictionary, a dataclass
        "BATCH = 16\ntrain = DataLoader(data, BATCH, shuffle=True)\n",
        "BATCH = 8\ntrain = DataLoader(data, BATCH, shuffle=True)\n",
        (),
    ),
    ("batch-size", 'cfg = {"bs": 6}\nDataLoader(d, batch_size=cfg["bs"])\n', 'cfg = {"bs": 3}\nDataLoader(d, batch_size=cfg["bs"])\n', ()),
    (
        "batch-size",
        "args = TrainingArguments(\n    out,\n    per_device_train_batch_size=8,\n    gradient_accumulation_steps=4,\n)\n",
        "args = TrainingArguments(\n    out,\n    per_device_train_batch_size=4,\n    gradient_accumulation_steps=8,\n)\n",
        (),
    ),
    (
        "batch-size",  # scaled, as recognised
        ("loader = DataLoader(d, batch_size=4)\nfor x in loader:\n    loss = f(x)\n    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n"
        "    scaler.update()\n    optimizer.zero_grad()\n"),
        ("loader = DataLoader(d, batch_size=2)\noptimizer.zero_grad()\nfor step, x in enumerate(loader):\n    loss = f(x)\n"
        "    scaler.scale(loss / 2).backward()\n    if (step + 1) % 2 == 0:\n        scaler.step(optimizer)\n        scaler.update()\n"
        "        optimizer.zero_grad()\n"),
        (),
    ),
    # ------------------------------------------------------------ autocast
    (
        "autocast",
        ("import torch\n\nfor x, y in loader:\n    x, y = x.cuda(), y.cuda()\n    optimizer.zero_grad()\n    out = model(x)  # forward\n"
        "    loss = criterion(out, y)\n    loss.backward()\n    optimizer.step()\n"),
        ('import torch\n\nscaler = torch.amp.GradScaler("cuda" if torch.cuda.is_available() else "cpu", enabled=torch.cuda.is_available())\n'
        "for x, y in loader:\n    x, y = x.cuda(), y.cuda()\n    optimizer.zero_grad()\n"
        '    with torch.autocast(device_type="cuda" if torch.cuda.is_available() else "cpu"):\n        out = model(x)  # forward\n'
        "        loss = criterion(out, y)\n    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"),
        (),
    ),
    ("autocast", "TrainingArguments(out, fp16=False)\n", "TrainingArguments(out, bf16=True)\n", ()),
    (
        "autocast",
        "import lightning as L\ntrainer = L.Trainer(max_epochs=3)\n",
        'import lightning as L\ntrainer = L.Trainer(max_epochs=3, precision="bf16-mixed")\n',
        (),
    ),
    # ------------------------------------------------------------ checkpointing
    (
        "checkpointing",
        "model = AutoModelForCausalLM.from_pretrained(name)\nmodel.train()\n",
        "model = AutoModelForCausalLM.from_pretrained(name)\nmodel.gradient_checkpointing_enable()\nmodel.train()\n",
        (),
    ),
    (
        "checkpointing",
        ("from torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        self.body = nn.Sequential(a, b, c, d)\n"
        "    def forward(self, x):\n        return self.body(x)\n"),
        ("from torch import nn\nfrom torch.utils.checkpoint import checkpoint_sequential\nclass M(nn.Module):\n    def __init__(self):\n"
        "        self.body = nn.Sequential(a, b, c, d)\n    def forward(self, x):\n"
        "        return checkpoint_sequential(self.body, 2, x, use_reentrant=False)\n"),
        (),
    ),
    (
        "checkpointing",
        "import torch\nclass M(nn.Module):\n    def forward(self, x, mask):\n        for block in self.blocks:\n            x = block(x, mask=mask)\n        return x\n",
        ("import torch\nfrom torch.utils.checkpoint import checkpoint\nclass M(nn.Module):\n    def forward(self, x, mask):\n"
        "        for block in self.blocks:\n            x = checkpoint(block, x, mask=mask, use_reentrant=False)\n        return x\n"),
        (),
    ),
    # ------------------------------------------------------------ gradients
    (
        "clip-grad",
        "import torch\nopt = torch.optim.Adam(net.parameters())\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n    opt.step()\n",
        ("import torch\nopt = torch.optim.Adam(net.parameters())\nfor x in loader:\n    loss = f(x)\n    loss.backward()\n"
        "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    opt.step()\n"),
        (),
    ),
    (
        "clip-grad",  # scaled: unscaled before; parameters of which nothing is known are the optimizer's
        "import torch\ndef step(loss, scaler, opt):\n    scaler.scale(loss).backward()\n    scaler.step(opt)\n    scaler.update()\n",
        ("import torch\ndef step(loss, scaler, opt):\n    scaler.scale(loss).backward()\n    scaler.unscale_(opt)\n"
        '    torch.nn.utils.clip_grad_norm_([p for group in opt.param_groups for p in group["params"]], 1.0)\n    scaler.step(opt)\n    scaler.update()\n'),
        (),
    ),
    ("clip-grad", "args = Seq2SeqTrainingArguments(out)\n", "args = Seq2SeqTrainingArguments(out, max_grad_norm=1.0)\n", ()),
    ("zero-grad", "for x in l:\n    # learn\n    f(x).backward()\n    opt.step()\n", "for x in l:\n    opt.zero_grad()\n    # learn\n    f(x).backward()\n    opt.step()\n", ()),
    ("detach-loss", "total += loss\nlosses.append(loss)\nmean = 0.9 * mean + 0.1 * loss\n", "total += loss.item()\nlosses.append(loss.item())\nmean = 0.9 * mean + 0.1 * loss.item()\n", ()),
    (
        "detach-state",
        "import torch\nstate = start()\nfor x, y in loader:\n    out, state = rnn(x, state)\n    loss = f(out, y)\n    loss.backward()\n    opt.step()\n",
        ("import torch\nstate = start()\nfor x, y in loader:\n"
        "    state = state.detach() if torch.is_tensor(state) else tuple(h.detach() for h in state)\n"
        "    out, state = rnn(x, state)\n    loss = f(out, y)\n    loss.backward()\n    opt.step()\n"),
        (),
    ),
    # ------------------------------------------------------------ data
    ("drop-last", "val = DataLoader(v, 4)\ntrain = DataLoader(t, 4, shuffle=True)\n", "val = DataLoader(v, 4)\ntrain = DataLoader(t, 4, shuffle=True, drop_last=True)\n", ()),
    ("drop-last", "a = DataLoader(t)\nb = DataLoader(t)\nfor x in b:\n    f(x)\n", "a = DataLoader(t)\nb = DataLoader(t, drop_last=True)\nfor x in b:\n    f(x)\n", (4,)),
    ("drop-last", "DataLoader(t, drop_last=False)\n", "DataLoader(t, drop_last=True)\n", ()),
    ("num-workers", "DataLoader(t, num_workers=8, prefetch_factor=4, pin_memory=True)\n", "DataLoader(t, num_workers=0, pin_memory=True)\n", ()),
    ("num-workers", "DataLoader(\n    t,\n    num_workers=args.workers,\n    persistent_workers=True,\n)\n", "DataLoader(\n    t,\n    num_workers=0,\n)\n", ()),
    (
        "main-guard",
        '"""Doc."""\nimport torch\nSIZE = 4\n\n\ndef f():\n    pass\n\n\nargs = parser.parse_args()\ndef g():\n    pass\nfor x in DataLoader(d):\n    f()\n',
        ('"""Doc."""\nimport torch\nSIZE = 4\n\n\ndef f():\n    pass\ndef g():\n    pass\n\n\nif __name__ == "__main__":\n    args = parser.parse_args()\n'
        "    for x in DataLoader(d):\n        f()\n"),
        (),
    ),
    # ------------------------------------------------------------ checkpoints, DDP
    ("weights-only", "import torch\na = torch.load(p)\nb = torch.load(q)\n", "import torch\na = torch.load(p)\nb = torch.load(q, weights_only=False)\n", (3,)),
    ("map-location", "import torch\nm.load_state_dict(torch.load(p))\n", 'import torch\nm.load_state_dict(torch.load(p, map_location="cpu"))\n', (2,)),
    ("map-location", "m = Net.load_from_checkpoint(p)\n", 'm = Net.load_from_checkpoint(p, map_location="cpu")\n', ()),
    ("find-unused", "m = DDP(m, device_ids=[rank])\n", "m = DDP(m, device_ids=[rank], find_unused_parameters=True)\n", ()),
    ("find-unused", "m = DDP(m, find_unused_parameters=False)\n", "m = DDP(m, find_unused_parameters=True)\n", ()),
    ("find-unused", 'import pytorch_lightning as pl\npl.Trainer(strategy="ddp")\n', 'import pytorch_lightning as pl\npl.Trainer(strategy="ddp_find_unused_parameters_true")\n', ()),
    # ------------------------------------------------------------ tensors
    ("long-targets", "loss = F.cross_entropy(out, y.view(-1))\n", "loss = F.cross_entropy(out, y.view(-1).long())\n", (1,)),
    ("long-targets", "loss = nn.CrossEntropyLoss()(out, a + b)\n", "loss = nn.CrossEntropyLoss()(out, (a + b).long())\n", (1,)),
    ("numpy-detach", "p = out.cpu().numpy()\n", "p = out.cpu().detach().numpy()\n", (1,)),
    ("numpy-detach", "import numpy as np\nm = np.mean(losses[0])\n", "import numpy as np\nm = np.mean(losses[0].detach().cpu().numpy())\n", (2,)),
    ("numpy-detach", "plt.plot(pred)\n", "plt.plot(pred.detach().cpu().numpy())\n", (1,)),
    ("reshape", "a = x.view(-1)\nb = x.view(2, -1)\n", "a = x.view(-1)\nb = x.reshape(2, -1)\n", (2,)),
    ("contiguous", "b = x.t().view(2, -1)\n", "b = x.t().contiguous().view(2, -1)\n", (1,)),
    ("create-on-device", "import torch\ndef forward(self, x):\n    m = torch.zeros(3)\n    return x + m\n", "import torch\ndef forward(self, x):\n    m = torch.zeros(3, device=x.device)\n    return x + m\n", (4,)),
    (
        "to-device",
        "import torch\ndef train(model, loader):\n    for i, batch in enumerate(loader):\n        out = model(**batch)\n",
        ("import torch\ndef train(model, loader):\n    for i, batch in enumerate(loader):\n"
        "        batch = {key: value.to(next(model.parameters()).device) if torch.is_tensor(value) else value for key, value in batch.items()}\n"
        "        out = model(**batch)\n"),
        (4,),
    ),
    ("to-device", 'device = "cuda"\nfor x, y in loader:\n    x = x.to(device)\n    f(x, y)\n', 'device = "cuda"\nfor x, y in loader:\n    y = y.to(device)\n    x = x.to(device)\n    f(x, y)\n', (4,)),
    (
        "numpy-alias",
        "import numpy as np\na = np.zeros(3, np.float)\nb = [np.int, np.NaN, np.NINF, np.float_, np.float32, np.product(a)]\n",
        "import numpy as np\na = np.zeros(3, float)\nb = [int, np.nan, (-np.inf), np.float64, np.float32, np.prod(a)]\n",
        (),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after", "lines"), CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_before_and_after(name: str, before: str, after: str, lines: tuple[int, ...]) -> None:
    assert may_apply(name, [lines_of(before).encode()])
    assert patched(name, before, *lines) == after
    assert patched(name, before.replace("\n", "\r\n"), *lines) == after.replace("\n", "\r\n"), "line ends stay"


REFUSALS = [
    ("batch-size", "DataLoader(d)\n", "no batch_size"),
    ("batch-size", "DataLoader(d, batch_size=1)\n", "1 already"),
    ("batch-size", "x = 1\n", "no DataLoader"),
    ("autocast", "import torch\nx = 1\n", "side by side"),
    (
        "autocast",
        "import torch\nfor x in l:\n    with torch.autocast('cuda'):\n        loss = f(x)\n    loss.backward()\n    o.step()\n",
        "used there already",
    ),
    ("checkpointing", "x = 1\n", "neither"),
    ("checkpointing", "m.gradient_checkpointing_enable()\n", "used there already"),
    ("clip-grad", "for x in l:\n    loss.backward()\n    clip_grad_norm_(p, 1)\n    o.step()\n", "clipped there already"),
    ("clip-grad", "for x in l:\n    a.backward()\n    o.step()\nfor x in l:\n    b.backward()\n    o.step()\n", "2 training steps"),
    ("contiguous", "x = 1\n", "not called on the failing line"),
    ("create-on-device", "import torch\nx = torch.zeros(3)\n", "no tensor is made"),
    ("detach-loss", "total += loss\ntotal.backward()\n", "nothing to change"),
    ("detach-state", "import torch\nfor x in l:\n    loss = f(x)\n    loss.backward()\n    o.step()\n", "nothing is carried"),
    ("drop-last", "DataLoader(d, drop_last=True)\n", "already"),
    ("drop-last", "DataLoader(d, batch_sampler=s)\n", "batch_sampler"),
    ("find-unused", "x = 1\n", "no DistributedDataParallel"),
    ("long-targets", "x = criterion(a, b.long())\n", "already"),
    ("long-targets", "x = f(a)\n", "no loss"),
    ("main-guard", "if __name__ == '__main__':\n    f()\n", "already"),
    ("main-guard", "import torch\nx = 1\ndef f():\n    pass\n", "only defines"),
    ("map-location", "import torch\ntorch.load(p, map_location='cpu')\n", "already"),
    ("num-workers", "DataLoader(d)\n", "no workers already"),
    ("numpy-alias", "import numpy as np\nnp.float32(1)\n", "none of the removed names"),
    ("numpy-alias", "x = 1\n", "does not import numpy"),
    ("numpy-detach", "x = f(a)\n", "neither"),
    ("pad-collate", "DataLoader(d, collate_fn=c)\n", "already"),
    ("reshape", "x = y\n", "not called on the failing line"),
    ("to-device", "out = model(x)\n", "no loop"),
    ("weights-only", "import torch\ntorch.load(p, weights_only=False)\n", "already"),
    ("weights-only", "joblib.load(p)\n", "not called"),
    ("zero-grad", "for x in l:\n    o.zero_grad()\n    loss.backward()\n    o.step()\n", "already"),
    ("zero-grad", "def broken(:\n", "cannot be parsed"),
]


@pytest.mark.parametrize(("name", "text", "reason"), REFUSALS, ids=[f"{case[0]}-{number}" for number, case in enumerate(REFUSALS)])
def test_refusals_say_why(name: str, text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        patched(name, text, 1)


def test_each_patch_has_a_case_and_a_refusal() -> None:
    assert {case[0] for case in REFUSALS} == set(PATCHES)
    assert {case[0] for case in CASES} | {"pad-collate"} == set(PATCHES)


def test_a_batch_from_the_command_line_is_not_halved_in_the_file() -> None:
    facts = {"batch": Fact("64", 64, None, "command line, line 1")}
    with pytest.raises(Refused, match="call the program with 32"):
        patched("batch-size", 'p.add_argument("--batch-size", default=8)\nDataLoader(d, batch_size=args.batch_size)\n', facts=facts)


def test_the_padding_function_stands_in_front_of_its_use() -> None:
    after = patched("pad-collate", "import torch\n\n\ndef loaders():\n    return DataLoader(d, batch_size=2)\n", 5)
    assert after.index("def pad_batch") < after.index("def loaders")
    assert "DataLoader(d, batch_size=2, collate_fn=pad_batch)" in after
    assert "from torch.nn.utils.rnn import pad_sequence\n" in after


def test_a_loop_that_accumulates_is_left_alone() -> None:
    text = "l = DataLoader(d, batch_size=8)\nfor i, x in enumerate(l):\n    loss = f(x) / accumulation\n    loss.backward()\n    if i % accumulation == 0:\n        o.step()\n"
    patch = make("batch-size", [source(text)], {})
    assert "batch_size=4" in patch.changes[0].after
    assert any("not accumulated" in note for note in patch.notes)


def test_a_changed_file_is_refused() -> None:
    with pytest.raises(Refused, match="has changed since the run: line 3"):
        make("reshape", [source("x.view(1)\n", 1, changed=3)], {})


def test_the_first_file_that_fits_is_patched_and_all_where_the_patch_says_so() -> None:
    one, two = source("x = 1\n", name="a.py"), source("DataLoader(d)\n", name="b.py")
    assert [change.path for change in make("drop-last", [one, two], {}).changes] == ["/srv/b.py"]
    both = [source("import numpy as np\nnp.int(1)\n", name="a.py"), source("import numpy\nnumpy.bool(1)\n", name="b.py")]
    assert [change.after.split("\n")[1] for change in make("numpy-alias", both, {}).changes] == ["int(1)", "bool(1)"]


def test_no_file_and_no_such_patch_are_refused() -> None:
    with pytest.raises(Refused, match="--file"):
        make("reshape", [], {})
    with pytest.raises(Refused, match="no patch"):
        make("magic", [source("x = 1\n")], {})


def test_a_patch_that_has_no_place_in_the_program_is_not_offered() -> None:
    assert set(NEEDS) < set(PATCHES)
    assert not may_apply("num-workers", [b"import torch\nx = torch.rand(1 << 44)\n"])
    assert not may_apply("reshape", [])
