"""Adam and AdamW for 20 steps on stored gradients, by PyTorch in float64: a matrix and a vector, with and without
weight decay and clipping."""
import torch

from common import tensor, values, write

STEPS = 20
torch.manual_seed(5)
start = {"matrix": torch.empty(5, 7).uniform_(-1, 1), "vector": torch.empty(4).uniform_(-1, 1)}
# Sizes differ by step and by place, some numbers never get a gradient, and one step has none at all.
sizes = torch.logspace(-4, 1, 7)
gradients = [{"matrix": torch.empty(5, 7).uniform_(-1, 1) * sizes * (0 if step == 6 else 1),
              "vector": torch.empty(4).uniform_(-2, 2) * (0 if step == 6 else 1)} for step in range(STEPS)]
for g in gradients:
    g["vector"][2] = 0

settings = [("adam", dict(lr=1e-2), 0), ("adam", dict(lr=1e-2, weight_decay=0.1), 1.0),
            ("adam", dict(lr=1e-2, betas=(0.85, 0.99)), 0),
            ("adamw", dict(lr=3e-3, weight_decay=0), 0),
            ("adamw", dict(lr=3e-3, weight_decay=1e-4), 1.0), ("adamw", dict(lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1), 0.25),
            ("adamw", dict(lr=1e-2, weight_decay=0.5, eps=1e-3), 1e6)]
cases = []
for name, options, clip in settings:
    p = {k: torch.nn.Parameter(v.double()) for k, v in start.items()}
    optimizer = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name](p.values(), **options)
    norms, after = [], {}
    for step, g in enumerate(gradients, 1):
        for k in p:
            p[k].grad = g[k].double()
        norms.append(float(torch.nn.utils.clip_grad_norm_(p.values(), clip or float("inf"))))
        optimizer.step()
        if step in (1, 2, STEPS):
            after[str(step)] = {k: values(v) for k, v in p.items()}
    d = optimizer.defaults
    cases.append({"optimizer": name, "learning_rate": d["lr"], "beta1": d["betas"][0], "beta2": d["betas"][1],
                  "epsilon": d["eps"], "weight_decay": d["weight_decay"], "clip": clip, "norms": norms, "after": after,
                  "m": {k: values(optimizer.state[v]["exp_avg"]) for k, v in p.items()},
                  "v": {k: values(optimizer.state[v]["exp_avg_sq"]) for k, v in p.items()}})
write(__file__, "optimizer", {"start": {k: tensor(v) for k, v in start.items()},
                              "gradients": [{k: values(v) for k, v in g.items()} for g in gradients], "cases": cases})
