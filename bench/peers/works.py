"""The training work that peers share with `tril train`: models in PyTorch with tril's first weights, batches and settings.

`work(name, …)` gives a Work; train_torch.py runs it, train_jax.py takes its weights and batches. A seed draws the weights and the
batches that tril draws from it, in tril's order (docs/training.md). Leaves out: timing.
"""
import math
import pathlib
import random
import sys
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
from models import TinyGPT, WindowAttention  # noqa: E402


class WindowMLP(nn.Module):
    """The rows of all slots side by side, a ReLU layer, the vocabulary head."""

    def __init__(self, vocabulary, context, d_model, hidden):
        super().__init__()
        self.token = nn.Embedding(vocabulary, d_model, padding_idx=0)
        self.hidden, self.head = nn.Linear(context * d_model, hidden), nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        return self.head(F.relu(self.hidden(self.token(ids).flatten(1))))


class Block(nn.Module):
    """Pre-norm: x + attention(ln1(x)), then x + mlp(ln2(x)). Q, K and V are one product, the attention is fused."""

    def __init__(self, width, heads, bias, approximate):
        super().__init__()
        self.heads, self.approximate = heads, approximate
        self.ln1, self.ln2 = nn.LayerNorm(width, bias=bias), nn.LayerNorm(width, bias=bias)
        self.qkv, self.proj = nn.Linear(width, 3 * width, bias), nn.Linear(width, width, bias)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width, bias), nn.Linear(4 * width, width, bias)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        messages = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(messages.transpose(1, 2).reshape(batch, length, width))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x)), approximate=self.approximate))


class GPT(nn.Module):
    """Learned positions, pre-norm blocks, a final norm, and a head tied to the token table."""

    def __init__(self, vocabulary, context, width, heads, layers, bias, approximate):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, bias, approximate) for _ in range(layers))
        self.ln = nn.LayerNorm(width, bias=bias)

    def draw(self):
        """In tril's order: tokens, positions, for each block W_Q, W_K, W_V, W_O, up, down; biases are zero."""
        residual = 0.02 / math.sqrt(2 * len(self.blocks))
        with torch.no_grad():
            for table in (self.token, self.position):
                table.weight.normal_(std=0.02)
            for block in self.blocks:
                for part in block.qkv.weight.chunk(3):
                    part.copy_(torch.empty_like(part).normal_(std=0.02))
                for layer, spread in ((block.proj, residual), (block.fc1, 0.02), (block.fc2, residual)):
                    layer.weight.normal_(std=spread)
            for name, p in self.named_parameters():
                if name.endswith("bias"):
                    p.zero_()
        return self

    def forward(self, ids):
        x = self.token(ids) + self.position.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln(x), self.token.weight)


