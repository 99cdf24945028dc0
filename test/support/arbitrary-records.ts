/** Random small libraries and episodes that meet often: few states, many defects. For property tests. */

import type { Episode, Source, State } from "../../src/core/record/schema.ts";
import fc from "./property.ts";

const state: fc.Arbitrary<State | null> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 8,
    arbitrary: fc.record({
      key: fc.constantFrom("a", "b", "c"),
      mode: fc.constantFrom("normal", "normal", "normal", "pending_menu"),
      options: fc.constantFrom<Record<string, string>[]>(
        {},
        {},
        {},
        { "0": "pick up orange", "1": "eat  orange" },
        { "1": "eat orange", " 0": " pick\tup orange\n" },
        { "0": "eat orange", "1": "pick up orange" },
      ),
    }),
  },
);

const decision = fc.record({
  state,
  action: fc.constantFrom("go", "go", "go", "look", "", " ", null),
  binding: fc.constantFrom(null, null, null, "pick up orange", ""),
  status: fc.constantFrom(
    ...([
      "executed",
      "executed",
      "executed",
      "executed",
      "binding",
      "rejected",
      "malformed",
      "rolled_back",
    ] as const),
  ),
  /** What the next observation does with this feedback. */
  next: fc.constantFrom("same", "same", "same", "same", "same", "space", "other"),
  feedback: fc.constantFrom("You move.", "Nothing happens.", "A room.\n\ta door"),
  gap: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  attempts: fc.integer({ min: 0, max: 2 }),
});

const outcome = fc.record({
  complete: fc.constantFrom(true, true, true, true, false),
  verified: fc.constantFrom(true, true, true, true, false),
  success: fc.boolean(),
  claim: fc.constantFrom("absent", "same", "same", "true", "false"),
  ended: fc.constantFrom("environment", "horizon", "technical"),
  score: fc.constantFrom(null, 0, 100),
});

const execution = fc.record({
  decisions: fc.array(decision, { maxLength: 6 }),
  final_state: state,
  outcome,
});

type Execution = typeof execution extends fc.Arbitrary<infer T> ? T : never;

function committed(raw: Execution) {
  let observation = "Start.";
  return raw.decisions.map((d) => {
    const shown = observation;
    observation = d.next === "same" ? d.feedback : d.next === "space" ? ` ${d.feedback}\n` : "Elsewhere.";
    return {
      observation: shown,
      state: d.state,
      action: d.action,
      binding: d.binding,
      status: d.status,
      feedback: d.feedback,
      score: null,
      gap_before: d.gap,
    };
  });
}

function ending(raw: Execution) {
  const { claim, ...rest } = raw.outcome;
  const reported = claim === "same" ? rest.success : claim === "true";
  return claim === "absent" ? rest : { ...rest, reported_success: reported };
}

const common = {
  environment: "scienceworld",
  task: "t",
  task_description: "",
  initial_observation: "Start.",
};

/** A library of one task; repetitions repeat, source ids do not. */
export const library: fc.Arbitrary<Source[]> = fc
  .array(
    fc.tuple(
      execution,
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom("teacher" as const, "planner" as const),
      fc.nat(4),
    ),
    { maxLength: 6 },
  )
  .map((records) =>
    records.map(
      ([raw, repetition, kind, ruledOut], i): Source => ({
        format: "gcopd.source.v1",
        ...common,
        source: `s${i}`,
        repetition,
        origin: { kind },
        decisions: committed(raw).map((d, j) => ({
          ...d,
          ...(j === ruledOut ? { entry_allowed: false } : {}),
          attempts: Array.from({ length: raw.decisions[j]!.attempts }, () => ({
            action: "try",
            reason: "rejected" as const,
            feedback: "No.",
          })),
        })),
        final_state: raw.final_state,
        outcome: ending(raw),
      }),
    ),
  );

/** A student episode of the same task with at least one decision. */
export const studentEpisode: fc.Arbitrary<Episode> = execution
  .filter((raw) => raw.decisions.length > 0)
  .map((raw) => ({
    format: "gcopd.episode.v1",
    ...common,
    episode: "e",
    decisions: committed(raw),
    final_state: raw.final_state,
    outcome: ending(raw),
  }));

export const rules = fc.record({
  trustedSourcesOnly: fc.boolean(),
  planDecisions: fc.constantFrom(null, null, null, 2),
  admitsTerminalEntry: fc.boolean(),
  checksContinuity: fc.boolean(),
  testsUnalignedEntry: fc.boolean(),
  unverifiedFallback: fc.boolean(),
});
