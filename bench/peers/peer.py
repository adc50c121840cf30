"""What the PyTorch peers share: one timed training loop and the JSON line. Leaves out: models and data.

Fair to PyTorch: the optimizer is fused, the loss of a step is kept and read only after the clock stops, batches are
gathered in one indexing, compilation and a first step are not timed, and the best of --repeat runs counts.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))


def arguments(**defaults):
    """A parser with the options of every peer; defaults name further ones (typed by their value)."""
    parser = argparse.ArgumentParser()
    common = dict(steps=300, seed=0, threads=torch.get_num_threads(), repeat=3)
    for name, value in {**common, **defaults}.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--trace", action="store_true", help="put every step's loss in the JSON line")
    return parser


def compete(a, make_model, make_optimizer, make_batches, clip=0.0, schedule=None):
    """Trains from one seed, --repeat times, and prints the JSON line. make_batches(seed) gives a function that draws
    (inputs, targets); schedule(step from 1) gives the learning rate."""
    torch.set_num_threads(a.threads)

    def train():
        torch.manual_seed(a.seed)
        model = make_model()
        optimizer, draw = make_optimizer(model), make_batches(a.seed)

        def loss_of(x, y):
            logits = model(x)
            return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))

        step = torch.compile(loss_of) if a.compile else loss_of
        state = torch.get_rng_state()  # one step before the clock starts, which leaves no trace: it may compile
        step(*make_batches(a.seed)()).backward()
        optimizer.zero_grad()
        torch.set_rng_state(state)
        losses, targets = [], 0
        start = time.perf_counter()
        for number in range(1, a.steps + 1):
            if schedule:
                for group in optimizer.param_groups:
                    group["lr"] = schedule(number)
            x, y = draw()
            loss = step(x, y)
            optimizer.zero_grad()
            loss.backward()
            if clip:
                torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            losses.append(loss.detach())
            targets += y.numel()
        return targets / (time.perf_counter() - start), [x.item() for x in losses]

    rate, losses = max(train() for _ in range(a.repeat))
    line = {"targets_per_second": round(rate), "first_loss": losses[0], "last_loss": losses[-1],
            "version": "torch " + torch.__version__, "settings": {k: v for k, v in vars(a).items() if k != "trace"}}
    print(json.dumps({**line, "losses": losses} if a.trace else line))
