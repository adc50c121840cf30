"""tril's own draws (src/tril/tensor/draws.h), for dropout under PyTorch: which numbers a call keeps. Leaves out: sampling."""
import torch

BITS = (1 << 64) - 1


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & BITS
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & BITS
    return x ^ (x >> 31)


def factors(shape, p, stream=0, seed=0):
    """0 where number n of the stream is below p, else 1/(1 − p); row-major."""
    key = mix(mix(seed) + mix(~stream & BITS) & BITS)
    count = torch.Size(shape).numel()
    uniform = [(mix(mix(key + n * 0x9E3779B97F4A7C15 & BITS) ^ key) >> 11) * 2.0**-53 for n in range(count)]
    return torch.tensor([0.0 if u < p else 1 / (1 - p) for u in uniform], dtype=torch.float64).view(shape)
