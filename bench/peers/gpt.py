"""GPT training in PyTorch, timed: the loops of `tril train tiny-gpt-abc`, `shakespeare-char` and `gpt2-124m`.

usage: gpt.py tiny-gpt-abc|shakespeare-char|gpt2-124m [--data FILE] [--batch B] [--block T] [--threads N] [--compile] …
  --data   a text for shakespeare-char (its characters are the vocabulary); without it, and for gpt2-124m: random ids

Prints one JSON line: targets_per_second, first_loss, last_loss, version, settings.
"""
import math
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F

from peer import arguments, compete
from models import TinyGPT  # found by peer's path


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
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * layers) if "proj" in name or "fc2" in name else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def forward(self, ids):
        x = self.token(ids) + self.position.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln(x), self.token.weight)


PRESETS = {
    "tiny-gpt-abc": dict(vocabulary=3, batch=16, block=8, steps=500, repeat=3),
    "shakespeare-char": dict(vocabulary=65, context=64, width=128, heads=4, layers=4, bias=False, approximate="none",
                             batch=12, block=64, steps=100, repeat=3, rate=1e-3, last_rate=1e-4, beta2=0.99),
    "gpt2-124m": dict(vocabulary=50257, context=1024, width=768, heads=12, layers=12, bias=True, approximate="tanh", batch=4,
                      block=64, steps=5, repeat=2, rate=6e-4, last_rate=6e-5, beta2=0.95),
}
if len(sys.argv) < 2 or sys.argv[1] not in PRESETS:
    sys.exit(__doc__)
preset = PRESETS[sys.argv[1]]
a = arguments(data="", batch=preset["batch"], block=preset["block"], steps=preset["steps"],
              repeat=preset["repeat"]).parse_args(sys.argv[2:])
a.preset = sys.argv[1]

if a.preset == "tiny-gpt-abc":
    ids = torch.tensor(["abc".index(c) for c in "abc" * 20])
elif a.data:
    text = pathlib.Path(a.data).read_text(encoding="utf-8")
    letters = {c: i for i, c in enumerate(sorted(set(text)))}
    preset["vocabulary"] = len(letters)
    ids = torch.tensor([letters[c] for c in text[: int(0.9 * len(text))]])
else:
    ids = torch.randint(0, preset["vocabulary"], (1_000_000,), generator=torch.Generator().manual_seed(1))
offsets = torch.arange(a.block + 1)


def batches(seed):
    # TinyGPT's batches go on from the generator that drew the weights; a decoder's have their own.
    generator = None if a.preset == "tiny-gpt-abc" else torch.Generator().manual_seed(seed + 10000)

    def draw():
        starts = torch.randint(0, len(ids) - a.block - 1, (a.batch,), generator=generator)
        rows = ids[starts[:, None] + offsets]
        return rows[:, :-1], rows[:, 1:].contiguous()

    return draw


def optimizer(model):
    if a.preset == "tiny-gpt-abc":
        return torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    rest = [p for p in model.parameters() if p.dim() != 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=preset["rate"], betas=(0.9, preset["beta2"]), fused=True)


def rate(step, warmup=100, steps=2000):
    if step <= warmup:
        return preset["rate"] * step / warmup
    along = (step - warmup) / (steps - warmup)
    return preset["last_rate"] + 0.5 * (1 + math.cos(math.pi * along)) * (preset["rate"] - preset["last_rate"])


if a.preset == "tiny-gpt-abc":
    compete(a, lambda: TinyGPT(3), optimizer, batches)
else:
    sizes = {k: preset[k] for k in ("vocabulary", "context", "width", "heads", "layers", "bias", "approximate")}
    compete(a, lambda: GPT(**sizes), optimizer, batches, clip=1.0, schedule=rate)
