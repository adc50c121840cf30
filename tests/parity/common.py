"""What every parity script shares: how numbers are written. Leaves out: the numbers themselves."""
import hashlib
import json
import pathlib
import sys

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).resolve().parent
torch.set_num_threads(1)  # one order of summation, whatever the machine


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def values(x):
    """A flat list, row-major; a float32 in the fewest digits that give it back."""
    if torch.is_tensor(x):
        x = x.detach().numpy()
    x = np.asarray(x)
    if x.dtype == np.float32:
        return [float(str(v)) for v in x.reshape(-1)]
    return x.reshape(-1).tolist()


def tensor(x):
    return {"shape": list(x.shape), "data": values(x)}


def digest(x):
    """A long tensor: its size, its ends, and the SHA-256 of its little-endian bytes."""
    x = x.detach().numpy() if torch.is_tensor(x) else np.asarray(x)
    return {"count": int(x.size), "first": values(x.reshape(-1)[:4]), "last": values(x.reshape(-1)[-4:]),
            "sha256": sha256(np.ascontiguousarray(x).tobytes())}


def write(script, name, numbers, outside=True):
    """Writes NAME.json beside the scripts, or into the folder that is the first argument. The head names the
    versions and the SHA-256 of the script and of every file here that it imports; a test compares them."""
    paths = {pathlib.Path(m.__file__).resolve() for m in sys.modules.values() if getattr(m, "__file__", None)}
    paths = {pathlib.Path(script).resolve()} | {p for p in paths if p.parent == FOLDER and p.is_file()}
    head = {"python": "%d.%d" % sys.version_info[:2], "scripts": {p.name: sha256(p.read_bytes()) for p in sorted(paths)}}
    if outside:
        head["torch"] = torch.__version__.split("+")[0]
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    lines = ",\n".join('"%s": %s' % (key, json.dumps(value)) for key, value in {**head, **numbers}.items())
    (folder / (name + ".json")).write_text("{\n" + lines + "\n}\n")
