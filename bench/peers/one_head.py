"""One-head smoke training in PyTorch, timed: the work of `tril train one-head-smoke`'s loop, from the same seed and data.

usage: one_head.py [--windows FILE] [--steps 300] [--batch 256] [--threads N] [--compile] [--repeat 3] …
  --windows   int32, little-endian, context + 1 ids a row: the context, left-padded with 0, then the target
              (without it: 70,279 random rows, which take the same time)

Prints one JSON line: targets_per_second (the best of --repeat runs), first_loss, last_loss, version, settings.
Only the loop is timed: batches, forward, backward, clipping and AdamW, the losses kept; compilation and one warm-up
run are not. Only the last query is computed, the optimizer is fused, and nothing is read back before the end.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
from models import WindowAttention  # noqa: E402

arguments = argparse.ArgumentParser()
arguments.add_argument("--windows", type=pathlib.Path)
for name, default in (("context", 12), ("d_model", 48), ("hidden", 160), ("heads", 1), ("vocabulary", 1500), ("steps", 300),
                      ("batch", 256), ("seed", 11), ("threads", torch.get_num_threads()), ("repeat", 3)):
    arguments.add_argument("--" + name, type=int, default=default)
arguments.add_argument("--learning_rate", type=float, default=3e-3)
arguments.add_argument("--weight_decay", type=float, default=1e-4)
arguments.add_argument("--clip", type=float, default=1.0)
arguments.add_argument("--compile", action="store_true")
arguments.add_argument("--trace", action="store_true", help="print every step's loss too")
a = arguments.parse_args()
torch.set_num_threads(a.threads)

if a.windows:
    rows = torch.frombuffer(bytearray(a.windows.read_bytes()), dtype=torch.int32).view(-1, a.context + 1).long()
else:
    rows = torch.randint(4, a.vocabulary, (70279, a.context + 1))
contexts, targets = rows[:, :-1].contiguous(), rows[:, -1].contiguous()


def train(step_of):
    torch.manual_seed(a.seed)
    model = WindowAttention(a.vocabulary, a.context, a.d_model, a.hidden, a.heads)
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.learning_rate, weight_decay=a.weight_decay, fused=True)
    draws = torch.Generator().manual_seed(a.seed + 10000)
    step = step_of(model)
    losses = []
    start = time.perf_counter()
    for _ in range(a.steps):
        chosen = torch.randint(0, len(rows), (a.batch,), generator=draws)
        loss = step(contexts[chosen], targets[chosen])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), a.clip)
        optimizer.step()
        losses.append(loss.detach())
    return time.perf_counter() - start, [x.item() for x in losses]


def step_of(model):
    step = lambda x, y: F.cross_entropy(model(x), y)  # noqa: E731
    return torch.compile(step) if a.compile else step


train(step_of)
runs = [train(step_of) for _ in range(a.repeat)]
seconds, losses = min(runs)
print(json.dumps({"targets_per_second": round(a.steps * a.batch / seconds), "first_loss": losses[0], "last_loss": losses[-1],
                  "version": "torch " + torch.__version__,
                  "settings": {"threads": a.threads, "compile": a.compile, "batch": a.batch, "steps": a.steps},
                  **({"losses": losses} if a.trace else {})}))
