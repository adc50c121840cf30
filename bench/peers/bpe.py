"""Byte-level BPE in Hugging Face's tokenizers and in tiktoken, on one thread: training, and encoding of the same text.

usage: bpe.py TEXT.txt [VOCAB] [REPEAT]      (default 4096 ids, best of 3)

Training is BpeTrainer over the whole text as one string with GPT-2's pattern. Encoding takes the tokenizer that was
trained: the library's on the whole text and on its paragraphs in one batch (encode_batch_fast, which leaves the offsets
out), of which the faster counts, and tiktoken's with the same ranks. Seconds are of the process's own clock, so that other
work on the machine does not count. Prints one JSON line; the digests show that tril did the same work: of the lines
"left right" of the merges, and of the ids as 32-bit integers.
"""
import hashlib
import json
import os
import pathlib
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tiktoken
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

if len(sys.argv) < 2:
    sys.exit(__doc__)
text = pathlib.Path(sys.argv[1]).read_bytes().decode()
size = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
repeat = int(sys.argv[3]) if len(sys.argv) > 3 else 3
END = "<|endoftext|>"


def seconds(work):
    """The best time of some runs, and the last result."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tokenizer


train_seconds, tokenizer = seconds(train)
file = json.loads(tokenizer.to_str())
merges = "".join("%s %s\n" % tuple(m) for m in file["model"]["merges"])
# Ids as tril gives them: bytes, merges, then the end token.
file["model"]["vocab"] = {t: i - 1 for t, i in file["model"]["vocab"].items() if t != END}
file["added_tokens"] = []
tokenizer = Tokenizer.from_str(json.dumps(file))
paragraphs = text.split("\n\n")
whole_seconds, encoding = seconds(lambda: tokenizer.encode(text, add_special_tokens=False))
batch_seconds, _ = seconds(lambda: tokenizer.encode_batch_fast(paragraphs, add_special_tokens=False))

printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
byte_of = {chr(b): b for b in printable}
byte_of.update({chr(0x100 + i): b for i, b in enumerate(b for b in range(256) if b not in printable)})
peer = tiktoken.Encoding(
    "trained", pat_str=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    mergeable_ranks={bytes(byte_of[c] for c in t): i for t, i in file["model"]["vocab"].items()}, special_tokens={})
tiktoken_seconds, ids = seconds(lambda: peer.encode_ordinary(text))
assert ids == encoding.ids

megabytes = len(text.encode()) / 1e6
print(json.dumps({
    "train_seconds": round(train_seconds, 4), "encode_mb_per_second": round(megabytes / min(whole_seconds, batch_seconds), 2),
    "tiktoken_mb_per_second": round(megabytes / tiktoken_seconds, 2),
    "merges_sha256": hashlib.sha256(merges.encode()).hexdigest(),
    "ids_sha256": hashlib.sha256(b"".join(i.to_bytes(4, "little") for i in ids)).hexdigest(),
    "version": "tokenizers %s, tiktoken %s" % (tokenizers.__version__, tiktoken.__version__),
    "settings": {"vocab": size, "pattern": "gpt2", "threads": 1, "repeat": repeat}}))
