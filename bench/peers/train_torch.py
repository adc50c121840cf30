"""A preset's training in PyTorch, timed: the loop of `tril train`, from the same seed and data.

usage: train_torch.py --work one-head-smoke|four-heads-64|window-mlp|tiny-gpt-abc|shakespeare-char|shakespeare-char-6|gpt2-124m
       [--data WINDOWS] [--threads N] [--compile] [--steps N] [--serve] [--evaluate]

Prints one JSON line a round; `rate` is targets a second. With --evaluate: the loss over one block of 1,024 tokens instead,
nothing recorded.

Fair to PyTorch: the optimizer is fused, attention too, only a window's last query is computed, a step's loss is kept and read
only after the clock stops, batches are gathered in one indexing, and the first step, which compiles and sets up memory, is not
timed.
"""
import time

import torch
from torch.nn import functional as F

from peer import arguments, rounds
from works import work

parser = arguments(work="", data="", steps=300)
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


rounds(a, evaluate if a.evaluate else train)
