"""Muon for 20 steps on stored gradients, by torch.optim.Muon: a square, a wide and a tall matrix.

Its rounds run in bfloat16; here that rounding is taken out (Tensor.bfloat16 gives the tensor back), so that the numbers are
those of the formula in float64. Its adjust_lr_fn is the default, "original": lr · √max(1, rows/cols).
"""
import torch

from common import tensor, values, write

STEPS = 20
torch.manual_seed(6)
sizes = {"square": (6, 6), "wide": (4, 9), "tall": (11, 3)}
start = {k: torch.empty(s).uniform_(-1, 1) for k, s in sizes.items()}
# Sizes differ by step and by row, and one step has no gradient at all.
gradients = [{k: torch.empty(s).uniform_(-1, 1) * torch.logspace(-3, 1, s[0])[:, None] * (0 if step == 6 else 1)
              for k, s in sizes.items()} for step in range(STEPS)]
torch.Tensor.bfloat16 = lambda self: self.clone()
cases = []
for options in (dict(lr=0.02), dict(lr=1e-2, weight_decay=0, momentum=0.8), dict(lr=0.05, weight_decay=0.5)):
    p = {k: torch.nn.Parameter(v.double()) for k, v in start.items()}
    optimizer = torch.optim.Muon(p.values(), **options)
    after = {}
    for step, g in enumerate(gradients, 1):
        for k in p:
            p[k].grad = g[k].double()
        optimizer.step()
        if step in (1, 2, STEPS):
            after[str(step)] = {k: values(v) for k, v in p.items()}
    d = optimizer.defaults
    cases.append({"learning_rate": d["lr"], "momentum": d["momentum"], "weight_decay": d["weight_decay"], "after": after,
                  "m": {k: values(optimizer.state[v]["momentum_buffer"]) for k, v in p.items()}})
write(__file__, "muon", {"start": {k: tensor(v) for k, v in start.items()},
                         "gradients": [{k: values(v) for k, v in g.items()} for g in gradients], "cases": cases})
