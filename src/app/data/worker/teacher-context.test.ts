import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../../test/support/scienceworld.ts";
import { environmentRules } from "../../../core/environment/environment.ts";
import { prepareTask } from "../../../core/retrieval/index.ts";
import type { Selection } from "../../../core/retrieval/selection.ts";
import { loadTokenizer, type Tokenizer } from "../../../text/index.ts";
import { TeacherContext } from "./teacher-context.ts";

const folder = new URL("../../../../test/fixtures/models/tokenizer/", import.meta.url);
const tokenizer = loadTokenizer({
  tokenizerJson: await readFile(new URL("tokenizer.json", folder), "utf8"),
  tokenizerConfigJson: await readFile(new URL("tokenizer_config.json", folder), "utf8"),
  file: "tokenizer.json",
});
const sources = byTask(fixtureSources());

function contextOf(
  episodeId: string,
  decision: number,
  selection: Selection = {},
  by: Tokenizer | null = tokenizer,
) {
  const episode = fixtureEpisodes().find((each) => each.episode === episodeId)!;
  const prepared = prepareTask(sources.get(episode.task)!, environmentRules("scienceworld"));
  const reading = { tokenizer: by, episode, note: null };
  return new TeacherContext(prepared, episode, decision, selection, () => reading);
}

describe("TeacherContext", () => {
  const context = contextOf("melt|12|easy#3", 2);
  const { vanillaIds, graphIds } = context.pair();

  it("puts evidence into the prompt, and a part less where one is left out", () => {
    const all = context.graph();
    expect(all.promptIds).toEqual(graphIds);
    expect(graphIds.length).toBe(vanillaIds.length + all.insertIds.length);
    const parts = context.leftOut(null);
    expect(parts.map(({ part }) => part.record)).toEqual(
      expect.arrayContaining(["student", expect.stringMatching(/success|failure/)]),
    );
    for (const { promptIds, evidenceTokens, vanilla, part } of parts) {
      expect(vanilla).toBe(false);
      expect(promptIds.length).toBe(vanillaIds.length + evidenceTokens);
      expect(evidenceTokens, part.record).toBeLessThan(all.insertIds.length);
      expect(evidenceTokens, part.record).toBeGreaterThan(0);
      // The prompt around the evidence is untouched.
      expect(promptIds.slice(-2)).toEqual(vanillaIds.slice(-2));
      expect(promptIds[0]).toBe(vanillaIds[0]);
    }
  });

  it("has a context for each event of a record", () => {
    const events = context.leftOut("student");
    expect(events.map(({ part }) => part.event)).toEqual([...events.keys()]);
    expect(new Set(events.map(({ promptIds }) => promptIds.join())).size).toBe(events.length);
  });

  it("is the vanilla context where hindsight was all of the evidence", () => {
    const [only, ...others] = contextOf("melt|12|easy#3", 2, { control: "hindsight-only" }).leftOut(null);
    expect(others).toEqual([]);
    expect(only).toEqual({
      part: { record: "student", event: null },
      promptIds: vanillaIds,
      evidenceTokens: 0,
      backReferences: false,
      vanilla: true,
    });
  });

  it("says what is missing", () => {
    expect(() => contextOf("melt|12|easy#3", 2, {}, null).pair()).toThrow("no tokenizer is open");
    expect(() => context.leftOut("note")).toThrow(/has no note$/);
  });
});
