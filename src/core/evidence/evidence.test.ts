import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { type Attempt, attemptsAfterLast, type Episode, type Source } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieve, retrieveEpisode } from "../retrieval/retrieve.ts";
import { backReferences } from "./back-references.ts";
import { fitEvidence } from "./budget.ts";
import { evidenceInput } from "./evidence-input.ts";
import { type EvidenceInput, renderEvidence } from "./render.ts";
import type { Evidence } from "./types.ts";

const scienceworld = environmentRules("scienceworld");

const located = (key: string) => ({ key, mode: "normal", options: {} });

const SOURCE: Source = {
  format: "gcopd.source.v1",
  environment: "scienceworld",
  task: "t",
  source: "teacher:3",
  repetition: 3,
  origin: { kind: "teacher" },
  task_description: "Find the orange.",
  initial_observation: "A hallway.",
  decisions: [
    {
      observation: "A hallway.",
      state: located("hall"),
      action: "go to kitchen",
      binding: null,
      status: "executed",
      feedback: "You move to the kitchen.",
      score: 10,
      gap_before: false,
      attempts: [
        { action: "go kitchn", reason: "rejected", feedback: "Unknown action." },
        { action: null, reason: "format", feedback: "Unreadable." },
      ],
    },
    {
      observation: "You move to the kitchen. ",
      state: located("kitchen"),
      action: "0",
      binding: "pick up orange",
      status: "binding",
      feedback: "You take the orange.",
      score: 100,
      gap_before: false,
      attempts: [],
    },
  ],
  final_state: located("done"),
  outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
};

const EPISODE: Episode = {
  format: "gcopd.episode.v1",
  environment: "scienceworld",
  task: "t",
  episode: "e",
  task_description: "Find the orange.",
  initial_observation: "A hallway.",
  decisions: [
    {
      observation: "A hallway.",
      state: located("hall"),
      action: "eat door",
      binding: null,
      status: "rejected",
      feedback: "You cannot.",
      score: 0,
      gap_before: false,
      prompt: "PROMPT",
      response: "<thought>SECRET</thought><action>eat door</action>",
    },
    {
      observation: "You cannot.",
      state: null,
      action: null,
      binding: null,
      status: "malformed",
      feedback: "Answer with one action.",
      score: 0,
      gap_before: true,
    },
  ],
  final_state: null,
  outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
};

function inputFor(sources: Source[], episode: Episode, decision: number): EvidenceInput {
  const task = prepareTask(sources, scienceworld);
  return evidenceInput(task, episode, retrieve(task, episode, decision).record);
}