@dataclass
class Work:
    seed: int
    steps: int  # of which the first is not timed
    make_model: Callable  # draws from torch's global generator, freshly seeded
    make_batches: Callable  # () -> draw; draw() -> (ids, targets)
    rate: float
    betas: tuple = (0.9, 0.999)
    decay: float = 0.0  # AdamW's
    decay_vectors: bool = True
    clip: float = 0.0
    schedule: Callable = None  # rate of a step, from 1
    heads: int = 1
    validation: torch.Tensor = None  # ids of a text's tail

    def optimizer(self, model):
        if not self.decay:
            return torch.optim.Adam(model.parameters(), lr=self.rate, betas=self.betas, fused=True)
        if self.decay_vectors:
            return torch.optim.AdamW(model.parameters(), lr=self.rate, betas=self.betas, weight_decay=self.decay, fused=True)
        matrices = [p for p in model.parameters() if p.dim() == 2]
        rest = [p for p in model.parameters() if p.dim() != 2]
        groups = [{"params": matrices, "weight_decay": self.decay}, {"params": rest, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.rate, betas=self.betas, fused=True)


def window_work(path, family, d_model, hidden, heads, batch, steps):
    """`path`: int32, little-endian: vocabulary, ids a row, then the rows: the context, left-padded with 0, and the target."""
    numbers = torch.frombuffer(bytearray(pathlib.Path(path).read_bytes()), dtype=torch.int32).long()
    vocabulary, context = numbers[0].item(), numbers[1].item() - 1
    rows = numbers[2:].view(-1, context + 1)
    contexts, targets = rows[:, :-1].contiguous(), rows[:, -1].contiguous()
    seed = 11

    def batches():
        generator = torch.Generator().manual_seed(seed + 10000)

        def draw():
            chosen = torch.randint(0, len(rows), (batch,), generator=generator)
            return contexts[chosen], targets[chosen]

        return draw

    make = {"attention": lambda: WindowAttention(vocabulary, context, d_model, hidden, heads),
            "mlp": lambda: WindowMLP(vocabulary, context, d_model, hidden)}[family]
    return Work(seed, steps, make, batches, rate=3e-3, decay=1e-4, clip=1.0, heads=heads)


def block_batches(ids, batch, block):
    """Block starts from torch's global generator, which goes on from the weights."""
    offsets = torch.arange(block + 1)

    def draw():
        rows = ids[torch.randint(0, len(ids) - block - 1, (batch,))[:, None] + offsets]
        return rows[:, :-1], rows[:, 1:].contiguous()

    return lambda: draw


def text_ids(path):
    """The characters' ids, and how many of them train."""
    text = pathlib.Path(path).read_bytes().decode()
    letters = {c: i for i, c in enumerate(sorted(set(text)))}
    return torch.tensor([letters[c] for c in text]), int(0.9 * len(text))


def gpt_work(vocabulary, context, width, heads, layers, bias, approximate, batch, block, steps, rate, last, beta2, text=""):
    def schedule(step, warmup=100, all_steps=max(2000, steps)):  # the preset's own, of which a row may take a part
        if step <= warmup:
            return rate * step / (warmup + 1)
        along = (step - 1 - warmup) / (all_steps - warmup)
        return last + 0.5 * (1 + math.cos(math.pi * along)) * (rate - last)

    def make():
        model = GPT(vocabulary, context, width, heads, layers, bias, approximate)
        torch.manual_seed(0)
        return model.draw()

    if text:
        ids, train = text_ids(text)
        ids, tail = ids[:train], ids[train:]
    else:
        ids, tail = torch.randint(0, vocabulary, (1_000_000,), generator=torch.Generator().manual_seed(1)), None
    return Work(0, steps, make, block_batches(ids, batch, block), rate, (0.9, beta2), decay=0.1, decay_vectors=False, clip=1.0,
                schedule=schedule, heads=heads, validation=tail)


def tiny_gpt_work(steps):
    ids = torch.tensor(["abc".index(c) for c in "abc" * 20])
    return Work(0, steps, lambda: TinyGPT(3), block_batches(ids, 16, 8), rate=0.01, heads=2)


def microgpt_work(path, width, steps):
    """Python's own generator draws here: the order of the names, then the weights, which come as `weights`."""
    import microgpt_scalar as scalar
    scalar.WIDTH, scalar.HIDDEN = width, 4 * width
    random.seed(42)
    names = [line.strip() for line in open(path, encoding="utf-8") if line.strip()]
    random.shuffle(names)
    letters = sorted(set("".join(names)))
    weights = {name: torch.tensor([[n.value for n in row] for row in rows])
               for name, rows in scalar.make_weights(len(letters) + 1).items()}

    def batches():
        step = 0

        def draw():
            nonlocal step
            x, y = torch.zeros(16, 16, dtype=torch.long), torch.full((16, 16), -1)
            for row in range(16):
                ids = [letters.index(c) for c in names[(16 * step + row) % len(names)]]
                ids = torch.tensor([len(letters), *ids, len(letters)])[:17]
                x[row, : len(ids) - 1], y[row, : len(ids) - 1] = ids[:-1], ids[1:]
            step += 1
            return x, y

        return draw

    return Work(42, steps, lambda: weights, batches, rate=0.01, betas=(0.85, 0.99),
                schedule=lambda step: 0.01 * (1 - (step - 1) / 1000), heads=4)


def work(name, data, steps):
    """The work of tril's preset of that name. `data`: windows or names, where the preset has a text."""
    if name in ("one-head-smoke", "four-heads-64", "window-mlp"):
        family, d_model, hidden, heads, batch = {"one-head-smoke": ("attention", 48, 160, 1, 256),
                                                 "four-heads-64": ("attention", 64, 256, 4, 512),
                                                 "window-mlp": ("mlp", 32, 128, 1, 256)}[name]
        return window_work(data, family, d_model, hidden, heads, batch, steps)
    if name == "tiny-gpt-abc":
        return tiny_gpt_work(steps)
    if name in ("microgpt-16", "microgpt-64"):
        return microgpt_work(data, int(name[-2:]), steps)
    small = dict(vocabulary=65, bias=False, approximate="none", rate=1e-3, last=1e-4, beta2=0.99, steps=steps)
    if name == "shakespeare-char":
        return gpt_work(context=64, width=128, heads=4, layers=4, batch=12, block=64, text=data, **small)
    if name == "shakespeare-char-6":
        return gpt_work(context=256, width=384, heads=6, layers=6, batch=4, block=256, **small)
    if name == "gpt2-124m":
        return gpt_work(vocabulary=50257, context=1024, width=768, heads=12, layers=12, bias=True, approximate="tanh", batch=4,
                        block=64, rate=6e-4, last=6e-5, beta2=0.95, steps=steps)
    sys.exit("there is no work " + name)
