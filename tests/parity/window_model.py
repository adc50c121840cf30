"""Small window models as a whole: weights as drawn, one padded batch, logits, loss and the gradient of every weight
(float64), for the attention model with one head and two, and for the MLP."""
import torch
from torch import nn
from torch.nn import functional as F

from common import tensor, write
from models import WindowAttention


class WindowMlp(nn.Module):
    """The embeddings of a window's slots side by side, a ReLU layer, the vocabulary head."""

    def __init__(self, vocabulary, context, d_model, hidden):
        super().__init__()
        self.token = nn.Embedding(vocabulary, d_model, padding_idx=0)
        self.hidden = nn.Linear(context * d_model, hidden)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        return self.head(F.relu(self.hidden(self.token(ids).flatten(1))))


ids = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 1, 7, 3], [4, 22, 5, 5, 21], [0, 1, 9, 9, 9]])
targets = torch.tensor([7, 2, 6, 0])
sizes = dict(vocabulary=23, context=5, d_model=8, hidden=11)
cases = []
for family, heads, seed in (("window_attention", 1, 31), ("window_attention", 2, 32), ("window_mlp", 1, 33)):
    torch.manual_seed(seed)
    model = WindowMlp(**sizes) if family == "window_mlp" else WindowAttention(**sizes, heads=heads)
    weights = [{"name": n, **tensor(p)} for n, p in model.named_parameters()]
    model.double()
    logits = model(ids)
    loss = F.cross_entropy(logits, targets)
    loss.backward()
    for w, p in zip(weights, model.parameters()):
        w["grad"] = p.grad.flatten().tolist()
    cases.append({"family": family, "seed": seed, "heads": heads, "logits": tensor(logits), "loss": loss.item(),
                  "weights": weights})
write(__file__, "window_model", {**sizes, "ids": tensor(ids), "targets": tensor(targets), "cases": cases})
