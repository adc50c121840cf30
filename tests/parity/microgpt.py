"""The numbers of microgpt_scalar.py: on the names file of the shared data (a minute or two), and on villages.txt
with another seed. The first argument is the output folder, $TRIL_SHARED the shared data (default ../shared)."""
import hashlib
import os
import pathlib

import microgpt_scalar
from common import FOLDER, write

names = pathlib.Path(os.environ.get("TRIL_SHARED", FOLDER.parents[2] / "shared")) / "data/names.txt"
numbers = {}
for name, path, seed, steps in (("names", names, 42, 1000), ("villages", FOLDER / "villages.txt", 7, 250)):
    numbers[name] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), **microgpt_scalar.run(path, seed, steps)}
write(__file__, "microgpt", numbers, outside=False)
