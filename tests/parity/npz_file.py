"""NumPy's own .npz and .npy files, as hexadecimal text: stored, deflated, both orders, every type. tril reads them."""
import io

import numpy as np

from common import write

arrays = {
    "w": np.array([[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32),
    "fortran": np.asfortranarray(np.arange(24, dtype=np.float64).reshape(2, 3, 4)),
    "one": np.array(2.5, dtype=np.float32),
    "none": np.zeros((0, 4), dtype=np.float32),
    "half": np.array([1.0, 65504.0], dtype=np.float16),
}
arrays.update({"t_" + np.dtype(t).name: np.array([1, 2, 3], dtype=t)
               for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_)})


def file_of(save, *args, **kwargs):
    out = io.BytesIO()
    save(out, *args, **kwargs)
    return out.getvalue().hex()


files = {"stored": file_of(np.savez, **arrays), "deflated": file_of(np.savez_compressed, **arrays),
         "npy": file_of(np.save, arrays["w"])}
write(__file__, "npz_file", {"numpy": np.__version__, "files": files})
