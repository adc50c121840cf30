"""Small decoders as a whole in PyTorch (float64): logits, loss and the gradient of every weight, for the settings that
make a post-norm TinyGPT, a character GPT, GPT-2, Llama, microgpt, an encoder, one with the rarer switches, and a character GPT
under dropout by tril's draws.

Weights are named, and laid out, as tril's; settings have the keys of tril's [model] section."""
import itertools

import torch
from torch.nn import functional as F

from common import tensor, write
from draws import factors
from op_cases import draw

WIDTH, HIDDEN, CONTEXT, VOCABULARY = 8, 10, 7, 11
DEFAULTS = dict(d_model=WIDTH, heads=2, kv_heads=2, hidden=HIDDEN, layers=2, context=CONTEXT, vocab_size=VOCABULARY, norm="layer",
                norm_place="pre", norm_gain=True, embedding_norm=False, final_norm=True, position="learned", activation="relu",
                bias=False, attention_bias=False, head_bias=False, tied=False, mask="causal", qk_norm=False, softcap=0.0,
                norm_epsilon=1e-5, rope_theta=10000.0, rope_pairing="half", dropout=0.0)
VARIANTS = {
    "tiny_gpt": dict(norm_place="post", final_norm=False, position="sinusoidal", bias=True, head_bias=True),
    "character_gpt": dict(activation="gelu", tied=True),
    "gpt2": dict(activation="gelu_tanh", tied=True, bias=True, attention_bias=True),
    "llama": dict(norm="rms", position="rotary", activation="swiglu", kv_heads=1, norm_epsilon=1e-6),
    "microgpt": dict(norm="rms", norm_gain=False, embedding_norm=True, final_norm=False, layers=1),
    "encoder": dict(mask="none", norm="none", head_bias=True),
    "rarer": dict(norm="rms", position="rotary", rope_pairing="interleaved", rope_theta=50.0, activation="relu2", qk_norm=True,
                  softcap=2.0, attention_bias=True, tied=True),
    "dropped": dict(activation="gelu", tied=True, dropout=0.3),
}


def rotary(x, theta, interleaved):
    """x [B, H, T, D]: each pair of columns as one complex number, turned by e^(i t theta^(−2j/D))."""
    half = x.shape[-1] // 2
    rates = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    turn = torch.polar(torch.ones(1, dtype=torch.float64), torch.arange(x.shape[-2])[:, None] * rates)
    pairs = x.unflatten(-1, (half, 2)) if interleaved else x.unflatten(-1, (2, half)).transpose(-1, -2)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turn)
    return turned.flatten(-2) if interleaved else turned.transpose(-1, -2).flatten(-2)


def sinusoidal(length):
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def make_weights(c):
    """Every weight by name, in tril's order; gains about 1, the rest about 0."""
    weights, kv = {}, c["kv_heads"] * WIDTH // c["heads"]

    def add_norm(name):
        if c["norm"] != "none" and c["norm_gain"]:
            weights[name + ".weight"] = 1 + draw(WIDTH) / 4
        if c["norm"] == "layer" and c["bias"]:
            weights[name + ".bias"] = draw(WIDTH) / 4

    def add_layer(name, outputs, inputs, bias):
        weights[name + ".weight"] = draw((outputs, inputs)) / 2
        if bias:
            weights[name + ".bias"] = draw(outputs) / 4

    weights["token_embedding.weight"] = draw((VOCABULARY, WIDTH))
    if c["position"] == "learned":
        weights["position_embedding.weight"] = draw((CONTEXT, WIDTH))
    if c["embedding_norm"]:
        add_norm("embedding_norm")
    for i in range(c["layers"]):
        block = f"blocks.{i}."
        add_norm(block + "attention_norm")
        for name, outputs in (("W_Q", WIDTH), ("W_K", kv), ("W_V", kv), ("W_O", WIDTH)):
            add_layer(block + "attention." + name, outputs, WIDTH, c["attention_bias"])
        add_norm(block + "mlp_norm")
        if c["activation"] == "swiglu":
            add_layer(block + "mlp.gate", HIDDEN, WIDTH, c["bias"])
        add_layer(block + "mlp.up", HIDDEN, WIDTH, c["bias"])
        add_layer(block + "mlp.down", WIDTH, HIDDEN, c["bias"])
    if c["final_norm"]:
        add_norm("final_norm")
    if not c["tied"]:
        weights["head.weight"] = draw((VOCABULARY, WIDTH)) / 2
    if c["head_bias"]:
        weights["head.bias"] = draw(VOCABULARY) / 4
    return weights


