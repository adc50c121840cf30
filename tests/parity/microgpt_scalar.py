"""A GPT on scalars, in plain Python: the arithmetic behind tril's preset `microgpt`, small enough to read whole.

usage: microgpt_scalar.py NAMES.txt [SEED [STEPS]]      (default: seed 42, 1,000 steps; prints losses and 20 samples)

One layer, width 16, 4 heads, 16 positions. Every number is a Node that knows which Nodes it came from and its slope
by each of them; backward walks the tape from its end. Leaves out: batches, evaluation, files.
"""
import math
import random
import sys

WIDTH, HEADS, CONTEXT, HIDDEN = 16, 4, 16, 64
HEAD = WIDTH // HEADS
TEMPERATURE, SAMPLES = 0.5, 20
RATE, BETA1, BETA2, EPSILON = 0.01, 0.85, 0.99, 1e-8

tape = []


class Node:
    __slots__ = ("value", "grad", "inputs", "slopes", "m", "v")

    def __init__(self, value, inputs=(), slopes=()):
        self.value, self.grad, self.inputs, self.slopes = value, 0.0, inputs, slopes
        if inputs:
            tape.append(self)
        else:
            self.m = self.v = 0.0  # a weight: Adam's two averages


def backward(loss):
    loss.grad = 1.0
    for node in reversed(tape):
        for source, slope in zip(node.inputs, node.slopes):
            source.grad += slope * node.grad
    tape.clear()


def add(a, b):
    return Node(a.value + b.value, (a, b), (1.0, 1.0))


def scaled(a, factor):
    return Node(a.value * factor, (a,), (factor,))


def multiplied(a, b):
    return Node(a.value * b.value, (a, b), (b.value, a.value))


def relu(a):
    return Node(max(a.value, 0.0), (a,), (1.0 if a.value > 0 else 0.0,))


def dot(a, b):
    x, y = [n.value for n in a], [n.value for n in b]
    return Node(sum(p * q for p, q in zip(x, y)), (*a, *b), (*y, *x))


def linear(rows, x):
    return [dot(row, x) for row in rows]


def rms_norm(x):
    mean_square = scaled(dot(x, x), 1 / len(x))
    root = (mean_square.value + 1e-5) ** -0.5
    scale = Node(root, (mean_square,), (-0.5 * root**3,))
    return [multiplied(n, scale) for n in x]


def softmax(x):
    top = max(n.value for n in x)
    powers = [Node(math.exp(n.value - top), (n,), (math.exp(n.value - top),)) for n in x]
    total = Node(sum(n.value for n in powers), tuple(powers), (1.0,) * len(x))
    inverse = Node(1 / total.value, (total,), (-1 / total.value**2,))
    return [multiplied(n, inverse) for n in powers]


def matrix(rows, columns):
    return [[Node(random.gauss(0, 0.08)) for _ in range(columns)] for _ in range(rows)]


def make_weights(vocabulary):
    """The draws' order is part of the program: another order is another model."""
    sizes = {"wte": (vocabulary, WIDTH), "wpe": (CONTEXT, WIDTH), "lm_head": (vocabulary, WIDTH),
             "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, WIDTH),
             "fc1": (HIDDEN, WIDTH), "fc2": (WIDTH, HIDDEN)}
    return {name: matrix(*size) for name, size in sizes.items()}


def logits(w, token, position, keys, values):
    """Next-token scores for one token; keys and values of the tokens before it are in the two lists."""
    x = rms_norm([add(t, p) for t, p in zip(w["wte"][token], w["wpe"][position])])
    y = rms_norm(x)
    query = linear(w["wq"], y)
    keys.append(linear(w["wk"], y))
    values.append(linear(w["wv"], y))
    heads = []
    for h in range(0, WIDTH, HEAD):
        scores = [scaled(dot(query[h:h + HEAD], key[h:h + HEAD]), HEAD**-0.5) for key in keys]
        weights = softmax(scores)
        heads += [dot(weights, [value[h + i] for value in values]) for i in range(HEAD)]
    x = [add(a, b) for a, b in zip(x, linear(w["wo"], heads))]
    hidden = [relu(n) for n in linear(w["fc1"], rms_norm(x))]
    x = [add(a, b) for a, b in zip(x, linear(w["fc2"], hidden))]
    return linear(w["lm_head"], x)


def document_loss(w, tokens):
    keys, values, losses = [], [], []
    for position in range(min(CONTEXT, len(tokens) - 1)):
        chances = softmax(logits(w, tokens[position], position, keys, values))
        chance = chances[tokens[position + 1]]
        losses.append(Node(-math.log(chance.value), (chance,), (-1 / chance.value,)))
    total = Node(sum(n.value for n in losses), tuple(losses), (1.0,) * len(losses))
    return scaled(total, 1 / len(losses))


def adam(weights, step, steps):
    rate = RATE * (1 - (step - 1) / steps)
    for p in weights:
        p.m = BETA1 * p.m + (1 - BETA1) * p.grad
        p.v = BETA2 * p.v + (1 - BETA2) * p.grad**2
        p.value -= rate * (p.m / (1 - BETA1**step)) / (math.sqrt(p.v / (1 - BETA2**step)) + EPSILON)
        p.grad = 0.0


def sample(w, letters):
    token, keys, values, text = len(letters), [], [], ""
    for position in range(CONTEXT):
        scores = [scaled(n, 1 / TEMPERATURE) for n in logits(w, token, position, keys, values)]
        chances = [n.value for n in softmax(scores)]
        token = random.choices(range(len(letters) + 1), weights=chances)[0]
        if token == len(letters):
            break
        text += letters[token]
    tape.clear()
    return text


def run(path, seed=42, steps=1000, report=lambda step, loss: None):
    """Trains on the names of a file, one a line; gives sizes, the loss of every step, and the samples."""
    random.seed(seed)
    names = [line.strip() for line in open(path, encoding="utf-8") if line.strip()]
    random.shuffle(names)
    letters = sorted(set("".join(names)))  # the token after the last letter marks a name's begin and end
    w = make_weights(len(letters) + 1)
    weights = [n for rows in w.values() for row in rows for n in row]
    losses = []
    for step in range(1, steps + 1):
        name = names[(step - 1) % len(names)]
        tokens = [len(letters), *(letters.index(c) for c in name), len(letters)]
        loss = document_loss(w, tokens)
        backward(loss)
        adam(weights, step, steps)
        losses.append(loss.value)
        report(step, loss.value)
    return {"documents": len(names), "tokens": len(letters) + 1, "parameters": len(weights), "seed": seed,
            "steps": steps, "losses": losses, "samples": [sample(w, letters) for _ in range(SAMPLES)]}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    result = run(sys.argv[1], *map(int, sys.argv[2:4]), report=lambda step, loss: print(f"step {step} loss {loss:.4f}"))
    print("\n".join(result["samples"]))
