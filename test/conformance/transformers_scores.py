"""Loads a model folder in transformers and compares its log-probabilities with those of `gcopd score`.

    npx gcopd score --model FOLDER --in requests.jsonl --out scores.jsonl
    python test/conformance/transformers_scores.py FOLDER requests.jsonl scores.jsonl

Needs `pip install torch transformers`. Prints the largest difference; exits 1 beyond 2e-4, or when transformers
reports tensors missing or unexpected.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


def main(folder: str, requests: str, scores: str) -> None:
    model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if info[kind]:
            sys.exit(f"{folder}: {kind}: {sorted(info[kind])}")
    model.eval()
    worst = 0.0
    tokens = 0
    with open(requests) as asked, open(scores) as answered, torch.no_grad():
        for line, answer in zip(asked, answered, strict=True):
            request, score = json.loads(line), json.loads(answer)
            prompt, response = request["prompt_ids"], request["response_ids"]
            logits = model(torch.tensor([prompt + response])).logits[0, len(prompt) - 1 : -1]
            rows = torch.log_softmax(logits.double(), -1)
            for j, token in enumerate(response):
                worst = max(worst, abs(rows[j, token].item() - score["logprobs"][j]))
                tokens += 1
    print(f"{tokens} tokens, largest difference {worst:.2e}")
    if not worst <= 2e-4:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