def forward(c, w, ids):
    streams = itertools.count()  # each call of dropout has its own draws

    def drop(x):
        return x * factors(x.shape, c["dropout"], next(streams)) if c["dropout"] else x

    def layer(x, name):
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    def norm(x, name):
        gain, bias = w.get(name + ".weight"), w.get(name + ".bias")
        if c["norm"] == "rms":
            return F.rms_norm(x, x.shape[-1:], gain, c["norm_epsilon"])
        return F.layer_norm(x, x.shape[-1:], gain, bias, c["norm_epsilon"]) if c["norm"] == "layer" else x

    def attention(x, name):
        q, k, v = (layer(x, name + n) for n in ("W_Q", "W_K", "W_V"))
        heads = (c["heads"], c["kv_heads"], c["kv_heads"])
        q, k, v = (y.unflatten(-1, (h, -1)).transpose(1, 2) for y, h in zip((q, k, v), heads))
        if c["position"] == "rotary":
            q, k = (rotary(y, c["rope_theta"], c["rope_pairing"] == "interleaved") for y in (q, k))
        if c["qk_norm"]:
            q, k = (F.rms_norm(y, y.shape[-1:], None, c["norm_epsilon"]) for y in (q, k))
        if c["dropout"]:  # PyTorch's can't be told which weights to drop
            later = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).triu(1)
            weights = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(later, -torch.inf).softmax(-1)
            return layer((drop(weights) @ v).transpose(1, 2).flatten(2), name + "W_O")
        messages = F.scaled_dot_product_attention(q, k, v, is_causal=c["mask"] == "causal", enable_gqa=True)
        return layer(messages.transpose(1, 2).flatten(2), name + "W_O")

    def feed_forward(x, name):
        up = layer(x, name + "up")
        hidden = {"relu": lambda: F.relu(up), "relu2": lambda: F.relu(up) ** 2, "gelu": lambda: F.gelu(up),
                  "gelu_tanh": lambda: F.gelu(up, approximate="tanh"),
                  "swiglu": lambda: F.silu(layer(x, name + "gate")) * up}[c["activation"]]()
        return layer(hidden, name + "down")

    x = w["token_embedding.weight"][ids]
    if c["position"] == "learned":
        x = x + w["position_embedding.weight"][: ids.shape[1]]
    if c["position"] == "sinusoidal":
        x = x + sinusoidal(ids.shape[1])
    x = drop(x)
    if c["embedding_norm"]:
        x = norm(x, "embedding_norm")
    for i in range(c["layers"]):
        a, m = f"blocks.{i}.attention", f"blocks.{i}.mlp"
        if c["norm_place"] == "pre":
            x = x + drop(attention(norm(x, a + "_norm"), a + "."))
            x = x + drop(feed_forward(norm(x, m + "_norm"), m + "."))
        else:
            x = norm(x + attention(x, a + "."), a + "_norm")
            x = norm(x + feed_forward(x, m + "."), m + "_norm")
    if c["final_norm"]:
        x = norm(x, "final_norm")
    y = F.linear(x, w["token_embedding.weight" if c["tied"] else "head.weight"], w.get("head.bias"))
    return c["softcap"] * torch.tanh(y / c["softcap"]) if c["softcap"] else y


torch.manual_seed(77)
ids = torch.randint(0, VOCABULARY, (2, 5))
targets = torch.tensor([[3, 0, 10, -1, 4], [1, 1, 7, 9, -1]])  # -1 is not counted
cases = []
for name, settings in VARIANTS.items():
    c = {**DEFAULTS, **settings}
    weights = make_weights(c)
    wide = {k: v.double().requires_grad_() for k, v in weights.items()}
    logits = forward(c, wide, ids)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
    loss.backward()
    cases.append({"name": name, "model": c, "logits": tensor(logits), "loss": loss.item(),
                  "weights": [{"name": k, **tensor(v), "grad": wide[k].grad.flatten().tolist()}
                              for k, v in weights.items()]})
write(__file__, "decoder_model", {"ids": tensor(ids), "targets": tensor(targets), "cases": cases})
