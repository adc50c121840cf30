"""The teaching model and TinyGPT as plain PyTorch programs. Weights are drawn by PyTorch's own layers, in the order
in which the constructors make them. Leaves out: training, which the scripts that import this do."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class WindowAttention(nn.Module):
    """Token and position rows, H causal heads, residual, ReLU layer, vocabulary head. Id 0 is padding."""

    def __init__(self, vocabulary, context=12, d_model=48, hidden=160, heads=1):
        super().__init__()
        self.heads = heads
        self.token = nn.Embedding(vocabulary, d_model, padding_idx=0)
        self.position = nn.Embedding(context, d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.hidden = nn.Linear(d_model, hidden)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        """ids [B, T] -> logits [B, V] of the last position; the other queries are not computed."""
        x = self.token(ids) + self.position.weight
        batch, length, width = x.shape

        def split(y):  # [B, n, d] -> [B, H, n, d/H]
            return y.view(batch, -1, self.heads, width // self.heads).transpose(1, 2)

        last = x[:, -1:]
        q, k, v = split(self.w_q(last)), split(self.w_k(x)), split(self.w_v(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
        padded = (ids == 0)[:, None, None, :] & (ids[:, -1] != 0)[:, None, None, None]
        weights = scores.masked_fill(padded, -math.inf).softmax(-1)
        messages = (weights @ v).transpose(1, 2).reshape(batch, width)
        contextual = last[:, 0] + self.w_o(messages)
        return self.head(F.relu(self.hidden(contextual)))


class Block(nn.Module):
    """Post-norm: ln1(x + attention(x)), then ln2(x + ffn(x))."""

    def __init__(self, d_model, heads, hidden, context):
        super().__init__()
        self.heads = heads
        self.register_buffer("future", torch.ones(context, context, dtype=torch.bool).triu(1), persistent=False)
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.ffn1, self.ffn2 = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (w(x).view(batch, length, self.heads, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
        messages = scores.masked_fill(self.future[:length, :length], -math.inf).softmax(-1) @ v
        x = self.ln1(x + self.w_o(messages.transpose(1, 2).reshape(batch, length, width)))
        return self.ln2(x + self.ffn2(F.relu(self.ffn1(x))))


def sinusoidal(length, width):
    """Column 2i is sin, 2i + 1 is cos of t · 10000^(−2i/width)."""
    t = torch.arange(length, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(t * rate), torch.cos(t * rate)
    return table


class TinyGPT(nn.Module):
    def __init__(self, vocabulary, d_model=16, heads=2, hidden=32, layers=2, context=32):
        super().__init__()
        self.token = nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(Block(d_model, heads, hidden, context) for _ in range(layers))
        self.output = nn.Linear(d_model, vocabulary)
        self.register_buffer("position", sinusoidal(context, d_model), persistent=False)

    def forward(self, ids):
        x = self.token(ids) + self.position[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.output(x)
