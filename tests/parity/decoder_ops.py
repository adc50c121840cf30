"""Each op that only the decoder has, forward and backward, by PyTorch (float64) on small odd shapes; and the fixed
table of sinusoidal positions."""
import torch
from torch.nn import functional as F

from common import values, write
from draws import factors
from models import sinusoidal
from op_cases import case, draw


def layer_norm(x, gain=None, bias=None, epsilon=1e-5):
    return F.layer_norm(x, x.shape[-1:], gain, bias, epsilon)


def rms_norm(x, gain=None, epsilon=1e-5):
    return F.rms_norm(x, x.shape[-1:], gain, epsilon)


def gelu(x):
    return F.gelu(x)


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def relu2(x):
    return F.relu(x) ** 2


def silu(x):
    return F.silu(x)


def swiglu(gate, up):
    return F.silu(gate) * up


def softcap(x, cap):
    return cap * torch.tanh(x / cap)


def rotary(x, heads=1, start=0, theta=10000.0, interleaved=0):
    """x [B, T, H·D] stands at positions start …; pair (a, b) of a head turns by t · theta^(−2i/D): columns i and
    i + D/2, or interleaved 2i and 2i + 1."""
    x = x.unflatten(-1, (heads, -1))
    half = x.shape[-1] // 2
    rate = theta ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = (torch.arange(start, start + x.shape[1])[:, None] * rate)[:, None]  # [T, 1, D/2]
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    turned = (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
    return (torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)).flatten(-2)


def dropout(x, p):
    return x * factors(x.shape, p) if p else F.dropout(x, p, training=True)


def slice_rows(table, start=0, count=1):
    return table.narrow(0, start, count)


def linear_cross_entropy(x, weight, targets, bias=None, sum=0, cap=0):
    logits = F.linear(x, weight, bias).flatten(0, -2)
    return F.cross_entropy(softcap(logits, cap) if cap else logits, targets.flatten().long(),
                           reduction="sum" if sum else "mean", ignore_index=-1)


def lora_linear(x, weight, a, b, bias=None, scale=1.0):
    """PEFT's layer: the base layer's result, and scaling · lora_B(lora_A(x))."""
    return F.linear(x, weight, bias) + F.linear(F.linear(x, a), b) * scale


torch.manual_seed(2025)
wide = torch.tensor([[-30.0, -6.0, -3.0, -1.0, -0.1, -1e-4, 1e-4, 0.1, 0.7, 1.0, 3.0, 6.0, 30.0]])
flat_row = torch.tensor([[2.5, 2.5, 2.5, 2.5, 2.5], [1e-4, -1e-4, 2e-4, 0.0, 1e-4]])  # no variance; hardly any
some = torch.tensor([6, -1, 0])  # the second is not counted

ops = {
    "layer_norm": [case(layer_norm, {"x": draw((3, 5)), "gain": draw((5,)), "bias": draw((5,))}),
                   case(layer_norm, {"x": draw((2, 3, 7)), "gain": draw((7,))}), case(layer_norm, {"x": draw((2, 33))}),
                   case(layer_norm, {"x": flat_row, "gain": draw((5,)), "bias": draw((5,))}),
                   case(layer_norm, {"x": draw((2, 4)), "gain": draw((4,)), "bias": draw((4,))}, epsilon=1e-2)],
    "rms_norm": [case(rms_norm, {"x": draw((3, 5)), "gain": draw((5,))}), case(rms_norm, {"x": draw((2, 3, 7))}),
                 case(rms_norm, {"x": flat_row, "gain": draw((5,))}),
                 case(rms_norm, {"x": draw((2, 33)), "gain": draw((33,))}, epsilon=1e-6)],
    "gelu": [case(gelu, {"x": draw((3, 7))}), case(gelu, {"x": wide})],
    "gelu_tanh": [case(gelu_tanh, {"x": draw((3, 7))}), case(gelu_tanh, {"x": wide})],
    "relu2": [case(relu2, {"x": draw((3, 7))}), case(relu2, {"x": wide})],
    "silu": [case(silu, {"x": draw((3, 7))}), case(silu, {"x": wide})],
    "swiglu": [case(swiglu, {"gate": draw((3, 7)), "up": draw((3, 7))}),
               case(swiglu, {"gate": wide, "up": draw(wide.shape)})],
    "softcap": [case(softcap, {"x": draw((3, 5), -60, 60)}, cap=15.0), case(softcap, {"x": draw((2, 7))}, cap=0.5)],
    "rotary": [case(rotary, {"x": draw((2, 3, 8))}, heads=2), case(rotary, {"x": draw((1, 5, 12))}, heads=2, interleaved=1),
               case(rotary, {"x": draw((1, 3, 6))}, start=78), case(rotary, {"x": draw((1, 2, 6))}, start=40, interleaved=1),
               case(rotary, {"x": draw((1, 2, 4))}, start=4095, theta=500000.0)],
    "dropout": [case(dropout, {"x": draw((3, 5))}, p=0.0)],
    "slice_rows": [case(slice_rows, {"table": draw((5, 3))}, start=2, count=3)],
    "linear_cross_entropy": [case(linear_cross_entropy, {"x": draw((3, 5)), "weight": draw((7, 5)), "targets": some,
                                                         "bias": draw((7,))}),
                             case(linear_cross_entropy, {"x": draw((3, 5)), "weight": draw((7, 5)), "targets": some},
                                  sum=1),
                             case(linear_cross_entropy, {"x": draw((3, 5)), "weight": draw((7, 5)), "targets": some},
                                  cap=1.5)],
}
ops["dropout"].append(case(dropout, {"x": draw((4, 7))}, p=0.3))  # which are dropped: tril's own draws
ops["lora_linear"] = [case(lora_linear, {"x": draw((2, 3, 5)), "weight": draw((7, 5)), "a": draw((2, 5)), "b": draw((7, 2)),
                                         "bias": draw((7,))}, scale=2.0),
                      case(lora_linear, {"x": draw((3, 33)), "weight": draw((17, 33)), "a": draw((8, 33)),
                                         "b": draw((17, 8))}, scale=0.75)]
write(__file__, "decoder_ops", {"ops": [{"op": name, "cases": cases} for name, cases in ops.items()],
                                "sinusoidal": {"shape": [80, 6], "data": values(sinusoidal(80, 6))}})
