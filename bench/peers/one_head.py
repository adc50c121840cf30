"""One-head smoke training in PyTorch, timed: the loop of `tril train one-head-smoke`, from the same seed and data.

usage: one_head.py [--windows FILE] [--threads N] [--compile] [--steps 300] [--repeat 3] …
  --windows   int32, little-endian: vocabulary, ids a row, then the rows: the context, left-padded with 0, and the target
              (without it: 70,279 random rows, which take the same time)

Only the last query is computed. Prints one JSON line: targets_per_second, first_loss, last_loss, version, settings.
"""
import pathlib

import torch

from peer import arguments, compete
from models import WindowAttention  # found by peer's path

a = arguments(windows="", context=12, d_model=48, hidden=160, heads=1, vocabulary=1500, batch=256, learning_rate=3e-3,
              weight_decay=1e-4, clip=1.0, seed=11).parse_args()

if a.windows:
    numbers = torch.frombuffer(bytearray(pathlib.Path(a.windows).read_bytes()), dtype=torch.int32).long()
    a.vocabulary, a.context = numbers[0].item(), numbers[1].item() - 1
    rows = numbers[2:].view(-1, a.context + 1)
else:
    rows = torch.randint(4, a.vocabulary, (70279, a.context + 1), generator=torch.Generator().manual_seed(1))
contexts, targets = rows[:, :-1].contiguous(), rows[:, -1].contiguous()


def batches(seed):
    generator = torch.Generator().manual_seed(seed + 10000)

    def draw():
        chosen = torch.randint(0, len(rows), (a.batch,), generator=generator)
        return contexts[chosen], targets[chosen]

    return draw


compete(a, lambda: WindowAttention(a.vocabulary, a.context, a.d_model, a.hidden, a.heads),
        lambda model: torch.optim.AdamW(model.parameters(), lr=a.learning_rate, weight_decay=a.weight_decay, fused=True),
        batches, clip=a.clip)
