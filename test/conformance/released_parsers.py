"""Records what the released response parsers say of generated strings, for src/core/environment/released-parsers.test.ts.

    python test/conformance/released_parsers.py CHECKOUT test/fixtures/parsers/released-verdicts.jsonl.gz

CHECKOUT is a copy of the authors' repository (hanyi2021/GC_OPD), of which only gcopd/common/protocol.py and the
protocol.py of the three environments are imported. Needs nothing but Python 3.11 or later. The strings follow from the
seed, so the same checkout gives the same file.

A line is [string, action, verdicts]: `verdicts` names the parsers that accept the string (a alfworld, w webshop,
s scienceworld, m scienceworld answering a menu that can be cancelled with a blank), and `action` is what each of them
takes from it, null where none accepts.
"""

import gzip
import itertools
import json
import random
import sys

SEED = 11
STRINGS = 60_000
MENU = "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tlook"

TAGS = ["<thought>", "</thought>", "<action>", "</action>"]
BROKEN = [
    "<Thought>", "</THOUGHT>", "<ACTION>", "</Action>", "< action>", "<action >", "</ thought>", "< / action",
    "<action/>", "<thought", "</action", "<thoughts>", "<actions>", "<action x=1>", "<think>", "</think>", "<", ">",
    "</", "<\u00a0action>", "<\taction\n", "<act\u0130on>", "<\ufeffaction>", "<acti\u0131on>", "<act\u0131on>",
    "<\u001caction>", "<thou\u0261ht>", "action>",
]
SPACES = [" ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u001c", "\u0085", "\ufeff", "\u200b", "\u3000", "\u2028"]
WORDS = [
    "look around", "Open Drawer 1", "go to CoffeeMachine 1", "click[Buy Now]", "search[Red Shoes]", "0", "wait1", "a",
    "\u0130stanbul", "\u039f\u0394\u039f\u03a3", "\u03a3", "\u1e9e", "STRASSE \u00df", "\u01c5", "\u212a", "\U00010400",
    "x < y", "a/b", "I think", "{}", "\u00c9t\u00e9",
]


def well_formed(draw: random.Random) -> list[str]:
    inside = lambda: [draw.choice(WORDS + SPACES + BROKEN[:8]) for _ in range(draw.randrange(4))]
    thought = ["<thought>", *inside(), "</thought>"] if draw.random() < 0.6 else []
    space = lambda: [draw.choice(SPACES)] if draw.random() < 0.4 else []
    return [*space(), *thought, *space(), "<action>", *inside(), draw.choice(WORDS), "</action>", *space()]


def mutated(draw: random.Random) -> str:
    pieces = well_formed(draw)
    for _ in range(draw.choice([0, 0, 1, 1, 1, 2, 3])):
        at = draw.randrange(len(pieces) + 1)
        kind = draw.randrange(5)
        if kind == 0:
            pieces.insert(at, draw.choice(TAGS + BROKEN + SPACES + WORDS))
        elif kind == 1:
            pieces.insert(at, draw.choice(BROKEN))
        elif pieces and at < len(pieces):
            if kind == 2:
                del pieces[at]
            elif kind == 3:
                pieces.insert(draw.randrange(len(pieces) + 1), pieces[at])
            else:
                pieces[at] = draw.choice([str.upper, str.title, lambda s: s[1:], lambda s: s[:-1]])(pieces[at])
    return "".join(pieces)


def random_pieces(draw: random.Random) -> str:
    return "".join(draw.choice(TAGS * 6 + BROKEN + SPACES + WORDS) for _ in range(draw.randrange(1, 9)))


def strings() -> list[str]:
    """Every order of up to five tags and one word, then mutated responses and random pieces; no string twice."""
    found = dict.fromkeys(
        "".join(pieces)
        for length in range(6)
        for pieces in itertools.product([*TAGS, "Go"], repeat=length)
    )
    draw = random.Random(SEED)
    while len(found) < STRINGS:
        found.setdefault(mutated(draw) if draw.random() < 0.75 else random_pieces(draw))
    return list(found)


def main(checkout: str, out: str) -> None:
    sys.path.insert(0, checkout)
    from gcopd.alfworld.protocol import parse_action as alfworld
    from gcopd.scienceworld.protocol import parse_format as scienceworld
    from gcopd.webshop.protocol import parse_action as webshop

    parsers = {
        "a": alfworld,
        "w": webshop,
        "s": lambda text: scienceworld(text, "You are in the kitchen."),
        "m": lambda text: scienceworld(text, MENU),
    }
    counts = dict.fromkeys(parsers, 0)
    lines = []
    for text in strings():
        actions = {name: action for name, parse in parsers.items() for action, error in [parse(text)] if error is None}
        for name in actions:
            counts[name] += 1
        taken = set(actions.values())
        if len(taken) > 1:
            sys.exit(f"the parsers take different actions from {text!r}: {actions}")
        lines.append(json.dumps([text, taken.pop() if taken else None, "".join(actions)]) + "\n")
    with open(out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        packed.write("".join(lines).encode())
    print(f"{len(lines)} strings, accepted: {counts}")


if __name__ == "__main__":
    main(*sys.argv[1:])
