"""Learning rates step by step, by PyTorch's schedulers: warm-up, then constant, cosine, linear or trapezoid."""
import torch
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LinearLR, SequentialLR

from common import write

cases = []
for schedule, top, low, warmup, steps, cooldown in (
        ("constant", 3e-3, 0.0, 0, 12, 0), ("constant", 1e-2, 0.0, 5, 12, 0), ("cosine", 1e-3, 1e-4, 7, 40, 0),
        ("cosine", 6e-4, 0.0, 0, 25, 0), ("linear", 1e-3, 1e-5, 4, 30, 0), ("linear", 2e-3, 0.0, 0, 10, 0),
        ("trapezoid", 1e-3, 1e-4, 3, 30, 8), ("trapezoid", 5e-3, 0.0, 0, 20, 5)):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=top)
    at = lambda x: (low + (top - low) * x) / top  # noqa: E731  where x of the way up from low to top is, as a factor
    rest = steps - warmup
    after = {"constant": lambda: [ConstantLR(optimizer, 1.0)],
             "cosine": lambda: [CosineAnnealingLR(optimizer, rest, low)],
             "linear": lambda: [LinearLR(optimizer, 1.0, at(0), rest)],
             "trapezoid": lambda: [ConstantLR(optimizer, 1.0),
                                   LinearLR(optimizer, at(cooldown / (cooldown + 1)), at(1 / (cooldown + 1)), cooldown - 1)]}
    parts, milestones = after[schedule](), [steps - cooldown] if schedule == "trapezoid" else []
    if warmup:
        parts, milestones = [LinearLR(optimizer, 1 / (warmup + 1), 1.0, warmup), *parts], [warmup, *milestones]
    scheduler = SequentialLR(optimizer, parts, milestones)
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    cases.append({"schedule": schedule, "learning_rate": top, "min_learning_rate": low, "warmup": warmup, "steps": steps,
                  "cooldown": cooldown, "rates": rates})
write(__file__, "schedules", {"cases": cases})
