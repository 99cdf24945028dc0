import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieve, retrieveEpisode } from "../retrieval/retrieve.ts";
import type { RetrieveOptions } from "../retrieval/selection.ts";
import { fitEvidence } from "./budget.ts";
import { evidenceInput } from "./evidence-input.ts";
import { evidenceInsert } from "./insert.ts";
import { evidenceEvents, evidenceRecords, withoutPart } from "./leave-out.ts";
import { renderEvidence, SOURCE_HEADING, STUDENT_HEADING } from "./render.ts";
import type { EvidenceInput } from "./types.ts";

const tasks = byTask(fixtureSources());
const scienceworld = environmentRules("scienceworld");

function inputOf(episodeId: string, decision: number, options: RetrieveOptions = {}): EvidenceInput {
  const episode = fixtureEpisodes().find((each) => each.episode === episodeId)!;
  const task = prepareTask(tasks.get(episode.task)!, scienceworld);
  const at = decision < 0 ? episode.decisions.length + decision : decision;
  return evidenceInput(task, episode, retrieve(task, episode, at, options).record, options.control);
}

/** The parts of any evidence, checked against the text that it has with all of them. */
function checkParts(input: EvidenceInput): Set<string> {
  const full = renderEvidence(input);
  const seen = new Set<string>();
  const records = evidenceRecords(input);
  expect([...new Set(full.spans.map(({ kind }) => kind))]).toEqual(
    records.map(({ record }) => record).filter((record) => record !== "note"),
  );
  for (const part of records) {
    const { record } = part;
    seen.add(record);
    const rest = withoutPart(input, part);
    if (rest === null) expect(records).toHaveLength(1);
    else {
      const { text, spans } = renderEvidence(rest);
      const section = full.spans.filter(({ kind }) => kind === record);
      if (record === "success" || record === "failure") {
        // The record with the line end before it, and nothing else.
        const [start, end] = [section[0]!.start, section.at(-1)!.end];
        expect(text).toBe(full.text.slice(0, start - 1) + full.text.slice(end));
        expect(spans.some(({ kind }) => kind === record)).toBe(false);
        expect(evidenceRecords(rest)).toEqual(records.filter((each) => each.record !== record));
        const retrieval = { ...input.retrieval, [record]: null };
        expect(renderEvidence({ ...input, retrieval, [record]: null })).toEqual({ ...full, text, spans });
      }
      if (record === "student") {
        expect(text).not.toContain(STUDENT_HEADING);
        expect(spans.some(({ kind, part }) => kind === "student" && part === "event")).toBe(false);
      }
    }
    const events = evidenceEvents(input, record);
    const printed = full.spans.filter((span) => span.kind === record && span.part === "event");
    expect(events).toEqual(printed.map(({ position }) => ({ record, event: position })));
    for (const [i, event] of events.entries()) {
      const span = printed[i]!;
      // The event with its line end, and nothing else.
      const { text } = renderEvidence(withoutPart(input, event)!);
      expect(text).toBe(full.text.slice(0, span.start) + full.text.slice(span.end + 1));
      seen.add("event");
      if (event.event === (record === "student" ? -1 : input[record as "success"]?.decisions.length)) {
        seen.add("end");
      }
    }
  }
  return seen;
}

describe("withoutPart", () => {
  it("leaves out exactly the part, whatever was recorded", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const task = prepareTask(sources, by);
        for (const { record } of retrieveEpisode(task, episode)) {
          for (const each of checkParts(evidenceInput(task, episode, record))) seen.add(each);
        }
      }),
      { numRuns: 60 },
    );
    expect([...seen].sort()).toEqual(["end", "event", "failure", "student", "success"]);
  });

  it("does so for the fixture's evidence, with the note as a part of its own", () => {
    const input = inputOf("use-thermometer|3|easy#1", -1, { terminalFailureNote: true });
    expect(checkParts(input)).toContain("note");
    const without = renderEvidence(withoutPart(input, { record: "note", event: null })!);
    expect(without).toEqual(renderEvidence(inputOf("use-thermometer|3|easy#1", -1)));
  });

  it("keeps the retained records and the reading rule without the student's execution", () => {
    const input = inputOf("melt|12|easy#3", 2);
    const { text } = renderEvidence(withoutPart(input, { record: "student", event: null })!);
    expect(text).toMatch(/^Events count from 1\. [^\n]*\nCOMPLETE SOURCE/);
    expect(text).toContain(SOURCE_HEADING);
    expect(text).not.toContain("Student event 1");
  });

  it("is the vanilla context without the only record, and only the note where that is left", () => {
    const student = { record: "student", event: null } as const;
    const options = { control: "hindsight-only" } as const;
    expect(withoutPart(inputOf("melt|12|easy#3", 2, options), student)).toBeNull();
    const noted = inputOf("melt|12|easy#3", -1, { ...options, terminalFailureNote: true });
    expect(renderEvidence(withoutPart(noted, student)!).text).toMatch(
      /^NOTE ON THE SCORED DECISION[^<]*before it\.$/,
    );
  });

  it("refuses parts that the evidence does not have", () => {
    const input = inputOf("melt|12|easy#3", 2, { control: "hindsight-only" });
    expect(() => withoutPart(input, { record: "success", event: null })).toThrow(
      "the evidence of decision 2 of episode melt|12|easy#3 has no successful record",
    );
    expect(() => withoutPart(input, { record: "note", event: 0 })).toThrow(InputError);
    const { length } = input.episode.decisions;
    expect(() => withoutPart(input, { record: "student", event: length })).toThrow(
      `the student's execution of the evidence has no event ${length + 1}`,
    );
    const once = withoutPart(input, { record: "student", event: 0 })!;
    expect(() => withoutPart(once, { record: "student", event: 0 })).toThrow(/has no event 1/);
  });

  it("is fitted to the budget by itself: plain again where what is left fits plain", () => {
    const input = inputOf("melt|12|easy#3", 2);
    const encode = (text: string) => Array.from({ length: text.length }, () => 1);
    const full = evidenceInsert(renderEvidence(input).text).length;
    const part = evidenceRecords(input).at(-1)!;
    const limit = full - 1;
    expect(fitEvidence(input, { promptTokens: 0, encode, limit }).evidence.backReferences).toBe(true);
    const rest = withoutPart(input, part)!;
    const { evidence } = fitEvidence(rest, { promptTokens: 0, encode, limit });
    expect(evidence).toMatchObject({ backReferences: false, text: renderEvidence(rest).text });
    // With back-references, a text that was named where it is left out is named at its next place.
    const short = renderEvidence(withoutPart(input, { record: "student", event: 0 })!, {
      backReferences: true,
    });
    for (const [, name] of short.text.matchAll(/: (\[OBS\d+\])$/gm)) {
      expect(short.text.indexOf(`: ${name} `)).toBeLessThan(short.text.indexOf(`: ${name}\n`));
      expect(short.text).toContain(`: ${name} `);
    }
  });
});
