"""Each op of the teaching models, forward and backward, by PyTorch (float64) on small odd shapes."""
import math

import torch
from torch.nn import functional as F

from common import write
from draws import factors
from op_cases import case, draw, visible


def embedding(table, ids, padding_idx=None):
    return F.embedding(ids, table, padding_idx=padding_idx)


def linear(x, weight, bias=None):
    return F.linear(x, weight, bias)


def add(a, b):
    return a + b


def matmul(a, b, transpose_b=0):
    return a @ (b.mT if transpose_b else b)


def head_linear(x, weight, heads=1, out_of=0):
    parts = x.unflatten(-1, (heads, -1))
    each = weight.unflatten(0, (heads, -1))
    return torch.einsum("...ho,hao->...ha" if out_of else "...ha,hao->...ho", parts, each).flatten(-2)


def scale(x, factor):
    return x * factor


def relu(x):
    return F.relu(x)


def concat(x):
    return x.flatten(1)


def last_row(x):
    return x[:, -1:]


def mask(x, pad=None, causal=1):
    sees = visible(x.shape[-2], x.shape[-1], causal, pad)
    return x.masked_fill(~(sees if x.dim() == 3 else sees[:, None]), -math.inf)


def softmax(x):
    return x.softmax(-1)


def attention(q, k, v, pad=None, heads=1, kv_heads=0, causal=1):
    def split(x, heads):
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    kv_heads = kv_heads or heads
    plain = causal and pad is None and q.shape[1] == k.shape[1]
    sees = None if plain else visible(q.shape[1], k.shape[1], causal, pad)[:, None]
    messages = F.scaled_dot_product_attention(split(q, heads), split(k, kv_heads), split(v, kv_heads), attn_mask=sees,
                                              is_causal=bool(plain), enable_gqa=kv_heads != heads)
    return messages.transpose(1, 2).flatten(2)


def dropped_attention(q, k, v, heads, dropout):
    """Self-attention whose weights are dropped by tril's draws; PyTorch's own can't be told which to drop."""
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~visible(q.shape[-2], k.shape[-2]), -math.inf)
    weights = scores.softmax(-1)
    return (weights * factors(weights.shape, dropout) @ v).transpose(1, 2).flatten(2)


def cross_entropy(logits, targets, sum=0, ignore_index=-100):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten().long(), reduction="sum" if sum else "mean",
                           ignore_index=ignore_index)


def qkv(batch, queries, keys, q, k, v, pad=None):
    return {"q": draw((batch, queries, q)), "k": draw((batch, keys, k)), "v": draw((batch, keys, v)),
            "pad": None if pad is None else torch.tensor(pad)}


torch.manual_seed(2024)
huge = draw((3, 5))
huge[1] *= 1e4  # a row that overflows exp unless its largest value is taken off
targets = torch.tensor([[0, -1, 4], [6, 2, -1]])

ops = {
    "embedding": [case(embedding, {"table": draw((7, 3)), "ids": torch.tensor([[0, 2, 2], [6, 0, 1]])}),
                  case(embedding, {"table": draw((5, 4)), "ids": torch.tensor([[0, 4, 0, 3]])}, padding_idx=0),
                  case(embedding, {"table": draw((5, 1)), "ids": torch.tensor([2, 2, 1, 2])}, padding_idx=2)],
    "linear": [case(linear, {"x": draw((2, 3, 5)), "weight": draw((7, 5)), "bias": draw((7,))}),
               case(linear, {"x": draw((4, 9)), "weight": draw((3, 9))}),
               case(linear, {"x": draw((1, 1)), "weight": draw((1, 1)), "bias": draw((1,))}),
               case(linear, {"x": draw((5, 33)), "weight": draw((2, 33)), "bias": draw((2,))})],
    "add": [case(add, {"a": draw((3, 5)), "b": draw((3, 5))}), case(add, {"a": draw((2, 3, 5)), "b": draw((3, 5))}),
            case(add, {"a": draw((4, 7)), "b": draw((7,))})],
    "matmul": [case(matmul, {"a": draw((3, 5)), "b": draw((5, 2))}),
               case(matmul, {"a": draw((2, 3, 5)), "b": draw((2, 5, 4))}),
               case(matmul, {"a": draw((2, 2, 3, 7)), "b": draw((2, 2, 4, 7))}, transpose_b=1)],
    "scale": [case(scale, {"x": draw((3, 5))}, factor=-1.25), case(scale, {"x": draw((2, 7))}, factor=48**-0.5)],
    "relu": [case(relu, {"x": draw((3, 7))}), case(relu, {"x": torch.tensor([[-1.0, 0.5, -1e-30, 1e30]])})],
    "concat": [case(concat, {"x": draw((2, 3, 5))})],
    "last_row": [case(last_row, {"x": draw((3, 4, 5))})],
    "mask": [case(mask, {"x": draw((2, 4, 4))}), case(mask, {"x": draw((3, 3, 5)), "pad": torch.tensor([0, 2, 4])}),
             case(mask, {"x": draw((2, 3, 4, 4)), "pad": torch.tensor([1, 3])}),
             case(mask, {"x": draw((1, 3, 3)), "pad": torch.tensor([1])}, causal=0)],
    "softmax": [case(softmax, {"x": draw((3, 5))}), case(softmax, {"x": huge}), case(softmax, {"x": draw((2, 2, 17))}),
                case(softmax, {"x": draw((2, 1))})],
    "attention": [case(attention, qkv(2, 5, 5, 6, 6, 6)), case(attention, qkv(3, 1, 7, 5, 5, 3, [0, 2, 6])),
                  case(attention, qkv(2, 5, 5, 6, 6, 4, [1, 4]), heads=2),
                  case(attention, qkv(1, 3, 5, 6, 6, 6, [3]), heads=3),
                  case(attention, qkv(2, 4, 4, 8, 4, 6), heads=4, kv_heads=2),
                  case(attention, qkv(1, 9, 9, 12, 3, 3), heads=4, kv_heads=1),
                  case(attention, qkv(2, 4, 4, 6, 6, 6), heads=2, causal=0),
                  case(attention, qkv(2, 4, 4, 3, 3, 3, [0, 2]), causal=0)],
    "cross_entropy": [case(cross_entropy, {"logits": draw((3, 5)), "targets": torch.tensor([4, 0, 2])}),
                      case(cross_entropy, {"logits": draw((2, 3, 7)), "targets": targets.clamp(0)}, sum=1),
                      case(cross_entropy, {"logits": draw((2, 3, 7)), "targets": targets}, ignore_index=-1),
                      case(cross_entropy, {"logits": draw((2, 3, 7)), "targets": targets}, ignore_index=-1, sum=1),
                      case(cross_entropy, {"logits": huge, "targets": torch.tensor([0, 1, 2])})],
    "head_linear": [case(head_linear, {"x": draw((2, 3, 5)), "weight": draw((5, 7))}),
                    case(head_linear, {"x": draw((4, 6)), "weight": draw((6, 5))}, heads=3),
                    case(head_linear, {"x": draw((2, 1, 8)), "weight": draw((6, 4))}, heads=2, out_of=1)],
}
ops["attention"].append(case(dropped_attention, qkv(2, 5, 5, 6, 6, 4), heads=2, dropout=0.4))
write(__file__, "ops", {"ops": [{"op": name, "cases": cases} for name, cases in ops.items()]})
