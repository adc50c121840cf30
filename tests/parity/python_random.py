"""CPython's random.Random: seeding from an integer, random, gauss, getrandbits, randrange, shuffle, choices."""
from random import Random

import numpy as np

from common import digest, write

cases = []
for seed in (0, 1, 42, -7, 2**32 - 1, 2**32, 2**53 + 1, -(2**62) - 9):
    r = Random(seed)
    case = {"seed": seed, "random": [r.random() for _ in range(3)], "gauss": [r.gauss(0, 0.08) for _ in range(3)],
            "random_between": r.random(), "gauss_kept": r.gauss(1.5, 2.0),
            "getrandbits": [[k, r.getrandbits(k)] for k in (1, 5, 31, 32, 33, 40, 63)]}
    case["randrange"] = [[n, r.randrange(n)] for n in (1, 2, 3, 10, 64, 1000, 2**32, 2**40 + 1)]
    case["randrange_low"] = [r.randrange(-20, 13) for _ in range(4)]
    items = list(range(30))
    r.shuffle(items)
    case["shuffle"] = items
    weights = [0.1, 0.0, 2.5, 1e-9, 0.7, 0.7]
    case["choices_weighted"] = [r.choices(range(6), weights=weights)[0] for _ in range(40)]
    case["choices"] = [r.choices(range(27))[0] for _ in range(20)]
    case["uniform"] = r.uniform(-2.0, 5.0)
    cases.append(case)

r = Random(42)
items = list(range(32033))
r.shuffle(items)
long = {"shuffle": digest(np.array(items, dtype=np.int64)),
        "gauss": digest(np.array([r.gauss(0, 0.08) for _ in range(4192)])),
        "random": digest(np.array([r.random() for _ in range(10_000)]))}

write(__file__, "python_random", {"cases": cases, "long": long}, outside=False)
