"""The selection of the paper (Section 3.3 and its appendix) in plain Python, straight from the definitions.

Reads sources and episodes of the library format, ScienceWorld rules, and writes one retrieval record a decision. Nothing
is shared with the TypeScript: `bench/library.ts` checks that both give the same records. Locators are normalized once;
everything else is computed where the definitions ask for it. With --dictionary, I_x is a dictionary from locator to
visits, built once a task, in place of a scan over all visits.

    python3 bench/library_peer.py SOURCES EPISODES OUT [--dictionary]
"""

import json
import resource
import sys
import time


def fold(text):
    return " ".join(text.split())


def locator(state):
    if state is None:
        return None
    return (state["key"], state["mode"], sorted((fold(k), fold(v)) for k, v in state["options"].items()))


class Task:
    def __init__(self, sources, dictionary):
        self.sources = sources
        self.locators = [
            [locator(d["state"]) for d in s["decisions"]] + [locator(s["final_state"])] for s in sources
        ]
        self.index = None
        if dictionary:
            self.index = {}
            for r, states in enumerate(self.locators):
                for j, z in enumerate(states):
                    if z is not None:
                        self.index.setdefault(repr(z), []).append((r, j))

    def matches(self, z):
        """I_x(z)."""
        if z is None:
            return []
        if self.index is not None:
            return self.index.get(repr(z), [])
        return [(r, j) for r, states in enumerate(self.locators) for j, y in enumerate(states) if y == z]

    def cost(self, r, j):
        return len(self.sources[r]["decisions"]) - j

    def eligible(self, r, j):
        """b+(r, j)."""
        source = self.sources[r]
        outcome = source["outcome"]
        if not (outcome["complete"] and outcome["verified"] and outcome["success"]):
            return False
        suffix = source["decisions"][j:]
        for before, after in zip(suffix, suffix[1:]):
            if after["gap_before"] or fold(before["feedback"]) != fold(after["observation"]):
                return False
        if not suffix:
            return True
        entry = suffix[0]
        if entry["status"] in ("rejected", "malformed", "rolled_back"):
            return False
        return fold(entry["action"] or "") != "" or fold(entry["binding"] or "") != ""

    def candidates(self, z):
        """A+(z) in rank order."""
        found = [(r, j) for r, j in self.matches(z) if self.eligible(r, j)]
        return sorted(
            found,
            key=lambda v: (self.cost(*v), self.sources[v[0]]["repetition"], v[1], self.sources[v[0]]["source"]),
        )

    def trusted(self, r):
        outcome = self.sources[r]["outcome"]
        return outcome["complete"] and outcome["verified"]

    def claims(self, r):
        outcome = self.sources[r]["outcome"]
        return outcome.get("reported_success", outcome["success"])

    def failed(self, r):
        return self.trusted(r) and not self.sources[r]["outcome"]["success"] and not self.claims(r)

    def least(self, rs, cost):
        return min(rs, key=lambda r: (cost(r), self.sources[r]["repetition"], self.sources[r]["source"]))

    def fallback(self, r, relation):
        return {
            "source": self.sources[r]["source"],
            "position": None,
            "student_position": None,
            "relation": relation,
        }

    def aligned(self, r, j, u, relation):
        return {"source": self.sources[r]["source"], "position": j, "student_position": u, "relation": relation}

    def success(self, states, t):
        for u in range(t, -1, -1):
            found = self.candidates(states[u])
            if found:
                return self.aligned(*found[0], u, "historical")
        everything = range(len(self.sources))
        whole = [r for r in everything if self.eligible(r, 0)]
        if whole:
            return self.fallback(self.least(whole, lambda r: self.cost(r, 0)), "unaligned")
        if any(self.trusted(r) and self.sources[r]["outcome"]["success"] for r in everything):
            return None
        raw = [r for r in everything if self.claims(r)]
        tries = lambda r: sum(1 + len(d["attempts"]) for d in self.sources[r]["decisions"])
        return self.fallback(self.least(raw, tries), "unverified") if raw else None

    def failure(self, states, t):
        for u in range(t, -1, -1):
            found = [(r, j) for r, j in self.matches(states[u]) if self.failed(r)]
            if found:
                r, j = min(
                    found,
                    key=lambda v: (
                        abs(v[1] - u),
                        self.cost(v[0], 0),
                        self.sources[v[0]]["repetition"],
                        v[1],
                        self.sources[v[0]]["source"],
                    ),
                )
                return self.aligned(r, j, u, "current" if u == t else "historical")
        everything = range(len(self.sources))
        failed = [r for r in everything if self.failed(r)]
        if failed:
            return self.fallback(self.least(failed, lambda r: self.cost(r, 0)), "unaligned")
        raw = [r for r in everything if not self.trusted(r) and not self.claims(r)]
        return self.fallback(self.least(raw, lambda r: 0), "unverified") if raw else None

    def retrieve(self, episode, states, t):
        matched = self.matches(states[t])
        ranked = self.candidates(states[t])
        won = episode["outcome"]["success"]
        candidates = [
            {"source": self.sources[r]["source"], "position": j, "cost": self.cost(r, j)} for r, j in ranked
        ]
        record = {
            "format": "gcopd.retrieval.v1",
            "environment": episode["environment"],
            "task": episode["task"],
            "episode": episode["episode"],
            "decision": t,
            "case": "unmatched_failure",
            "matched_visits": len(matched),
            "candidates": candidates,
            "winner": None,
            "success": None,
            "failure": None,
        }
        if candidates:
            record["case"] = "matched_success"
            own = len(episode["decisions"]) - t
            if won and own < candidates[0]["cost"]:
                record["winner"] = {"kind": "student", "cost": own}
            else:
                record["winner"] = {"kind": "source", **candidates[0]}
                record["success"] = self.aligned(*ranked[0], t, "current")
        elif not matched and won:
            record["case"] = "unmatched_success"
        else:
            if matched:
                record["case"] = "matched_no_success"
            record["success"] = self.success(states, t)
            record["failure"] = self.failure(states, t)
        return record


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main():
    paths = [a for a in sys.argv[1:] if not a.startswith("--")]
    dictionary = "--dictionary" in sys.argv
    start = time.process_time()
    sources, episodes = read(paths[0]), read(paths[1])
    parsed, clock = time.process_time(), time.perf_counter()
    by_task = {}
    for source in sources:
        by_task.setdefault(source["task"], []).append(source)
    tasks, records = {}, []
    for episode in episodes:
        name = episode["task"]
        if name not in tasks:
            tasks[name] = Task(by_task.get(name, []), dictionary)
        states = [locator(d["state"]) for d in episode["decisions"]]
        for t in range(len(states)):
            records.append(tasks[name].retrieve(episode, states, t))
    selected, seconds = time.process_time(), time.perf_counter() - clock
    with open(paths[2], "w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    measured = {"parse": parsed - start, "cpu": selected - parsed, "seconds": seconds, "count": len(records)}
    print(json.dumps({**measured, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


main()
