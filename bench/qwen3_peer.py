"""What the Python peers of the scoring and training benchmarks share: sizes, random models, times."""

import argparse
import statistics
import time

import torch
import transformers
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.models.qwen3_5 import Qwen3_5ForCausalLM, Qwen3_5TextConfig

# Vocabulary, key/value heads and head size where a size does not name its own.
COMMON = (151936, 8, 128)
# hidden, intermediate, layers, heads, tied
SIZES = {
    "miniature": (128, 352, 4, 4, True, 800, 2, 32),
    "0.6b": (1024, 3072, 28, 16, True),
    "1.7b": (2048, 6144, 28, 16, True),
    "4b": (2560, 9728, 36, 32, True),
    "8b": (4096, 12288, 36, 32, False),
    "14b": (5120, 17408, 40, 40, False),
    "32b": (5120, 25600, 64, 64, False),
}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=[*SIZES, "3.5-0.8b"], default="0.6b")
    for name, value in (("count", 16), ("context", 6144), ("prefix", 4096), ("response", 96), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def config_of(size):
    if size == "3.5-0.8b":
        return Qwen3_5TextConfig(
            vocab_size=248320,
            hidden_size=1024,
            intermediate_size=3584,
            num_hidden_layers=24,
            num_attention_heads=8,
            num_key_value_heads=2,
            head_dim=256,
            linear_num_key_heads=16,
            linear_num_value_heads=16,
            linear_key_head_dim=128,
            linear_value_head_dim=128,
            linear_conv_kernel_dim=4,
            tie_word_embeddings=True,
        )
    named = SIZES[size]
    hidden, intermediate, layers, heads, tied = named[:5]
    vocabulary, key_value_heads, head_size = named[5:] or COMMON
    return Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        head_dim=head_size,
        tie_word_embeddings=tied,
        max_position_embeddings=40960,
        rope_theta=1e6,
    )


def random_model(size, dtype):
    config = config_of(size)
    model_class = Qwen3_5ForCausalLM if size == "3.5-0.8b" else Qwen3ForCausalLM
    config._attn_implementation = "sdpa"
    torch.manual_seed(1)
    torch.set_default_dtype(dtype)
    with torch.device("cuda"):
        model = model_class._from_config(config)
    torch.set_default_dtype(torch.float32)
    return model


def median_seconds(repeats, work):
    work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def versions():
    name = torch.cuda.get_device_name()
    return f"torch {torch.__version__}, transformers {transformers.__version__}, {name}"


def gibibytes(count):
    return f"{count / 2**30:.1f} GiB"
