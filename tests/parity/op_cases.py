"""How an op's numbers are made: inputs drawn in float32, the PyTorch function run in float64, one random upstream
gradient, and autograd's gradients. Leaves out: which ops there are (ops.py, decoder_ops.py)."""
import torch

from common import values


def draw(shape, low=-1.5, high=1.5):
    return torch.empty(shape).uniform_(low, high)


def flat(x):
    """Row-major; −∞, which JSON lacks, as the text "-inf"."""
    return {"shape": list(x.shape), "data": [v if v != float("-inf") else "-inf" for v in values(x)]}


def case(function, inputs, **attributes):
    """One call. Float inputs get gradients, integer ones are ids or counts, a None is left out."""
    given = {k: v for k, v in inputs.items() if v is not None}
    wide = {k: v.double().requires_grad_() if v.is_floating_point() else v for k, v in given.items()}
    output = function(**wide, **attributes)
    upstream = draw(output.shape)
    differentiable = {k: v for k, v in wide.items() if v.requires_grad}
    grads = torch.autograd.grad(output, list(differentiable.values()), upstream.double())
    return {"inputs": {k: flat(v) for k, v in given.items()}, "attributes": attributes, "output": flat(output),
            "upstream": flat(upstream), "grads": {k: flat(g) for k, g in zip(differentiable, grads)}}


def visible(queries, keys, causal=1, pad=None):
    """[B or 1, queries, keys]: which key a query sees. The queries are the last positions; `pad` counts the padded
    ones at the left, whose queries keep their causal prefix."""
    position = torch.arange(keys - queries, keys)[:, None]
    key = torch.arange(keys)
    sees = (key <= position) | (not causal)
    pad = torch.zeros(1, dtype=torch.long) if pad is None else pad
    return sees & ((position < pad[:, None, None]) | (key >= pad[:, None, None]))
