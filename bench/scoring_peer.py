#!/usr/bin/env python3
"""The scoring benchmark's peer: PyTorch with transformers, bf16, sdpa attention, logits of the response rows only.

    python bench/scoring_peer.py --model 8b --count 16 --context 6144 --prefix 4096 --response 96 --repeats 5

With the shared prefix: what it leaves is computed once (DynamicCache) and taken up by each decision in turn, or by
several at a time; the fastest counts. Keys and values are cut back after each; the states of Qwen3.5's linear layers,
which cannot be, are copied for each, one at a time. Whole: each decision from its first token, one or several at a time.
"""

import copy
import json

import torch
from qwen3_peer import arguments, median_seconds, random_model, versions
from transformers import DynamicCache

options = arguments()
torch.set_grad_enabled(False)
model = random_model(options.model, torch.bfloat16).eval()
vocabulary = model.config.vocab_size
count, context, prefix, response = options.count, options.context, options.prefix, options.response
length = context + response
first = torch.randint(0, vocabulary, (1, prefix), device="cuda")
rest = torch.randint(0, vocabulary, (count, length - prefix), device="cuda")
ids = torch.cat([first.expand(count, prefix), rest], 1)
body = model.model


def logprobs(hidden, targets):
    logits = model.lm_head(hidden).float()
    return torch.log_softmax(logits, -1).gather(-1, targets[..., None]).squeeze(-1)


def whole(batch):
    for at in range(0, count, batch):
        part = ids[at : at + batch]
        hidden = body(part[:, :-1], use_cache=False).last_hidden_state
        logprobs(hidden[:, context - 1 :], part[:, context:])


def shared(batch):
    cache = DynamicCache(config=model.config)
    body(first, past_key_values=cache, use_cache=True)
    if batch > 1:
        cache.batch_repeat_interleave(batch)
    for at in range(0, count, batch):
        part = rest[at : at + batch]
        hidden = body(part[:, :-1], past_key_values=cache, use_cache=True).last_hidden_state
        logprobs(hidden[:, context - prefix - 1 :], part[:, context - prefix :])
        cache.crop(prefix)


def shared_copies():
    cache = DynamicCache(config=model.config)
    body(first, past_key_values=cache, use_cache=True)
    for at in range(count):
        part = rest[at : at + 1]
        hidden = body(part[:, :-1], past_key_values=copy.deepcopy(cache), use_cache=True).last_hidden_state
        logprobs(hidden[:, context - prefix - 1 :], part[:, context - prefix :])


rows = []


def report(pair, what, work):
    torch.cuda.reset_peak_memory_stats()
    try:
        seconds = median_seconds(options.repeats, work)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return
    memory = torch.cuda.max_memory_reserved() / 2**20
    rows.append({"pair": pair, "what": what, "tokens": count * length, "seconds": seconds, "memory": memory})


batches = [batch for batch in (1, 4) if count % batch == 0]
if 0 < prefix < context:
    if options.model.startswith("3.5"):
        report("shared", f"{prefix} shared, the cache copied, 1 at a time", shared_copies)
    else:
        for batch in batches:
            report("shared", f"{prefix} shared, {batch} at a time", lambda: shared(batch))
for batch in batches:
    report("whole", f"each whole, {batch} at a time", lambda: whole(batch))
if options.compile:
    body = torch.compile(model.model)
    report("compiled", "each whole, torch.compile, 1 at a time", lambda: whole(1))
# The fastest of each kind first: that is the one compared with.
rows.sort(key=lambda row: row["seconds"])
print(json.dumps({"note": f"{versions()}; bf16, sdpa", "rows": rows}))
