"""One-head smoke training on tales, 300 steps in plain PyTorch: the loss of every step.

The windows come from tril ($TRIL_WINDOWS, which regenerate.sh makes; int32 little-endian: vocabulary, ids a row, then
the rows: the context, left-padded with 0, and the target). Only their SHA-256 is stored.
"""
import os
import pathlib
import sys

import torch
from torch.nn import functional as F

from common import sha256, write
from models import WindowAttention

STEPS, BATCH, SEED = 300, 256, 11
if not os.environ.get("TRIL_WINDOWS"):
    sys.exit("one_head_run.py: set TRIL_WINDOWS, or run regenerate.sh one_head_run")
data = pathlib.Path(os.environ["TRIL_WINDOWS"]).read_bytes()
numbers = torch.frombuffer(bytearray(data), dtype=torch.int32).long()
vocabulary, columns = numbers[:2].tolist()
rows = numbers[2:].view(-1, columns)

torch.manual_seed(SEED)
model = WindowAttention(vocabulary, context=columns - 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
draws = torch.Generator().manual_seed(SEED + 10000)
losses, norms = [], []
for _ in range(STEPS):
    batch = rows[torch.randint(0, len(rows), (BATCH,), generator=draws)]
    loss = F.cross_entropy(model(batch[:, :-1]), batch[:, -1])
    optimizer.zero_grad()
    loss.backward()
    norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
    optimizer.step()
    losses.append(loss.item())
print("step 1: %.6f, step 300: %.6f" % (losses[0], losses[-1]))
write(__file__, "one_head_run", {"vocabulary": vocabulary, "context": columns - 1, "targets": len(rows),
                                 "windows_sha256": sha256(data), "losses": losses, "gradient_norms": norms[:25]})
