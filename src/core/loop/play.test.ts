import { describe, expect, it } from "vitest";
import { corridor, newLog } from "../../../test/support/corridor.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { environmentRules } from "../environment/environment.ts";
import { PromptLimitError } from "../environment/prompt-limit.ts";
import type { Purpose } from "../environment/protocol.ts";
import { EnvironmentError, InputError } from "../errors.ts";
import type { Environment, SampleRequest, Sampler } from "../ports.ts";
import { type PlayEvent, type Played, type PlayTask, playedEpisode } from "./live-episode.ts";
import { livePlay } from "./live-task.ts";
import { play } from "./play.ts";

/** Replies in the order in which they are asked for, and what was asked. */
function scripted(replies: readonly string[]): Sampler & { asked: SampleRequest[] } {
  const asked: SampleRequest[] = [];
  return {
    asked,
    sample: async (requests) =>
      requests.map((request) => {
        const reply = replies[asked.length];
        if (reply === undefined) throw new Error("a reply too many was asked for");
        asked.push(request);
        const responseIds = [...toyCodec.encode(reply), 0];
        return { id: request.id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
      }),
  };
}

const act = (action: string) => `<action>${action}</action>`;

function task(environment: string, purpose: Exclude<Purpose, "train">, open: () => Environment): PlayTask {
  const live = { environment, task: "t", open: async () => open() };
  return livePlay(live, purpose, { episode: "e", repetition: 3, seed: 1 });
}

async function playOne(
  given: PlayTask,
  replies: readonly string[],
  onPlayed?: (event: PlayEvent) => void,
): Promise<Played & { asked: SampleRequest[] }> {
  const sampler = scripted(replies);
  const all: Played[] = [];
  await play([given], sampler, toyCodec, (played) => void all.push(played), { onPlayed });
  expect(all).toHaveLength(1);
  return { ...all[0]!, asked: sampler.asked };
}

const seeds = (played: { asked: SampleRequest[] }) => played.asked.map(({ seed }) => seed);

describe("playing for evaluation", () => {
  it("spends a decision on malformed and rejected replies, and never shows the first to the environment", async () => {
    const log = newLog();
    const played = await playOne(
      task("alfworld", "evaluate", () => corridor(3, log)),
      [act("jump"), "forward", act("forward"), act("forward")],
    );
    expect(log).toEqual({ resets: 1, actions: ["jump", "forward", "forward"], closed: 1 });
    expect(played.decisions.map(({ action, status }) => [action, status])).toEqual([
      ["jump", "rejected"],
      [null, "malformed"],
      ["forward", "executed"],
      ["forward", "executed"],
    ]);
    expect(played.decisions[2]!.observation).toBe(played.decisions[1]!.feedback);
    expect(played.decisions[2]!.prompt).toContain("(unreadable reply, nothing done)");
    // `help` is on offer, and no prompt lists it.
    expect(played.decisions[0]!.prompt).toContain("Commands you can give now: back; forward\n");
    expect(played.outcome).toMatchObject({ ended: "environment", success: true, complete: true, score: 100 });
    expect(playedEpisode(played)).toMatchObject({
      task_description: "Leave t.",
      initial_observation: "Room 0.",
    });
  });

  it("draws with the released seeds at T = 0.4", async () => {
    const played = await playOne(
      task("alfworld", "evaluate", () => corridor(2)),
      [act("back"), act("forward")],
    );
    // int(sha256("t|3|0|0")[:8], 16) mod 2^31, and the same of "t|3|1|0"
    expect(seeds(played)).toEqual([2_114_095_836, 791_311_421]);
    expect(played.asked[0]).toMatchObject({ temperature: 0.4 });
    expect(played.asked[0]).not.toHaveProperty("topK");
  });

  it("ends at the limit of decisions", async () => {
    const limited = { ...task("alfworld", "evaluate", () => corridor(9)), maxDecisions: 2 };
    const played = await playOne(limited, [act("forward"), act("forward")]);
    expect(played.outcome).toMatchObject({ ended: "horizon", success: false, complete: true });
  });
});

describe("collecting in ScienceWorld", () => {
  const collecting = (open: () => Environment) => task("scienceworld", "collect", open);
  // ScienceWorld's prompts name templates and objects.
  const room = (rooms: number, log = newLog()): Environment => {
    const plain = corridor(rooms, log);
    const offered = { templates: ["go"], objects: ["door"] };
    return {
      ...plain,
      reset: async (name) => ({ ...(await plain.reset(name)), offered }),
      step: async (action) => ({ ...(await plain.step(action)), offered }),
    };
  };

  it("draws malformed and rejected replies again, and replays the accepted prefix after a rejection", async () => {
    const log = newLog();
    const played = await playOne(
      collecting(() => room(3, log)),
      [act("forward"), "?", act("jump"), act("forward")],
    );
    expect(log.resets).toBe(2);
    expect(log.actions).toEqual(["forward", "jump", "forward", "forward"]);
    expect(played.decisions.map(({ action, status }) => [action, status])).toEqual([
      ["forward", "executed"],
      ["forward", "executed"],
    ]);
    expect(played.attempts).toMatchObject([
      [],
      [
        { action: null, reason: "format" },
        { action: "jump", reason: "rejected", feedback: "Nothing happens." },
      ],
      [],
    ]);
    // The branch of the rejected action left no trace.
    expect(played.decisions[1]!.feedback).toBe("Room 2.");
    expect(new Set(seeds(played)).size).toBe(4);
    expect(played.asked[0]).toMatchObject({ temperature: 0.4, topK: 20 });
  });

  it("asks as a chat of accepted messages and action-only replies, with two pairs from the third decision on", async () => {
    const thought = "<thought>on</thought><action>forward</action>";
    const played = await playOne(
      collecting(() => room(5)),
      [thought, thought, act("forward"), act("forward")],
    );
    const prompts = played.decisions.map(({ prompt }) => prompt!);
    expect(prompts[1]).not.toContain("did: forward");
    expect(prompts[2]!.match(/did: forward/g)).toHaveLength(2);
    expect(prompts[3]!.match(/did: forward/g)).toHaveLength(2);
    const read = toyCodec.decode(played.asked[2]!.promptIds.slice(0, -2));
    expect(read).toBe(
      [prompts[0], act("forward"), prompts[1], act("forward"), prompts[2]].join(toyCodec.decode([0])),
    );
  });

  it("ends when five replies in one place were of no use", async () => {
    const log = newLog();
    const played = await playOne(
      collecting(() => room(3, log)),
      [act("forward"), "?", act("jump"), "?", act("jump"), "?"],
    );
    expect(played.decisions).toHaveLength(1);
    expect(played.attempts[1]).toHaveLength(5);
    expect(played.outcome).toMatchObject({
      ended: "technical",
      complete: true,
      success: false,
      technical_reason: "validity_retry_exhausted",
    });
  });

  it("gives an episode up that a replay does not bring back", async () => {
    let resets = 0;
    const drifting = (): Environment => {
      const plain = room(4);
      return {
        ...plain,
        reset: async (name) => {
          resets += 1;
          const start = await plain.reset(name);
          return resets === 1 ? start : { ...start, observation: "Another room." };
        },
      };
    };
    const played = await playOne(collecting(drifting), [act("forward"), act("jump")]);
    expect(resets).toBe(4);
    expect(played.outcome).toMatchObject({
      ended: "technical",
      complete: false,
      technical_reason: "the replay differs in the first observation",
    });
  });
});

describe("collecting in WebShop", () => {
  it("draws malformed replies again, with the released seeds, and spends a decision on a rejected action", async () => {
    const shop = (): Environment => {
      const plain = corridor(2);
      const offered = { searchBar: true, clickables: ["back"] };
      return {
        ...plain,
        reset: async (name) => ({ ...(await plain.reset(name)), offered }),
        step: async (action) => ({ ...(await plain.step(action)), offered }),
      };
    };
    const live = { environment: "webshop", task: "goal6", open: async () => shop() };
    const collecting = livePlay(live, "collect", { episode: "e", repetition: 3, seed: 1 });
    const played = await playOne(collecting, ["?", act("jump"), act("forward")]);
    expect(played.decisions.map(({ status }) => status)).toEqual(["rejected", "executed"]);
    expect(played.attempts.map(({ length }) => length)).toEqual([1, 0, 0]);
    // "6|3|0|teacher_k16", then with "|1" for the second attempt, then "6|3|1|teacher_k16"
    expect(seeds(played)).toEqual([116_011_182, 298_097_920, 1_141_677_288]);
    const all = { ...collecting, replies: { ...collecting.replies, attempts: 2 } };
    const given = await playOne(all, ["?", "?"]);
    expect(given.outcome).toMatchObject({ ended: "technical", complete: false });
  });
});

describe("many episodes", () => {
  it("run so many at once, and go on with what was played before", async () => {
    const events: PlayEvent[] = [];
    const rules = environmentRules("alfworld");
    expect(rules.protocols.collect.replies.malformed).toBe("spend");
    const tasks = ["a", "b", "c"].map((episode) =>
      livePlay({ environment: "alfworld", task: "t", open: async () => corridor(3) }, "evaluate", {
        ...{ episode, repetition: 0, seed: 1 },
      }),
    );
    const widths: number[] = [];
    const forward: Sampler = {
      sample: async (requests) => {
        widths.push(requests.length);
        return requests.map(({ id }) => {
          const responseIds = [...toyCodec.encode(act("forward")), 0];
          return { id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
        });
      },
    };
    const ended: string[] = [];
    const note = ({ task: { episode } }: Played) => void ended.push(episode);
    await play(tasks, forward, toyCodec, note, { atOnce: 2, onPlayed: (event) => events.push(event) });
    expect(widths).toEqual([2, 2, 1, 1]);
    expect(ended).toEqual(["a", "b", "c"]);

    const first = events.filter(({ episode }) => episode === "a");
    const decision = first.flatMap((event) => (event.type === "decision" ? [event.decision] : []))[0]!;
    const begun = { initialObservation: "Room 0.", decisions: [decision], attempts: [[], []] };
    const again: PlayEvent[] = [];
    await play([{ ...tasks[0]!, begun }], forward, toyCodec, note, {
      onPlayed: (event) => again.push(event),
    });
    expect(again).toEqual(first.slice(2));
  });
});

/** Every reply goes forward. */
const forward: Sampler = {
  sample: async (requests) =>
    requests.map(({ id }) => {
      const responseIds = [...toyCodec.encode(act("forward")), 0];
      return { id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
    }),
};

/** A corridor whose first resets throw. */
function failing(resets: number, error: Error = new EnvironmentError("the process died")): Environment {
  const plain = corridor(3);
  let left = resets;
  return {
    ...plain,
    reset: async (name) => {
      left -= 1;
      if (left >= 0) throw error;
      return plain.reset(name);
    },
  };
}

const named = (episode: string, open: () => Environment): PlayTask => ({
  ...task("alfworld", "evaluate", open),
  episode,
});

/** What is told of episodes that all go forward, by id. */
async function ends(tasks: readonly PlayTask[], codec = toyCodec): Promise<Map<string, Played>> {
  const ended = new Map<string, Played>();
  await play(tasks, forward, codec, (played) => void ended.set(played.task.episode, played));
  return ended;
}

describe("faults", () => {
  it("begins an episode from its start where what was begun does not replay", async () => {
    const given = task("alfworld", "evaluate", () => corridor(3));
    const whole = await playOne(given, [act("forward"), act("forward")]);
    const begun = {
      initialObservation: "Room 0.",
      decisions: [{ ...whole.decisions[0]!, feedback: "Room 7." }],
      attempts: [[], []],
    };
    const events: PlayEvent[] = [];
    const again = await playOne({ ...given, begun }, [act("forward"), act("forward")], (event) =>
      events.push(event),
    );
    expect(playedEpisode(again)).toEqual(playedEpisode(whole));
    expect(seeds(again)).toEqual(seeds(whole));
    expect(events.map(({ type }) => type)).toEqual(["start", "decision", "decision"]);
  });

  it("tries a reset three times, then ends the episode for a technical reason", async () => {
    const ended = await ends([named("twice", () => failing(2)), named("dead", () => failing(3))]);
    expect(ended.get("twice")!.outcome).toMatchObject({ success: true, complete: true });
    expect(playedEpisode(ended.get("dead")!)).toMatchObject({
      decisions: [],
      outcome: { ended: "technical", complete: false, technical_reason: "the process died" },
    });
  });

  it("counts a failed reset as one of the tries of a replay", async () => {
    const plain = corridor(4);
    let resets = 0;
    const dying = (): Environment => ({
      ...plain,
      reset: async (name) => {
        resets += 1;
        if (resets === 2) throw new EnvironmentError("the process died");
        return { ...(await plain.reset(name)), offered: { templates: ["go"], objects: ["door"] } };
      },
      step: async (action) => ({
        ...(await plain.step(action)),
        offered: { templates: ["go"], objects: ["door"] },
      }),
    });
    const played = await playOne({ ...task("scienceworld", "collect", dying), maxDecisions: 1 }, [
      act("jump"),
      act("forward"),
    ]);
    expect(resets).toBe(3);
    expect(played.outcome).toMatchObject({ ended: "horizon", complete: true });
  });

  it("stops where there is no such task", async () => {
    const unknown = named("a", () => failing(1, new InputError("no such task", { key: "task" })));
    await expect(ends([unknown])).rejects.toThrow("task: no such task");
  });

  it("ends an episode whose prompt is over its limit, and goes on with the others", async () => {
    const codec: typeof toyCodec = {
      ...toyCodec,
      prompt(decision, environment, place) {
        if (place.episode === "long" && place.decision === 1) throw new PromptLimitError("too many tokens");
        return toyCodec.prompt(decision, environment, place);
      },
    };
    const ended = await ends([named("long", () => corridor(4)), named("b", () => corridor(4))], codec);
    expect(ended.get("long")!.decisions).toHaveLength(1);
    expect(ended.get("long")!.outcome).toMatchObject({
      ...{ ended: "technical", complete: false, technical_reason: "too many tokens" },
    });
    expect(ended.get("b")!.outcome).toMatchObject({ success: true });
  });

  it("tells of every ended episode, and closes every environment, where closing fails", async () => {
    const log = newLog();
    const stuck = (): Environment => {
      const plain = corridor(2, log);
      return {
        ...plain,
        close: async () => {
          await plain.close();
          throw new Error("does not close");
        },
      };
    };
    const told: string[] = [];
    const tasks = [named("a", stuck), named("b", stuck), named("c", () => corridor(9, log))];
    await expect(
      play(tasks, forward, toyCodec, ({ task: { episode } }) => void told.push(episode)),
    ).rejects.toThrow("does not close");
    expect(told).toEqual(["a", "b"]);
    expect(log.closed).toBe(3);
    // A fault of playing is the one that is told, and all are closed after it.
    const broken: Sampler = { sample: () => Promise.reject(new Error("no device")) };
    await expect(play(tasks, broken, toyCodec, () => undefined)).rejects.toThrow("no device");
    expect(log.closed).toBe(6);
  });
});

it("steps of several environments run together, and who answers first changes nothing", async () => {
  const played = async (order: readonly number[]) => {
    let waiting: (() => void)[] = [];
    const together = (n: number) => (): Environment => {
      const plain = corridor(3);
      return {
        ...plain,
        step: async (action) => {
          // Nobody answers before all are asked.
          await new Promise<void>((resolve) => {
            waiting[n] = resolve;
            if (Object.keys(waiting).length < order.length) return;
            const all = order.map((next) => waiting[next]!);
            waiting = [];
            for (const answer of all) answer();
          });
          return plain.step(action);
        },
      };
    };
    const events: PlayEvent[] = [];
    const tasks = order.map((_, n) => named(`e${n}`, together(n)));
    const ended: Played[] = [];
    await play(tasks, forward, toyCodec, (each) => void ended.push(each), {
      onPlayed: (event) => events.push(event),
    });
    return {
      episodes: ended.map(playedEpisode),
      events: tasks.map(({ episode }) => events.filter((event) => event.episode === episode)),
    };
  };
  expect(await played([2, 0, 1])).toEqual(await played([0, 1, 2]));
});

it("episodes start together, and take their places in the order of the tasks", async () => {
  let resets = 0;
  let all = (): void => undefined;
  const everyone = new Promise<void>((resolve) => {
    all = resolve;
  });
  const slow = (): Environment => {
    const plain = corridor(2);
    return {
      ...plain,
      reset: async (name) => {
        resets += 1;
        if (resets === 3) all();
        await everyone;
        return plain.reset(name);
      },
    };
  };
  const names = ["a", "b", "c"];
  const tasks = names.map((episode) => ({ ...task("alfworld", "evaluate", slow), episode }));
  const sampler = scripted([act("forward"), act("forward"), act("forward")]);
  await play(tasks, sampler, toyCodec, () => undefined);
  expect(sampler.asked.map(({ id }) => id)).toEqual(names);
});
