#!/usr/bin/env python3
"""The rollout benchmark's peer: a plain loop over transformers' `generate`, bf16, sdpa attention, one batch per round.

    python bench/rollout_peer.py --model 1.7b --response 64 --rounds rounds.json

ROUNDS is a list of rounds, each a list of prompts (token ids). Prompts are padded on the left, replies sampled at T = 0.4.
"""

import argparse
import json
import sys
import time

import torch

rounds_parser = argparse.ArgumentParser(add_help=False)
rounds_parser.add_argument("--rounds", required=True)
own, rest = rounds_parser.parse_known_args()
sys.argv[1:] = rest
from qwen3_peer import arguments, random_model, versions  # noqa: E402

options = arguments()
torch.set_grad_enabled(False)
with open(own.rounds, encoding="utf-8") as file:
    rounds = json.load(file)
model = random_model(options.model, torch.bfloat16).eval()
model.generation_config.eos_token_id = None
model.generation_config.pad_token_id = 0


def generate(prompts):
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts], device="cuda")
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts], device="cuda")
    model.generate(
        ids,
        attention_mask=mask,
        do_sample=True,
        temperature=0.4,
        top_k=0,
        min_new_tokens=options.response,
        max_new_tokens=options.response,
    )
    torch.cuda.synchronize()


generate(rounds[0])
generate(rounds[1] if len(rounds) > 1 else rounds[0])
torch.cuda.reset_peak_memory_stats()
start = time.perf_counter()
for prompts in rounds:
    generate(prompts)
seconds = time.perf_counter() - start
count = sum(map(len, rounds))
print(
    json.dumps(
        {
            "note": versions(),
            "rows": [
                {
                    "pair": "rollout",
                    "what": f"{count} decisions of {options.response} tokens, generate in batches",
                    "tokens": count * options.response,
                    "seconds": seconds,
                    "memory": torch.cuda.max_memory_reserved() / 2**20,
                }
            ],
        }
    )
)
