import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { isWhatIfRecord, readWhatIfRecords, whatIfOf, whatIfRecord } from "../../formats/what-if-record.ts";
import { recordLine } from "../../formats/write.ts";
import { environmentRules } from "../environment/environment.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieve, retrieveEpisode } from "../retrieval/retrieve.ts";
import { CONTROLS, selectSources } from "../retrieval/selection.ts";
import { evidenceInput } from "./evidence-input.ts";
import { evidenceEvents, evidenceRecords, withoutParts } from "./leave-out.ts";
import { renderEvidence } from "./render.ts";
import { EVIDENCE_RECORDS } from "./types.ts";
import { type WhatIf, whatIfInput } from "./what-if.ts";

describe("a what-if", () => {
  it("of nothing changes nothing, byte for byte", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const plain = prepareTask(sources, by);
        const nothing: WhatIf = { without: [], leaveOut: [], augmentation: true, control: "graph" };
        const task = prepareTask(selectSources(sources, nothing), by);
        for (const { record } of retrieveEpisode(plain, episode)) {
          const same = retrieve(task, episode, record.decision, nothing);
          expect(recordLine(same.record)).toBe(recordLine(record));
          const input = whatIfInput(task, episode, same.record, nothing)!;
          expect(renderEvidence(input)).toStrictEqual(renderEvidence(evidenceInput(plain, episode, record)));
        }
      }),
    );
  });

  it("that switches a source off renders what a library without it does", () => {
    const sources = byTask(fixtureSources()).get("melt|12|easy")!;
    const by = environmentRules("scienceworld");
    const episode = fixtureEpisodes().find(({ task }) => task === "melt|12|easy")!;
    for (const { source } of sources) {
      const whatIf: WhatIf = { without: [source] };
      const task = prepareTask(selectSources(sources, whatIf), by);
      const rest = prepareTask(
        sources.filter((each) => each.source !== source),
        by,
      );
      for (const { record } of retrieveEpisode(rest, episode)) {
        const input = whatIfInput(
          task,
          episode,
          retrieve(task, episode, record.decision, whatIf).record,
          whatIf,
        );
        expect(renderEvidence(input!)).toEqual(renderEvidence(evidenceInput(rest, episode, record)));
      }
    }
  });

  const task = prepareTask(byTask(fixtureSources()).get("melt|12|easy")!, environmentRules("scienceworld"));
  const episode = fixtureEpisodes().find(({ task: name }) => name === "melt|12|easy")!;
  const { record } = retrieve(task, episode, 2);
  const full = evidenceInput(task, episode, record);

  it("leaves several parts out: each of them, and no other line", () => {
    const parts = evidenceRecords(full);
    const events = parts.flatMap(({ record: of }) => evidenceEvents(full, of));
    const spans = renderEvidence(full).spans;
    const text = renderEvidence(full).text;
    fc.assert(
      fc.property(fc.subarray(events), (leaveOut) => {
        const input = whatIfInput(task, episode, record, { leaveOut })!;
        let expected = text;
        const cut = spans.filter(
          ({ kind, part, position }) =>
            part === "event" && leaveOut.some((each) => each.record === kind && each.event === position),
        );
        for (const { start, end } of cut.reverse()) {
          expected = expected.slice(0, start) + expected.slice(end + 1);
        }
        expect(renderEvidence(input).text).toBe(expected);
        // What is left can be left out one by one, what is gone cannot.
        expect(parts.flatMap(({ record: of }) => evidenceEvents(input, of))).toHaveLength(
          events.length - leaveOut.length,
        );
      }),
    );
    expect(withoutParts(full, [...parts, ...events])).toBeNull();
    const twice = [parts[0]!, parts[0]!];
    expect(() => withoutParts(full, twice)).toThrow(/has no/);
  });

  it("shows a text that was written by hand as it is, and nothing where it is blank", () => {
    const input = whatIfInput(task, episode, record, { text: "Look first.", leaveOut: [] })!;
    expect(renderEvidence(input)).toEqual({ text: "Look first.", spans: [], backReferences: false });
    expect(renderEvidence(input, { backReferences: true }).text).toBe("Look first.");
    expect(evidenceRecords(input)).toEqual([]);
    expect(whatIfInput(task, episode, record, { text: " \n" })).toBeNull();
  });

  const pin = fc.record({ source: fc.string({ minLength: 1 }), position: fc.option(fc.nat()) });
  const share = fc.constantFrom(0, 0.25, 1);
  const whatIfs = fc.record(
    {
      control: fc.constantFrom(...CONTROLS),
      sourcesPerTask: fc.integer({ min: 1, max: 16 }),
      augmentation: fc.boolean(),
      subset: fc.record({ successTasks: share, failures: share, seed: fc.nat() }, { requiredKeys: [] }),
      terminalFailureNote: fc.boolean(),
      without: fc.array(fc.string()),
      pin,
      pinFailure: pin,
      leaveOut: fc.array(
        fc.record({ record: fc.constantFrom(...EVIDENCE_RECORDS), event: fc.option(fc.nat()) }),
      ),
      text: fc.string({ unit: "grapheme" }),
    },
    { requiredKeys: [] },
  );

  it("is read back from its record", async () => {
    const evidence = renderEvidence(full).text;
    const fullMethod = { retrieval: record, evidence };
    const scores = {
      teacher: "t",
      response_ids: [1, 2],
      vanilla: [-1, -2],
      full_method: [-1, -3],
      what_if: [-0.5, -1],
    };
    await fc.assert(
      fc.asyncProperty(whatIfs, fc.boolean(), async (whatIf, scored) => {
        const saved = whatIfRecord(record, whatIf, { evidence, fullMethod, scores: scored ? scores : null });
        expect(isWhatIfRecord(saved)).toBe(true);
        const bytes = new TextEncoder().encode(recordLine(saved));
        const read = [];
        for await (const each of readWhatIfRecords([bytes], { file: "w.jsonl" })) read.push(each);
        expect(read).toEqual([saved]);
        expect(whatIfOf(read[0]!)).toEqual(whatIf);
        expect(read[0]).toMatchObject(record);
      }),
    );
  });

  it("says what is wrong with a record", async () => {
    const read = async (value: object): Promise<void> => {
      const bytes = new TextEncoder().encode(recordLine(value));
      for await (const _ of readWhatIfRecords([bytes], { file: "w.jsonl" }));
    };
    await expect(read(record)).rejects.toThrow(/w\.jsonl, line 1, what_if: missing/);
    await expect(read({ ...record, what_if: { control: "magic" } })).rejects.toThrow(/what_if\.control/);
    await expect(read({ ...record, what_if: { subset: { success_tasks: 7 } } })).rejects.toThrow(
      /what_if\.subset\.success_tasks/,
    );
    await expect(read({ ...record, what_if: { pin: { source: "a", position: -1 } } })).rejects.toThrow(
      /what_if\.pin\.position/,
    );
  });
});
