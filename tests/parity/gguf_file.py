"""A GGUF file written by the gguf package (llama.cpp's own), as hexadecimal text, with the values that the package
gives for its quantised tensors."""
import os
import tempfile
from importlib.metadata import version

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

from common import values, write

rng = np.random.default_rng(5)
weights = rng.standard_normal((3, 64)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "f.gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_bool("a.truth", True)
    writer.add_string("a.text", "Ünï ▁x")
    writer.add_array("a.strings", ["<s>", "", "▁the"])
    writer.add_array("a.floats", [0.0, -1.5, 3.25])
    writer.add_array("a.integers", [3, 1, -6])
    quantised = {"q8": T.Q8_0, "q40": T.Q4_0, "q41": T.Q4_1, "half": T.F16, "brain": T.BF16}
    expected = {}
    writer.add_tensor("plain", weights)
    for name, kind in quantised.items():
        packed = quantize(weights, kind)
        writer.add_tensor(name, packed, raw_dtype=kind)
        expected[name] = values(dequantize(packed, kind).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with open(path, "rb") as file:
        content = file.read().hex()
write(__file__, "gguf_file", {"gguf": version("gguf"), "weights": values(weights), "expected": expected, "file": content})
