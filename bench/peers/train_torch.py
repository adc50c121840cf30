"""A preset's training in PyTorch, timed: the loop of `tril train`, from the same seed and data.

usage: train_torch.py --work one-head-smoke|four-heads-64|window-mlp|tiny-gpt-abc|shakespeare-char|shakespeare-char-6|gpt2-124m
       [--data WINDOWS|TEXT] [--threads N] [--compile] [--steps N] [--serve] [--evaluate|--until LOSS]

Prints one JSON line a round; `rate` is targets a second. With --evaluate: the loss over one block of 1,024 tokens instead,
nothing recorded. With --until, on a text of which the last tenth is for validation: until its loss is reached, asked each 100
steps and not counted; `rate` is such runs a minute.

Fair to PyTorch: the optimizer is fused, attention too, only a window's last query is computed, a step's loss is kept and read
only after the clock stops, batches are gathered in one indexing, and the first step, which compiles and sets up memory, is not
timed.
"""
import time

import torch
from torch.nn import functional as F

from peer import arguments, rounds
from works import work

parser = arguments(work="", data="", steps=300, until=0.0)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--evaluate", action="store_true")
a = parser.parse_args()
torch.set_num_threads(a.threads)
w = work(a.work, a.data, a.steps)
version = "torch " + torch.__version__.split("+")[0]


def loss_of(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))


step = torch.compile(loss_of) if a.compile else loss_of


def train():
    torch.manual_seed(w.seed)
    model = w.make_model()
    optimizer, draw = w.optimizer(model), w.make_batches()
    losses, targets, start = [], 0, 0
    for number in range(1, w.steps + 1):
        if number == 2:
            start = time.perf_counter()
        if w.schedule:
            for group in optimizer.param_groups:
                group["lr"] = w.schedule(number)
        x, y = draw()
        loss = step(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        if w.clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), w.clip)
        optimizer.step()
        losses.append(loss.detach())
        targets += y.numel() if number > 1 else 0
    rate = targets / (time.perf_counter() - start)
    return {"rate": rate, "first_loss": losses[0].item(), "last_loss": losses[-1].item(), "version": version}


@torch.no_grad()
def validation_loss(model, ids, context=64, at_once=64):
    """Over the whole tail in consecutive blocks, the last one shorter."""
    nats, whole = 0.0, (len(ids) - 1) // context * context
    x, y = ids[:whole].view(-1, context), ids[1 : whole + 1].view(-1, context)
    parts = [(x[i : i + at_once], y[i : i + at_once]) for i in range(0, len(x), at_once)]
    if whole < len(ids) - 1:
        parts.append((ids[None, whole:-1], ids[None, whole + 1 :]))
    for x, y in parts:
        nats += step(model, x, y).item() * y.numel()
    return nats / (len(ids) - 1)


def until():
    torch.manual_seed(w.seed)
    model = w.make_model()
    optimizer, draw = w.optimizer(model), w.make_batches()
    seconds, first, reached = 0.0, 0.0, float("inf")
    for number in range(1, w.steps + 1):
        start = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = w.schedule(number)
        loss = step(model, *draw())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), w.clip)
        optimizer.step()
        seconds += time.perf_counter() - start
        if number == 1:
            first = loss.item()
        if number % 100 == 0:
            reached = validation_loss(model, w.validation)
        if reached <= a.until:
            break
    return {"rate": 60 / seconds if reached <= a.until else 0.0, "first_loss": first, "last_loss": reached, "version": version}


ready = None


@torch.no_grad()
def evaluate():
    global ready
    if ready is None:
        torch.manual_seed(w.seed)
        ids = torch.randint(0, 50257, (1_000_000,), generator=torch.Generator().manual_seed(1))[:1025]
        ready = w.make_model().eval(), ids[None, :-1], ids[None, 1:].contiguous()
        step(*ready)  # compiles
    start = time.perf_counter()
    loss = step(*ready)
    seconds = time.perf_counter() - start
    return {"rate": 1024 / seconds, "first_loss": loss.item(), "last_loss": loss.item(), "version": version}


rounds(a, evaluate if a.evaluate else until if a.until else train)