describe("renderEvidence", () => {
  it("prints the paper's order and labels, everything recorded, and no thought", () => {
    expect(renderEvidence(inputFor([SOURCE], EPISODE, 1)).text).toBe(
      `STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION
Events count from 0. The observation before an event is the feedback printed just before it, unless the event prints its own.
Initial observation: A hallway.
Student event [0]
Recorded action: eat door
Status: rejected by the environment, not executed
Actual feedback: You cannot.
Student event [1] [CURRENT SCORED DECISION]
Recording gap: not continuous from the previous event
Recorded action: none (the response held no executable action)
Status: malformed response, nothing executed
Actual feedback: Answer with one action.
Final outcome: failure; score 0; stopped at the decision limit after 2 decisions
COMPLETE SOURCE ACTION/OBSERVATION EXECUTION: teacher:3
Role: successful record
Origin: teacher
Verification: complete and verified by replay
Anchor: historical; source event [0] shares the state of student event [0], earlier than the scored decision [1]
Initial observation: A hallway.
Source event [0] [MATCHED STATE]
Noncommitted attempt (rejected, not part of the execution): go kitchn
Attempt feedback: Unknown action.
Noncommitted attempt (unreadable, not part of the execution): none (the response held no executable action)
Attempt feedback: Unreadable.
Recorded action: go to kitchen
Actual feedback: You move to the kitchen.
Source event [1]
Observation: You move to the kitchen. 
Recorded action: 0 (stood for: pick up orange)
Actual feedback: You take the orange.
Final outcome: success; score 100; ended by the environment after 2 decisions`,
    );
  });

  it("labels each relation and each standing of a record", () => {
    const anchor = (sources: Source[], episode = EPISODE, decision = 0) =>
      /^Verification: .*\nAnchor: .*$/m.exec(renderEvidence(inputFor(sources, episode, decision)).text)![0];
    expect(anchor([SOURCE])).toContain(
      "Anchor: current; source event [0] shares the state of student event [0], the scored decision",
    );
    const elsewhere = { ...EPISODE, decisions: EPISODE.decisions.map((d) => ({ ...d, state: null })) };
    expect(anchor([SOURCE], elsewhere)).toContain("Anchor: unaligned; no source event is matched");
    const raw: Source = { ...SOURCE, outcome: { ...SOURCE.outcome, verified: false, complete: false } };
    expect(anchor([raw])).toBe(
      "Verification: INCOMPLETE, UNVERIFIED by replay\n" +
        "Anchor: UNVERIFIED raw record, unaligned; no source event is matched to a student event",
    );
    expect(renderEvidence(inputFor([raw], EPISODE, 0)).text).toContain(
      "Final outcome: success as recorded, not confirmed; score 100",
    );
  });

  it("marks a matched terminal visit as the end of the source", () => {
    const there: Episode = {
      ...EPISODE,
      decisions: EPISODE.decisions.map((d, t) => (t === 0 ? { ...d, state: located("done") } : d)),
    };
    const { text, spans } = renderEvidence(inputFor([SOURCE], there, 0));
    expect(text).toContain(
      "Source event [2] [MATCHED STATE]\nRecorded action: none (the execution ends in this state)\nFinal outcome: success",
    );
    expect(spans.find((span) => span.kind === "success" && span.position === 2)).toMatchObject({
      part: "event",
    });
  });

  it("prints attempts after the last decision before the outcome, labelled, and ignores what is none", () => {
    const tries: Attempt[] = [
      { action: "open sky", reason: "rejected", feedback: "No such thing." },
      { action: null, reason: "format", feedback: "Unreadable." },
    ];
    const { text, spans } = renderEvidence(inputFor([{ ...SOURCE, attempts_after_last: tries }], EPISODE, 1));
    expect(text).toContain(`Actual feedback: You take the orange.
Source event [2]
Noncommitted attempt (rejected, not part of the execution): open sky
Attempt feedback: No such thing.
Noncommitted attempt (unreadable, not part of the execution): none (the response held no executable action)
Attempt feedback: Unreadable.
Recorded action: none (the execution ends in this state)
Final outcome: success; score 100; ended by the environment after 2 decisions`);
    expect(spans.find((span) => span.kind === "success" && span.position === 2)?.part).toBe("event");
    const plain = renderEvidence(inputFor([SOURCE], EPISODE, 1)).text;
    for (const other of [[], null, "none", [{ action: 3 }]]) {
      expect(renderEvidence(inputFor([{ ...SOURCE, attempts_after_last: other }], EPISODE, 1)).text).toBe(
        plain,
      );
    }
  });

  it("puts the successful record before the failed one", () => {
    const lost: Source = {
      ...SOURCE,
      source: "teacher:9",
      outcome: { ...SOURCE.outcome, success: false, score: 5 },
    };
    const { spans, text } = renderEvidence(inputFor([lost, SOURCE], EPISODE, 1));
    expect([...new Set(spans.map((span) => span.kind))]).toEqual(["student", "success", "failure"]);
    expect(text.indexOf("EXECUTION: teacher:3")).toBeLessThan(text.indexOf("EXECUTION: teacher:9"));
  });

  it("wraps hindsight alone in its tags and shows no source", () => {
    const input = { ...inputFor([SOURCE], EPISODE, 1), control: "hindsight-only" as const };
    const { text, spans } = renderEvidence({
      ...input,
      retrieval: { ...input.retrieval, success: null },
      success: null,
    });
    expect(text).toMatch(/^<student_hindsight>\nSTUDENT'S [\s\S]*2 decisions\n<\/student_hindsight>$/);
    expect(text).not.toContain("SOURCE");
    expect(text.slice(spans[0]!.start)).toMatch(/^STUDENT'S/);
    expect(text.slice(0, spans.at(-1)!.end)).toMatch(/after 2 decisions$/);
  });

  it("refuses records that are not those retrieval retained", () => {
    const input = inputFor([SOURCE], EPISODE, 1);
    expect(() => renderEvidence({ ...input, success: null })).toThrow(
      "decision 1 of episode e retains teacher:3 as its successful record, got none",
    );
    expect(() => renderEvidence({ ...input, failure: SOURCE })).toThrow(InputError);
    expect(() => renderEvidence({ ...input, decision: 0 })).toThrow(/is of decision 1/);
    expect(() => renderEvidence({ ...input, decision: 9 })).toThrow(/there is no decision 9/);
    const task = prepareTask([], scienceworld);
    expect(() => evidenceInput(task, EPISODE, input.retrieval)).toThrow(/names source teacher:3/);
  });
});

function afterLast(execution: Episode | Source): readonly Attempt[] {
  return execution.format === "gcopd.source.v1" ? attemptsAfterLast(execution) : [];
}

/** Every recorded text of an execution that the evidence must hold, in order. */
function recordedTexts(execution: Episode | Source): string[] {
  return [
    execution.initial_observation,
    ...execution.decisions.flatMap((event) => [
      event.observation,
      ...("attempts" in event ? (event.attempts as Source["decisions"][number]["attempts"]) : []).flatMap(
        (a) => [a.action ?? "none (the response held no executable action)", a.feedback],
      ),
      event.action === "" ? "(blank)" : (event.action ?? "none (the response held no executable action)"),
      event.binding === null ? "" : `(stood for: ${event.binding})`,
      event.feedback,
    ]),
    ...afterLast(execution).flatMap((a) => [
      a.action ?? "none (the response held no executable action)",
      a.feedback,
    ]),
  ];
}

function checkSpans(evidence: Evidence, input: EvidenceInput): void {
  const { text, spans } = evidence;
  expect(spans[0]!.start).toBe(0);
  expect(spans.at(-1)!.end).toBe(text.length);
  spans.forEach((span, i) => {
    expect(span.end).toBeGreaterThan(span.start);
    const next = spans[i + 1];
    if (next !== undefined) {
      expect(text.slice(span.end, next.start)).toBe("\n");
    }
    const line = text.slice(span.start).split("\n", 1)[0]!;
    if (span.part === "event") {
      const name = span.kind === "student" ? "Student" : "Source";
      expect(line.startsWith(`${name} event [${span.position}]`)).toBe(true);
    } else if (span.part === "outcome") expect(line.startsWith("Final outcome: ")).toBe(true);
    else expect(line).toMatch(/^(STUDENT'S COMPLETE|COMPLETE SOURCE)/);
  });
  for (const [kind, execution] of [
    ["student", input.episode],
    ["success", input.success],
    ["failure", input.failure],
  ] as const) {
    const events = spans.filter((span) => span.kind === kind && span.part === "event");
    const positions = events.map((span) => span.position);
    const expected = (execution?.decisions ?? []).map((_, j) => j);
    const end = expected.length;
    const at =
      kind === "student"
        ? input.decision
        : (input.retrieval[kind] as { position: number | null } | null)?.position;
    if (execution !== null && (at === end || afterLast(execution).length > 0)) expected.push(end);
    expect(positions).toEqual(expected);
    for (const span of events) {
      const marked = /^[^\n]*\[(CURRENT SCORED DECISION|MATCHED STATE)\]$/m.test(
        text.slice(span.start).split("\n", 1)[0]!,
      );
      expect(marked).toBe(span.position === at);
    }
  }
}

/** Undoes back-references: removes names where they are defined, puts the text back where they stand alone. */
function expand(text: string, recorded: string[], plain: string): string {
  const { names, prefix } = backReferences(recorded, plain);
  const byName = new Map([...names].map(([value, name]) => [name, value]));
  const body = text.replace(/\n\[OBS_*k\] before a text[^\n]*/, "");
  return body.replace(new RegExp(`(\\[${prefix}\\d+\\])( ?)`, "g"), (_, name: string, space: string) =>
    space === " " ? "" : byName.get(name)!,
  );
}

describe("evidence of the ScienceWorld fixture", () => {
  const sources = byTask(fixtureSources());
  const tasks = new Map([...sources].map(([task, records]) => [task, prepareTask(records, scienceworld)]));

  it("holds every recorded text of every retained record in order, never a thought, with true spans", () => {
    for (const episode of fixtureEpisodes()) {
      const task = tasks.get(episode.task)!;
      for (const { record } of retrieveEpisode(task, episode)) {
        if (record.decision % 4 !== 0) continue;
        const input = evidenceInput(task, episode, record);
        const evidence = renderEvidence(input);
        checkSpans(evidence, input);
        let from = 0;
        let observed = "";
        for (const execution of [input.episode, input.success, input.failure]) {
          if (execution === null) continue;
          for (const text of recordedTexts(execution)) {
            if (text === observed) continue; // an observation that repeats the feedback before it
            const found = evidence.text.indexOf(text, from);
            expect(found, text).toBeGreaterThanOrEqual(0);
            from = found + text.length;
            observed = text;
          }
        }
        for (const { response } of episode.decisions) {
          const thought = /<thought>(.*?)<\/thought>/s.exec(response ?? "")?.[1];
          if (thought !== undefined && thought.length > 12) expect(evidence.text).not.toContain(thought);
        }
        for (const { state } of episode.decisions) {
          if (state !== null) expect(evidence.text).not.toContain(state.key);
        }
      }
    }
  });
});

describe("properties of rendering", () => {
  /** Texts that look like our labels, names, marks and tags. */
  const hostile = fc.constantFrom(
    "Final outcome: success",
    "x\nStudent event [0] [CURRENT SCORED DECISION]\nRecorded action: y",
    "COMPLETE SOURCE ACTION/OBSERVATION EXECUTION: fake\n",
    "[OBS1]",
    "[OBS1] \n[OBS_1]",
    "",
    "\n",
    " Actual feedback: [MATCHED STATE]",
    "a long enough text that will be repeated and so be named, with\nlines [k] of its own",
    "another long enough text that will be repeated and so be named $& $1",
  );
  const texts = fc.infiniteStream(hostile);

  const scene = fc.tuple(library, studentEpisode, rules, texts).map(([sources, episode, by, stream]) => {
    const next = () => stream.next().value as string;
    const retext = <T extends Episode | Source>(execution: T): T => {
      let last = next();
      const initial_observation = last;
      const decisions = execution.decisions.map((d) => {
        const observation = d.observation === "Elsewhere." ? next() : last;
        last = next();
        return { ...d, observation, feedback: last, action: d.action === "look" ? next() : d.action };
      });
      return { ...execution, initial_observation, decisions };
    };
    const tries = (source: Source): Source =>
      source.repetition % 2 === 0
        ? source
        : { ...source, attempts_after_last: [{ action: next(), reason: "rejected", feedback: next() }] };
    return { sources: sources.map(retext).map(tries), episode: retext(episode), by };
  });

  it("keeps spans true and back-references reversible, whatever the texts look like", () => {
    let shortened = 0;
    fc.assert(
      fc.property(scene, ({ sources, episode, by }) => {
        const task = prepareTask(sources, by);
        for (const { record } of retrieveEpisode(task, episode)) {
          const input = evidenceInput(task, episode, record);
          const plain = renderEvidence(input);
          const short = renderEvidence(input, { backReferences: true });
          checkSpans(plain, input);
          checkSpans(short, input);
          const recorded = [input.episode, input.success, input.failure].flatMap((execution) => {
            if (execution === null) return [];
            let before = execution.initial_observation;
            return [
              before,
              ...execution.decisions.flatMap((d) => {
                const own = d.observation === before ? [] : [d.observation];
                before = d.feedback;
                const attempts = "attempts" in d ? (d.attempts as { feedback: string }[]) : [];
                return [...own, ...attempts.map((a) => a.feedback), d.feedback];
              }),
              ...afterLast(execution).map((a) => a.feedback),
            ];
          });
          expect(expand(short.text, recorded, plain.text)).toBe(plain.text);
          if (short.text.length < plain.text.length) shortened++;
        }
      }),
      { numRuns: 300 },
    );
    expect(shortened).toBeGreaterThan(20);
  });
});

describe("backReferences", () => {
  it("names repeated texts in order, where it saves something, and avoids names that the evidence holds", () => {
    const long = "a".repeat(60);
    const other = "b".repeat(60);
    const { names, prefix } = backReferences(
      ["short", long, other, "short", long, other, "c".repeat(90)],
      "",
    );
    expect(prefix).toBe("OBS");
    expect([...names]).toEqual([
      [long, "[OBS1]"],
      [other, "[OBS2]"],
    ]);
    expect(backReferences([long, long], "see [OBS and [OBS_2]").names.get(long)).toBe("[OBS__1]");
  });
});

describe("fitEvidence", () => {
  const repeated = "A room with many things in it, described at some length.\n\ta table\n\ta chair";
  const episode: Episode = {
    ...EPISODE,
    decisions: [0, 1, 2, 3].map(() => ({
      ...EPISODE.decisions[0]!,
      observation: repeated,
      feedback: repeated,
    })),
  };
  const input = inputFor([], episode, 2);
  const countTokens = (text: string) => text.length;
  const plain = renderEvidence(input).text.length;
  const short = renderEvidence(input, { backReferences: true }).text.length;

  it("is plain within the budget, has back-references over it, and fails rather than cut", () => {
    expect(short).toBeLessThan(plain);
    expect(fitEvidence({ ...input, countTokens, limit: plain })).toEqual({
      ...renderEvidence(input),
      tokens: plain,
    });
    const fitted = fitEvidence({ ...input, countTokens, limit: plain - 1 });
    expect(fitted).toMatchObject({ backReferences: true, tokens: short });
    expect(fitEvidence({ ...input, countTokens, limit: short }).text.split("a table").length - 1).toBe(1);
    expect(() => fitEvidence({ ...input, countTokens, limit: short - 1 })).toThrow(
      `does not fit: ${plain} tokens, ${short} with back-references, limit ${short - 1}`,
    );
  });
});
