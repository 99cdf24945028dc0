#!/usr/bin/env python3
"""The tensor bench's peer: the sample's two models in PyTorch with transformers, same shapes, on the same card.

    python bench/tensor_peer.py [public/sample]

Scoring keeps logits of the response rows only, as ours does; a training step is forward, backward, clipping and
AdamW. f32 without TF32 is the like-for-like row; bf16 is what one would use. Median of five after two to warm up.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
folder = sys.argv[1] if len(sys.argv) > 1 else "public/sample"
COUNT, LENGTH, RESPONSE = 24, 2048, 256


def median_seconds(work):
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.cuda.get_device_name()}")
print("| what | size | format | tokens/s |\n| --- | --- | --- | --- |")
for name in ("teacher", "student"):
    config = AutoConfig.from_pretrained(f"{folder}/{name}")
    for dtype in (torch.float32, torch.bfloat16):
        torch.manual_seed(1)
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa").cuda()
        ids = torch.randint(0, config.vocab_size, (COUNT, LENGTH), device="cuda")
        targets = ids[:, LENGTH - RESPONSE :]

        def logprobs():
            hidden = model.model(ids).last_hidden_state[:, LENGTH - RESPONSE - 1 : LENGTH - 1]
            logits = model.lm_head(hidden).float()
            return -F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")

        def score():
            with torch.no_grad():
                logprobs()

        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0)

        def step():
            optimizer.zero_grad(set_to_none=True)
            (-logprobs().sum() / (COUNT * LENGTH)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

        tokens = COUNT * LENGTH
        label = "f32" if dtype == torch.float32 else "bf16"
        for what, work in (("score", score), ("training step", step)):
            print(f"| {what} | {name}, {COUNT} × {LENGTH} | {label} | {round(tokens / median_seconds(work)):,} |")
