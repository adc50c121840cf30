"""The initial weights of the teaching model (one-head-smoke, four heads) and of TinyGPT, tensor by tensor."""
import torch

from common import digest, values, write
from models import TinyGPT, WindowAttention


def weights(model):
    return [{"name": name, "shape": list(p.shape), **digest(p), "sum": float(p.detach().double().sum()),
             "square_sum": float((p.detach().double() ** 2).sum()), "start": values(p.detach().reshape(-1)[:20])}
            for name, p in model.named_parameters()]


numbers = {}
for name, seed, make in (("one_head_smoke", 11, lambda: WindowAttention(1500)),
                         ("four_heads_odd", 12, lambda: WindowAttention(101, context=7, d_model=20, hidden=33, heads=4)),
                         ("tiny_gpt_abc", 0, lambda: TinyGPT(3))):
    torch.manual_seed(seed)
    model = make()
    numbers[name] = {"seed": seed, "weights": weights(model), "next": values(torch.randint(0, 1000, (3,)))}
write(__file__, "initial_weights", numbers)
