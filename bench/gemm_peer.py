#!/usr/bin/env python3
"""The gemm bench's peer: the same products in PyTorch (cuBLAS), f16 and bf16 operands, f32 sums.

    python bench/gemm_peer.py '[[4096, 4096, 4096], ...]'      sizes as rows, out, in

Prints one JSON object: device, torch, and TFLOP/s by "rows,out,in form format". Median of five after two to warm up.
"""

import json
import statistics
import sys

import torch

torch.backends.cuda.matmul.allow_tf32 = False
result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "tflops": {}}


def speed(work, operations):
    repeats = max(1, round(1e13 / operations))
    times = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / repeats)
    return operations / statistics.median(times[2:]) / 1e12


for rows, out, inner in json.loads(sys.argv[1]):
    for name, dtype in (("f16", torch.float16), ("bf16", torch.bfloat16)):
        x, w, dy = (torch.randn(shape, device="cuda", dtype=dtype) for shape in ((rows, inner), (out, inner), (rows, out)))
        for form, work in (("NT", lambda: x @ w.T), ("NN", lambda: dy @ w), ("TN", lambda: dy.T @ x)):
            result["tflops"][f"{rows},{out},{inner} {form} {name}"] = speed(work, 2 * rows * out * inner)
print(json.dumps(result))
