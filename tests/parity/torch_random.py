"""PyTorch's draws on the CPU: rand, randn, randint, uniform_, normal_, randperm, kaiming_uniform_."""
import math

import torch

from common import digest, values, write


def generator(seed):
    return torch.Generator().manual_seed(seed)


cases = []
for seed in (0, 11, 42, 2**32 + 5, 2**63 + 1):
    g = generator(seed)
    cases.append({"seed": str(seed), "rand": values(torch.rand(5, generator=g)),
                  "randint": values(torch.randint(0, 1000, (5,), generator=g)),
                  "randn": values(torch.randn(5, generator=g)),  # odd: the sixth value is kept ...
                  "randn_next": values(torch.randn(2, generator=g)),  # ... and comes first here
                  "randn_16": values(torch.randn(16, generator=g)),
                  "randn_17": values(torch.randn(17, generator=g)),
                  "normal": values(torch.empty(3, 11).normal_(-0.5, 0.08, generator=g)),
                  "normal_kept": values(torch.empty(2).normal_(2.0, 3.0, generator=g)),
                  "randperm": values(torch.randperm(9, generator=g)),
                  "randint_after": values(torch.randint(-5, 70279, (3,), generator=g))})

g = generator(7)
long = {"rand": digest(torch.rand(100_003, generator=g)),
        "uniform": digest(torch.empty(100_003).uniform_(-0.1, 0.3, generator=g)),
        "randint": digest(torch.randint(0, 70279, (76_800,), generator=g)),
        "randperm": digest(torch.randperm(70_279, generator=g))}
x = torch.randn(20_001, generator=g)
long["randn"] = {"count": 20_001, "sum": float(x.double().sum()), "square_sum": float((x.double() ** 2).sum()),
                 "every_1000th": values(x[::1000])}

ranges = []  # where 64 bits are drawn for one integer instead of 32
for high in (1, 2, 2**27, 2**28 - 1, 2**28, 2**28 + 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**62):
    g = generator(3)
    ranges.append({"low": -3, "high": high, "values": values(torch.randint(-3, high, (4,), generator=g)),
                   "after": values(torch.rand(1, generator=g))})

linear = []
for inputs, outputs in ((48, 7), (3, 5), (160, 4), (1, 3)):
    g = generator(inputs)
    w = torch.empty(outputs, inputs)
    torch.nn.init.kaiming_uniform_(w, a=math.sqrt(5), generator=g)
    bound = 1 / math.sqrt(inputs)
    b = torch.empty(outputs)
    torch.nn.init.uniform_(b, -bound, bound, generator=g)
    torch.manual_seed(inputs)  # nn.Linear itself draws the same
    layer = torch.nn.Linear(inputs, outputs)
    assert torch.equal(layer.weight, w) and torch.equal(layer.bias, b)
    linear.append({"inputs": inputs, "outputs": outputs, "weight": digest(w), "bias": values(b)})

write(__file__, "torch_random", {"cases": cases, "long": long, "ranges": ranges, "linear": linear})
