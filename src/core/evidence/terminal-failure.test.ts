import { describe, expect, it } from "vitest";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import type { Episode } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieve, retrieveEpisode } from "../retrieval/retrieve.ts";
import type { RetrieveOptions } from "../retrieval/selection.ts";
import { endedInTerminalFailure } from "../retrieval/terminal-failure.ts";
import { evidenceInput } from "./evidence-input.ts";
import { renderEvidence } from "./render.ts";

const tasks = byTask(fixtureSources());
const by = environmentRules("scienceworld");
const episodes = fixtureEpisodes();
const NOTE = { terminalFailureNote: true } as const;

function evidence(episode: Episode, decision: number, options: RetrieveOptions) {
  const task = prepareTask(tasks.get(episode.task)!, by);
  const { record } = retrieve(task, episode, decision, options);
  return renderEvidence(evidenceInput(task, episode, record, options.control));
}

describe("the terminal-failure note", () => {
  const lost = episodes.find((episode) => episode.episode === "use-thermometer|3|easy#1")!;
  const last = lost.decisions.length - 1;

  it("stands on the final decision of the fixture's episodes that ended by themselves below zero, and on no other", () => {
    const noted: string[] = [];
    for (const episode of episodes) {
      const task = prepareTask(tasks.get(episode.task)!, by);
      const plain = retrieveEpisode(task, episode);
      retrieveEpisode(task, episode, NOTE).forEach(({ record, explanation }, t) => {
        const { terminal_failure_note: note, ...rest } = record;
        expect(rest).toStrictEqual(plain[t]!.record);
        if (note === undefined) return;
        expect([note, t]).toEqual([true, episode.decisions.length - 1]);
        expect(explanation.sentence).toMatch(/notes that this decision ended the episode in failure\.$/);
        noted.push(episode.episode);
      });
    }
    expect(noted.sort()).toEqual([
      "chemistry-mix-paint-secondary-color|15|easy#4",
      "chemistry-mix-paint-secondary-color|15|easy#5",
      "melt|12|easy#3",
      "use-thermometer|3|easy#1",
      "use-thermometer|3|easy#3",
    ]);
  });

  it("excludes horizon and technical stops, scores that are not negative or not known, and cut records", () => {
    const ended = (outcome: Partial<Episode["outcome"]>) =>
      endedInTerminalFailure({ ...lost, outcome: { ...lost.outcome, ...outcome } });
    expect(ended({})).toBe(true);
    expect(ended({ ended: "horizon" })).toBe(false);
    expect(ended({ ended: "technical" })).toBe(false);
    expect(ended({ score: 0 })).toBe(false);
    expect(ended({ score: null })).toBe(false);
    expect(ended({ success: true })).toBe(false);
    expect(ended({ complete: false })).toBe(false);
  });

  it("comes first and changes nothing after it, in a span of its own", () => {
    for (const control of ["graph", "hindsight-only", "minimum-prefix"] as const) {
      const plain = evidence(lost, last, { control });
      const { text, spans } = evidence(lost, last, { control, ...NOTE });
      const note = spans[0]!;
      expect(note).toMatchObject({ start: 0, kind: "student", part: "note", source: null, position: last });
      expect(text.slice(0, note.end)).toContain("focus on oven");
      expect(text.slice(0, note.end)).toContain("score -100");
      expect(text.slice(note.end)).toBe(`\n${plain.text}`);
      const shift = note.end + 1;
      expect(spans.slice(1)).toEqual(
        plain.spans.map((span) => ({ ...span, start: span.start + shift, end: span.end + shift })),
      );
    }
    expect(evidence(lost, last - 1, NOTE)).toEqual(evidence(lost, last - 1, {}));
  });

  it("is refused where the episode did not end that way", () => {
    const task = prepareTask(tasks.get(lost.task)!, by);
    const { record } = retrieve(task, lost, 0);
    const input = evidenceInput(task, lost, { ...record, terminal_failure_note: true });
    expect(() => renderEvidence(input)).toThrow(/asks for the terminal-failure note/);
  });
});
