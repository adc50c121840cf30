"""TinyGPT on "abc" × 20: 500 steps of 16 slices of 8, Adam 0.01, seed 0. Losses, and greedy text from `a`."""
import torch
from torch.nn import functional as F

from common import values, write
from models import TinyGPT

STEPS, BATCH, BLOCK = 500, 16, 8
ids = torch.tensor(["abc".index(c) for c in "abc" * 20])

torch.manual_seed(0)
model = TinyGPT(3)
adam = torch.optim.Adam(model.parameters(), lr=0.01)
losses, first_starts = [], None
for step in range(STEPS):
    starts = torch.randint(0, len(ids) - BLOCK - 1, (BATCH,))
    first_starts = values(starts) if first_starts is None else first_starts
    x = torch.stack([ids[s:s + BLOCK] for s in starts])
    y = torch.stack([ids[s + 1:s + BLOCK + 1] for s in starts])
    loss = F.cross_entropy(model(x).reshape(-1, 3), y.reshape(-1))
    adam.zero_grad()
    loss.backward()
    adam.step()
    losses.append(loss.item())

text = "a"
with torch.no_grad():
    while len(text) < 16:
        context = torch.tensor([["abc".index(c) for c in text[-BLOCK:]]])
        text += "abc"[model(context)[0, -1].argmax()]
print(*("%d: %.4f" % (s, losses[s - 1]) for s in (1, 101, 201, 401)), text)
write(__file__, "tiny_gpt", {"parameters": sum(p.numel() for p in model.parameters()), "first_starts": first_starts,
                             "losses": losses, "greedy": text})
