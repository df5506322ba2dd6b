"""Trainings: those with something wrong, and healthy ones, in which no alarm may come."""

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)


def train(net, optimizer, steps, data=None, loss_of=None, scaler=None):
    for step in range(steps):
        x, y = data(step) if data else (torch.randn(32, 8), None)
        optimizer.zero_grad()
        out = net(x)
        loss = loss_of(out, x, y) if loss_of else (out - x.sum(-1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
    print("last", loss.item())
"""

NAN = """
class Ratio(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return torch.log(x if self.calls > 40 else x.abs() + 1e-3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16))
        self.ratio = Ratio()
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.ratio(self.encoder(x)))


net = Net()
train(net, torch.optim.Adam(net.parameters(), lr=1e-4), 80)
"""

OVERFLOW = """
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)


def data(step):
    if step == 30:
        with torch.no_grad():
            net[2].weight.mul_(1.2e39)
    return torch.randn(32, 8), None


train(net, optimizer, 60, data)
"""

EXPLODING = """
x = torch.randn(64, 8)
y = x.sum(-1, keepdim=True)
net = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)


def data(step):
    if step == 60:
        optimizer.param_groups[0]["lr"] = 0.6
    return x, y


train(net, optimizer, 100, data, lambda out, x, y: (out - y).pow(2).mean())
"""

DIVERGING = """
x = torch.randn(64, 8)
weight = nn.Parameter(torch.zeros(8))
steepest = torch.linalg.eigvalsh(2 * x.T @ x / 64)[-1].item()
optimizer = torch.optim.SGD([weight], lr=2.05 / steepest)
for step in range(200):
    loss = (x @ weight - x.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last", loss.item())
"""

VANISHING = """
net = nn.Sequential(*[part for _ in range(14) for part in (nn.Linear(8, 8), nn.Sigmoid())], nn.Linear(8, 1))
train(net, torch.optim.SGD(net.parameters(), lr=0.05), 1500)
"""

FLAT = """
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
train(net, torch.optim.SGD(net.parameters(), lr=0.0), 4000)
"""

STANDING = """
images, labels = torch.randn(64, 8), torch.randint(0, 10, (64,))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 10))
train(net, torch.optim.SGD(net.parameters(), lr=1e-7), 900, lambda _: (images, labels), lambda out, x, y: nn.functional.cross_entropy(out, y))
"""

SCALE = """
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for step in range(40):
    x = torch.randn(32, 8)
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    net[0].weight.grad[0, 0] = float("inf")
    scaler.step(optimizer)
    scaler.update()
"""

LEAK = """
import resource

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
losses = []
for step in range(8000):
    loss = net(torch.randn(64, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    losses.append(loss)
print("kept", len(losses))
"""

STARVED = """
import time


class Slow(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.randn(8)


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step, x in enumerate(DataLoader(Slow(), batch_size=8)):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

HEALTHY = {
    "regression": """
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
train(net, torch.optim.Adam(net.parameters(), lr=1e-2), 1500)
""",
    "classifier with batch norm, dropout, a loader and evaluation": """
x = torch.randn(512, 3, 8, 8)
y = (x.mean((1, 2, 3)) > 0).long()
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
    nn.Flatten(), nn.Dropout(0.2), nn.Linear(512, 2),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=80)
for epoch in range(5):
    net.train()
    for images, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()
        schedule.step()
    net.eval()
    with torch.no_grad():
        print("accuracy", (net(x).argmax(-1) == y).float().mean().item())
""",
    "deep residual network": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.a, self.b = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32)
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return x + self.b(nn.functional.gelu(self.a(self.norm(x))))


net = nn.Sequential(nn.Linear(8, 32), *[Block() for _ in range(12)], nn.Linear(32, 1))
train(net, torch.optim.AdamW(net.parameters(), lr=1e-3), 150)
""",
    "language model with tied embeddings, clipping and warm-up": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.body(self.embed(ids), mask=mask, is_causal=True) @ self.embed.weight.T


net = Model()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 50))
for step in range(150):
    start = torch.randint(0, 400, (8, 1))
    ids = start + torch.arange(17)
    loss = nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    warm.step()
print("last", loss.item())
""",
    "two optimizers that play against each other": """
maker, judge = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
of_maker, of_judge = torch.optim.Adam(maker.parameters(), lr=1e-3), torch.optim.Adam(judge.parameters(), lr=4e-3)
entropy = nn.functional.binary_cross_entropy_with_logits
for step in range(700):
    real, made = torch.randn(32, 2) * 0.3 + 2, maker(torch.randn(32, 4))
    loss = entropy(judge(real), torch.ones(32, 1)) + entropy(judge(made.detach()), torch.zeros(32, 1))
    of_judge.zero_grad()
    loss.backward()
    of_judge.step()
    wish = entropy(judge(made), torch.ones(32, 1))
    of_maker.zero_grad()
    wish.backward()
    of_maker.step()
""",
    "mixed precision with a scaler that searches": """
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
for step in range(300):
    x = torch.randn(32, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x)
    loss = (out.float() - x.sum(-1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("last", loss.item())
""",
    "a policy gradient, whose loss goes nowhere": """
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for step in range(700):
    state = torch.randn(64, 4)
    spread = torch.distributions.Categorical(logits=policy(state))
    action = spread.sample()
    reward = (action == state.argmax(-1).clamp(max=2)).float()
    loss = -(spread.log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "converged, and then standing": """
x = torch.randn(64, 8)
net = nn.Linear(8, 1)
train(net, torch.optim.SGD(net.parameters(), lr=0.1), 2500, lambda _: (x, None))
""",
    "fine-tuning of a head over a frozen body, with accumulation": """
body = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()).requires_grad_(False)
net = nn.Sequential(body, nn.Linear(64, 1))
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
for step in range(600):
    x = torch.randn(16, 8)
    loss = (net(x) - x.sum(-1, keepdim=True)).pow(2).mean() / 4
    loss.backward()
    if step % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
""",
    "a dataset that keeps what it has read": """
class Kept(Dataset):
    def __init__(self):
        self.kept = {}

    def __len__(self):
        return 1200

    def __getitem__(self, index):
        if index not in self.kept:
            self.kept[index] = torch.full((20000,), index / 1000)
        return self.kept[index]


data, net = Kept(), nn.Linear(20000, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
for epoch in range(2):
    for x in DataLoader(data, batch_size=8):
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
}
