import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import { type Attempt, attemptsAfterLast, type Episode, type Source } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import { backReferences } from "./back-references.ts";
import { evidenceInput } from "./evidence-input.ts";
import { renderEvidence } from "./render.ts";
import type { Evidence, EvidenceInput } from "./types.ts";

const scienceworld = environmentRules("scienceworld");

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
      expect(line.split(" [")[0]).toBe(`${name} event ${span.position! + 1}`);
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
    "x\nStudent event 1 [CURRENT SCORED DECISION]\nRecorded action: y",
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
