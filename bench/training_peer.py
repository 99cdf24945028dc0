#!/usr/bin/env python3
"""The training benchmark's peer: PyTorch with transformers, f32 master weights, bf16 autocast, fused AdamW, sdpa.

    python bench/training_peer.py --model 1.7b --count 32 --context 2048 --response 96 --repeats 5 [--compile]

Gradients accumulate over micro-batches. Logits of the response rows only, as ours. Without gradient checkpointing where
the memory is enough, and with it. With --compile also with the layers compiled by torch.compile, without checkpointing,
of the micro-batch that was fastest: the steps in which it compiles come before the ones that are timed, and the note
tells their time.
"""

import json
import time

import torch
from qwen3_peer import arguments, gibibytes, median_seconds, random_model, versions

options = arguments()
count, context, response = options.count, options.context, options.response
length = context + response
model = random_model(options.model, torch.float32).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0, fused=True)
ids = torch.randint(0, model.config.vocab_size, (count, length), device="cuda")
# What a step calls: the layers as they are, or compiled.
body = model.model


def step(batch):
    optimizer.zero_grad(set_to_none=True)
    for at in range(0, count, batch):
        part = ids[at : at + batch]
        with torch.autocast("cuda", dtype=torch.bfloat16):
            hidden = body(part[:, :-1], use_cache=False).last_hidden_state[:, context - 1 :]
            logits = model.lm_head(hidden).float()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), part[:, context:].flatten(), reduction="sum")
        (loss / (count * length)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


rows = []
notes = []


def measure(what, batch, prepare=None):
    """A row for steps with micro-batches of so many. `prepare` comes first, untimed; no row where memory is short."""
    torch.cuda.empty_cache()
    try:
        if prepare is not None:
            prepare()
        torch.cuda.reset_peak_memory_stats()
        seconds = median_seconds(options.repeats, lambda: step(batch))
    except torch.OutOfMemoryError:
        notes.append(f"{what}: out of memory")
        return
    notes.append(f"{what}: {gibibytes(torch.cuda.max_memory_allocated())} allocated")
    memory = torch.cuda.max_memory_reserved() / 2**20
    row = {"pair": "step", "what": what, "tokens": count * length, "seconds": seconds, "memory": memory}
    rows.append({**row, "batch": batch})


# The first step compiles forward and backward, and the second what only it meets (gradients that are there already).
COMPILING_STEPS = 2


def compile_layers(what, batch):
    started = time.perf_counter()
    for _ in range(COMPILING_STEPS):
        step(batch)
    torch.cuda.synchronize()
    notes.append(f"{what}: {COMPILING_STEPS} steps to compile, {time.perf_counter() - started:.1f} s")


batches = [batch for batch in (2, 4) if count % batch == 0]
for checkpointing in (False, True):
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    for batch in batches:
        measure(f"micro-batches of {batch}{', gradient checkpointing' if checkpointing else ''}", batch)
if options.compile:
    model.gradient_checkpointing_disable()
    # Only of the size that is fastest without: compiling takes minutes.
    batch = min(rows, key=lambda row: row["seconds"])["batch"] if rows else batches[0]
    body = torch.compile(model.model, dynamic=False)
    what = f"micro-batches of {batch}, torch.compile"
    measure(what, batch, lambda: compile_layers(what, batch))
rows.sort(key=lambda row: row["seconds"])
note = f"{versions()}; f32 weights, bf16 autocast, sdpa, fused AdamW; {'; '.join(notes)}"
print(json.dumps({"note": note, "rows": rows}))
