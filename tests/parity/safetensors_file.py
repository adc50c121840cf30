"""The reference safetensors library's own bytes for small files, as hexadecimal text; tril's writer gives the same."""
import safetensors
import torch
from safetensors.torch import save

from common import write

tensors = {
    "w": torch.tensor([[1.5, -2.0, 3.0]]),
    "a": torch.tensor([1.0, 2.0], dtype=torch.float64),
    "half": torch.tensor([[1.0], [65504.0], [-0.5]], dtype=torch.float16),
    "brain": torch.tensor([1.0, -2.0, 0.15625], dtype=torch.bfloat16),
    "ids": torch.tensor([3, -4], dtype=torch.int32),
    "big": torch.tensor([2**40], dtype=torch.int64),
    "flags": torch.tensor([True, False, True]),
    "bytes": torch.tensor([7], dtype=torch.uint8),
    "none": torch.zeros(0, 4),
    "one": torch.tensor(2.5),
    'é "quoted"\n': torch.tensor([-1], dtype=torch.int16),
}
plain = {"b": tensors["w"], "a": tensors["w"].clone()}
files = {name: save(content, metadata={"format": "pt"}).hex()
         for name, content in {"mixed": tensors, "plain": plain, "empty": {}}.items()}
write(__file__, "safetensors_file", {"safetensors": safetensors.__version__, "files": files})
