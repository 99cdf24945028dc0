#!/usr/bin/env python3
"""The attention bench's peer: PyTorch's scaled_dot_product_attention (bf16, causal, grouped queries) on the same card.

    python bench/attention_peer.py TOKENS,HEADS,GROUPS,SIZE …

Prints a line of JSON for each shape: milliseconds forward and backward, median of five after two to warm up.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F


def median_ms(work, repeats):
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1000 / repeats)
    return statistics.median(times)


for shape in sys.argv[1:]:
    tokens, heads, groups, size = map(int, shape.split(","))
    torch.manual_seed(1)

    def random(h):
        return torch.randn(1, h, tokens, size, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    q, k, v = random(heads), random(groups), random(groups)
    dout = torch.randn_like(q)

    def forward():
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    with torch.no_grad():
        ahead = median_ms(forward, 4)
    out = forward()

    def backward():
        torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)

    print(json.dumps({"shape": shape, "forward": ahead, "backward": median_ms(backward, 4)}), flush=True)
    del q, k, v, dout, out
