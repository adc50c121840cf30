"""The whole of `tril train one-head-smoke` as a PyTorch script: text, split, vocabulary, windows, training, evaluation, saving.

usage: whole_run.py --data TALES.txt [--serve]

Each round is a new Python that begins with its imports, as when one types it. first_loss is the loss of step 1, last_loss the
validation loss of the best step over the whole validation part.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from peer import arguments, rounds


def whole(path, out):
    import collections
    import hashlib
    import re
    import unicodedata

    import torch
    from torch.nn import functional as F
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/parity"))
    from models import WindowAttention

    parts, seen = {"train": [], "validation": []}, set()
    documents = pathlib.Path(path).read_text(encoding="utf-8").split("<|endoftext|>")
    for document in documents:
        text = " ".join(unicodedata.normalize("NFKC", document).lower().split())
        digest = hashlib.sha256(text.encode()).digest()
        if not text or digest in seen:
            continue
        seen.add(digest)
        place = int.from_bytes(hashlib.sha256(b"31415\0" + text.encode()).digest()[:8], "big") / 2**64
        part = "train" if place < 0.8 else "validation" if place < 0.9 else "test"
        if part != "test":
            parts[part].append((digest[:8], re.findall(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[^\w\s]", text)))
    parts = {name: [words for _, words in sorted(part)] for name, part in parts.items()}
    counts = collections.Counter(word for words in parts["train"] for word in words)
    words = sorted((w for w in counts if counts[w] >= 2), key=lambda w: (-counts[w], w))
    ids = {w: i for i, w in enumerate(["<PAD>", "<BOS>", "<EOS>", "<UNK>", *words[:1496]])}

    def windows(part):
        rows, targets = [], []
        for document in part:
            line = [1, *(ids.get(w, 3) for w in document), 2]
            padded = [0] * 11 + line
            rows += [padded[t: t + 12] for t in range(len(line) - 1)]
            targets += line[1:]
        return torch.tensor(rows), torch.tensor(targets)

    (x, y), (vx, vy) = windows(parts["train"]), windows(parts["validation"])
    torch.manual_seed(11)
    model = WindowAttention(len(ids))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4, fused=True)
    generator = torch.Generator().manual_seed(11 + 10000)

    @torch.no_grad()
    def loss_over(count):
        sums = [F.cross_entropy(model(vx[i: min(i + 1024, count)]), vy[i: min(i + 1024, count)], reduction="sum")
                for i in range(0, count, 1024)]
        return sum(sums).item() / count

    best, first = (float("inf"), None), None
    with open(out / "metrics.jsonl", "w") as metrics:
        for step in range(1, 301):
            chosen = torch.randint(0, len(y), (256,), generator=generator)
            loss = F.cross_entropy(model(x[chosen]), y[chosen])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            first = loss.item() if step == 1 else first
            if step == 1 or step % 50 == 0:
                validation = loss_over(min(20000, len(vy)))
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, out / f"step-{step}.pt")
                if validation < best[0]:
                    best = validation, step
                metrics.write(json.dumps({"step": step, "train": loss.item(), "validation": validation}) + "\n")
    model.load_state_dict(torch.load(out / f"step-{best[1]}.pt")["model"])
    result = {"first_loss": first, "last_loss": loss_over(len(vy)), "version": "torch " + torch.__version__.split("+")[0]}
    (out / "words.json").write_text(json.dumps(ids))
    (out / "result.json").write_text(json.dumps(result))
    print(json.dumps(result))


if sys.argv[1:2] == ["one"]:
    whole(sys.argv[2], pathlib.Path(sys.argv[3]))
else:
    import time

    a = arguments(data="").parse_args()

    def run():
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = subprocess.run([sys.executable, __file__, "one", a.data, folder], capture_output=True, text=True, check=True)
            seconds = time.perf_counter() - start
        return {"rate": 1 / seconds, **json.loads(done.stdout)}

    rounds(a, run)
