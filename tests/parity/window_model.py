"""A small teaching model as a whole: weights as drawn, one padded batch, logits, loss and the gradient of every weight
(float64), for one head and for two."""
import torch
from torch.nn import functional as F

from common import tensor, write
from models import WindowAttention

ids = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 1, 7, 3], [4, 22, 5, 5, 21], [0, 1, 9, 9, 9]])
targets = torch.tensor([7, 2, 6, 0])
cases = []
for heads in (1, 2):
    torch.manual_seed(30 + heads)
    model = WindowAttention(23, context=5, d_model=8, hidden=11, heads=heads)
    weights = [{"name": n, **tensor(p)} for n, p in model.named_parameters()]
    model.double()
    logits = model(ids)
    loss = F.cross_entropy(logits, targets)
    loss.backward()
    for w, p in zip(weights, model.parameters()):
        w["grad"] = p.grad.flatten().tolist()
    cases.append({"seed": 30 + heads, "heads": heads, "logits": tensor(logits), "loss": loss.item(), "weights": weights})
write(__file__, "window_model", {"vocabulary": 23, "context": 5, "d_model": 8, "hidden": 11, "ids": tensor(ids),
                                 "targets": tensor(targets), "cases": cases})
