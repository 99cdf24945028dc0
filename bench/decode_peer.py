#!/usr/bin/env python3
"""The decoding benchmark's peer: transformers' plain `generate`, bf16, sdpa attention, greedy or with the given bounds at T = 0.4.

    python bench/decode_peer.py --model 1.7b --context 2048 --response 128 --counts 1,32 --repeats 3

What one token takes is taken away, so that the prompt does not count.
"""

import argparse
import json
import statistics
import sys
import time

import torch

counts_parser = argparse.ArgumentParser(add_help=False)
counts_parser.add_argument("--counts", default="1,32")
counts_parser.add_argument("--top-k", type=int)
counts_parser.add_argument("--top-p", type=float)
own, rest = counts_parser.parse_known_args()
sys.argv[1:] = rest
from qwen3_peer import arguments, random_model, versions  # noqa: E402

options = arguments()
torch.set_grad_enabled(False)
model = random_model(options.model, torch.bfloat16).eval()
model.generation_config.eos_token_id = None
model.generation_config.pad_token_id = 0
vocabulary = model.config.vocab_size
draws = {"do_sample": False}
if own.top_k or own.top_p:
    draws = {"do_sample": True, "temperature": 0.4, "top_k": own.top_k or 0, "top_p": own.top_p or 1.0}


def seconds(ids, tokens):
    torch.cuda.synchronize()
    start = time.perf_counter()
    model.generate(ids, attention_mask=torch.ones_like(ids), min_new_tokens=tokens, max_new_tokens=tokens, **draws)
    torch.cuda.synchronize()
    return time.perf_counter() - start


rows = []
for count in map(int, own.counts.split(",")):
    torch.cuda.reset_peak_memory_stats()
    times = []
    for i in range(options.repeats + 1):
        ids = torch.randint(0, vocabulary, (count, options.context), device="cuda")
        first = seconds(ids, 1)
        whole = seconds(ids, options.response + 1)
        if i > 0:
            times.append(whole - first)
    rows.append(
        {
            "pair": f"count {count}",
            "what": f"{count} × {options.response} tokens behind {options.context}, generate",
            "tokens": count * options.response,
            "seconds": statistics.median(times),
            "memory": torch.cuda.max_memory_reserved() / 2**20,
        }
    )
print(json.dumps({"note": versions(), "rows": rows}))
