"""compare.py STORED NEW: every number of the files in NEW against those in STORED. Integers and text must be equal;
floats may differ by 1e-6 × max(1, |stored|), since another processor adds in another order; those of a long training
by more, since it spreads what rounding begins (docs/parity.md)."""
import json
import pathlib
import sys

LIMITS = {"one_head_run": 5e-2}
LIMIT = 1e-6


def walk(path, stored, new, faults):
    """The largest difference of two floats below this value; appends what differs otherwise to faults."""
    if type(stored) is not type(new):
        faults.append(f"{path}: {stored!r} became {new!r}")
    elif isinstance(stored, dict):
        if stored.keys() != new.keys():
            faults.append(f"{path}: the names changed")
        return max((walk(f"{path}.{k}", stored[k], new[k], faults) for k in stored.keys() & new.keys()), default=0.0)
    elif isinstance(stored, list):
        if len(stored) != len(new):
            faults.append(f"{path}: {len(stored)} values became {len(new)}")
        return max((walk(f"{path}[{i}]", a, b, faults) for i, (a, b) in enumerate(zip(stored, new))), default=0.0)
    elif isinstance(stored, float):
        if stored == new or (stored != stored and new != new):
            return 0.0
        difference = abs(stored - new) / max(1.0, abs(stored))
        if not difference <= LIMITS.get(path.split(".")[0], LIMIT):
            faults.append(f"{path}: {stored!r} became {new!r}")
        return difference
    elif stored != new and path.split(".")[-1] != "python":
        faults.append(f"{path}: {stored!r} became {new!r}")
    return 0.0


failed = False
stored_folder, new_folder = map(pathlib.Path, sys.argv[1:3])
for file in sorted(new_folder.glob("*.json")):
    stored = json.loads((stored_folder / file.name).read_text())
    faults = []
    largest = walk(file.stem, stored, json.loads(file.read_text()), faults)
    print(f"{file.name}: {'differs' if faults else 'agrees'}, largest difference {largest:.1e}")
    for fault in faults[:5]:
        print("  " + fault)
    failed |= bool(faults)
sys.exit(1 if failed else 0)
