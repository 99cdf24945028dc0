#!/usr/bin/env python3
"""The ALFWorld benchmark's peer: Python TextWorld as ALFWorld uses it, on the walks that it is given.

    python bench/alfworld_peer.py walks.json

Seconds are of the processor. The facts are not asked for: only feedback, admissible commands and whether it is won.
"""

import json
import statistics
import sys
import time
from importlib.metadata import version

import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

rows = []
for walk in json.load(open(sys.argv[1])):
    infos = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
    start = time.process_time()
    env = textworld.start(walk["game"], infos, wrappers=[AlfredDemangler, AlfredInfos])
    opened = time.process_time()
    state = env.reset()
    reset = time.process_time()

    def same(expected):
        return (
            state["feedback"] == expected["feedback"]
            and list(state["admissible_commands"]) == expected["admissible"]
            and bool(state["won"]) == expected["won"]
        )

    equal = int(same(walk["states"][0]))
    steps = []
    for command, expected in zip(walk["commands"], walk["states"][1:]):
        before = time.process_time()
        state, _, _ = env.step(command)
        steps.append(time.process_time() - before)
        equal += int(same(expected))
    env.close()
    rows.append(
        {
            "set": walk["set"],
            "open": opened - start,
            "reset": reset - opened,
            "step": statistics.mean(steps),
            "states": len(walk["states"]),
            "equal": equal,
        }
    )

note = f"textworld {version('textworld')}, alfworld {version('alfworld')}, Python {sys.version.split()[0]}"
print(json.dumps({"note": note, "rows": rows}))
