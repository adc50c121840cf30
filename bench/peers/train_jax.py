"""A preset's training in JAX, timed: the loop of `tril train`, one jitted function a step, from the same weights and batches.

usage: train_jax.py --work one-head-smoke|four-heads-64|tiny-gpt-abc|shakespeare-char|microgpt-16 [--data WINDOWS|NAMES] [--threads 1]
       [--steps N] [--serve]

Prints one JSON line a round; `rate` is targets (microgpt-16: names) a second. PyTorch draws weights and batches (works.py) before the clock starts.
Fair to JAX: buffers are donated, losses are read when the clock has stopped, the first step, which compiles, is not timed.
"""
import time

from peer import arguments, keep_to_one_processor, rounds

a = arguments(work="", data="", steps=300).parse_args()
if a.threads == 1:
    keep_to_one_processor()
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

from works import work  # noqa: E402

w = work(a.work, a.data, a.steps)


def heads_apart(x, heads):  # [B, T, d] -> [B, H, T, d/H]
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, hidden):
    """`hidden` is True where a key is not seen."""
    q, k, v = (heads_apart(x, w.heads) for x in (q, k, v))
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(q.shape[-1])
    messages = jax.nn.softmax(jnp.where(hidden, -jnp.inf, scores)) @ v
    return messages.transpose(0, 2, 1, 3).reshape(messages.shape[0], messages.shape[2], -1)


def layer(p, name, x):
    y = x @ p[name + ".weight"].T
    return y + p[name + ".bias"] if name + ".bias" in p else y


def layer_norm(p, name, x):
    y = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * p[name + ".weight"]
    return y + p[name + ".bias"] if name + ".bias" in p else y


def rms_norm(x):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def later(length):
    return jnp.triu(jnp.ones((length, length), bool), 1)


def window(p, ids):
    x = p["token.weight"][ids] * (ids != 0)[..., None] + p["position.weight"]
    hidden = (ids == 0)[:, None, None, :] & (ids[:, -1] != 0)[:, None, None, None]
    messages = attention(layer(p, "w_q", x[:, -1:]), layer(p, "w_k", x), layer(p, "w_v", x), hidden)[:, 0]
    return layer(p, "head", jax.nn.relu(layer(p, "hidden", x[:, -1] + layer(p, "w_o", messages))))


def tiny_gpt(p, ids):
    x = p["token.weight"][ids] + p["position"][: ids.shape[1]]
    for b in ("blocks.0.", "blocks.1."):
        q, k, v = (layer(p, b + n, x) for n in ("w_q", "w_k", "w_v"))
        x = layer_norm(p, b + "ln1", x + layer(p, b + "w_o", attention(q, k, v, later(ids.shape[1]))))
        x = layer_norm(p, b + "ln2", x + layer(p, b + "ffn2", jax.nn.relu(layer(p, b + "ffn1", x))))
    return layer(p, "output", x)


def gpt(p, ids):
    x = p["token.weight"][ids] + p["position.weight"][: ids.shape[1]]
    i = 0
    while f"blocks.{i}.ln1.weight" in p:
        b = f"blocks.{i}."
        q, k, v = jnp.split(layer(p, b + "qkv", layer_norm(p, b + "ln1", x)), 3, -1)
        x = x + layer(p, b + "proj", attention(q, k, v, later(ids.shape[1])))
        x = x + layer(p, b + "fc2", jax.nn.gelu(layer(p, b + "fc1", layer_norm(p, b + "ln2", x)), approximate=False))
        i += 1
    return layer_norm(p, "ln", x) @ p["token.weight"].T


def microgpt(p, ids):
    x = rms_norm(p["wte"][ids] + p["wpe"])
    y = rms_norm(x)
    x = x + attention(y @ p["wq"].T, y @ p["wk"].T, y @ p["wv"].T, later(ids.shape[1])) @ p["wo"].T
    x = x + jax.nn.relu(rms_norm(x) @ p["fc1"].T) @ p["fc2"].T
    return x @ p["lm_head"].T


forward = {"tiny-gpt-abc": tiny_gpt, "shakespeare-char": gpt, "microgpt-16": microgpt}.get(a.work, window)


def loss_of(p, fixed, x, y):
    logits = forward({**p, **fixed}, x)
    nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.maximum(y, 0)[..., None], -1)[..., 0]
    return (nats * (y >= 0)).sum() / (y >= 0).sum()


def step(p, m, v, fixed, number, rate, x, y):
    loss, g = jax.value_and_grad(loss_of)(p, fixed, x, y)
    if w.clip:
        norm = jnp.sqrt(sum((n * n).sum() for n in g.values()))
        g = {k: n * jnp.minimum(1, w.clip / (norm + 1e-6)) for k, n in g.items()}
    b1, b2 = w.betas
    m = {k: b1 * m[k] + (1 - b1) * g[k] for k in g}
    v = {k: b2 * v[k] + (1 - b2) * g[k] ** 2 for k in g}
    c1, c2 = 1 - b1**number, jnp.sqrt(1 - b2**number)
    decay = {k: rate * w.decay if w.decay_vectors or p[k].ndim == 2 else 0 for k in p}
    p = {k: p[k] * (1 - decay[k]) - rate / c1 * m[k] / (jnp.sqrt(v[k]) / c2 + 1e-8) for k in p}
    return p, m, v, loss


torch.manual_seed(w.seed)
model = w.make_model()
weights = model if isinstance(model, dict) else {k: p.detach() for k, p in model.named_parameters()}
weights = {k: n.float().numpy() for k, n in weights.items()}
fixed = {"position": jnp.asarray(model.position.numpy())} if a.work == "tiny-gpt-abc" else {}
draw = w.make_batches()
batches = [draw() for _ in range(w.steps)]
counts = [len(x) if a.work.startswith("microgpt") else y.numel() for x, y in batches]
batches = [(x.int().numpy(), y.int().numpy()) for x, y in batches]
rates = [w.schedule(n) if w.schedule else w.rate for n in range(1, w.steps + 1)]
jitted = jax.jit(step, donate_argnums=(0, 1, 2))


def train():
    p = {k: jnp.asarray(n.copy()) for k, n in weights.items()}
    m, v = ({k: jnp.zeros_like(n) for k, n in p.items()} for _ in range(2))
    losses, start = [], 0
    for number, ((x, y), rate) in enumerate(zip(batches, rates), 1):
        p, m, v, loss = jitted(p, m, v, fixed, np.float32(number), np.float32(rate), x, y)
        losses.append(loss)
        if number == 1:
            loss.block_until_ready()
            start = time.perf_counter()
    losses[-1].block_until_ready()
    rate = sum(counts[1:]) / (time.perf_counter() - start)
    return {"rate": rate, "first_loss": float(losses[0]), "last_loss": float(losses[-1]), "version": "jax " + jax.__version__}


rounds(a, train)
