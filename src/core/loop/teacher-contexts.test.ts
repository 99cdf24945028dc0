import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { failed, source, student } from "../../../test/support/path-records.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { readEpisodes, readLibrary } from "../../formats/read-files.ts";
import type { Library } from "../record/library.ts";
import type { Episode, Source } from "../record/schema.ts";
import type { SourceSelection } from "../retrieval/selection.ts";
import { libraryContexts } from "./teacher-contexts.ts";

const FIXTURES = resolve(import.meta.dirname, "../../../test/fixtures/scienceworld");
const GRAPH = { kind: "graph-conditioned", control: "graph" } as const;
let library: Library;
let episodes: Episode[];

beforeAll(async () => {
  const open = (name: string) => createReadStream(resolve(FIXTURES, name));
  library = await readLibrary(open("sources.jsonl.gz"), { file: "sources.jsonl.gz" });
  episodes = await readEpisodes(open("episodes.jsonl.gz"), { file: "episodes.jsonl.gz" });
});

/** Ids of any text, line feeds too. */
const codec = {
  ...toyCodec,
  encode: (text: string) => Array.from(text, (character) => character.codePointAt(0)!),
  decode: (ids: readonly number[]) => ids.map((id) => String.fromCodePoint(id)).join(""),
};
const contexts = (limit?: number) =>
  libraryContexts({
    codec,
    limit,
    sources: async (environment, task) =>
      library.tasks.find((entry) => entry.environment === environment && entry.task === task)?.sources ?? [],
  });

describe("teacher contexts from a library", () => {
  const prompt = [...codec.encode("<user>what now?"), 0, ...codec.encode("\nassistant:")];

  it("vanilla stages read the student's own prompt", async () => {
    const at = await contexts()(episodes[0]!, { kind: "none" });
    expect(at(0, prompt, 1).promptIds).toEqual(prompt);
  });

  it("graph-conditioned stages read the evidence before the end of the user message", async () => {
    const episode = episodes.find((entry) => entry.decisions.length > 3)!;
    const at = await contexts(1e9)(episode, GRAPH);
    const { promptIds } = at(2, prompt, 1);
    const text = codec.decode(promptIds);
    expect(text.startsWith("<user>what now?\n")).toBe(true);
    expect(text.endsWith("\n\u0000\nassistant:")).toBe(true);
    expect(text).toContain("STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION");
    expect(text).toContain("[CURRENT SCORED DECISION]");
  });

  it("tells which references are there, as the control retains them", async () => {
    const count = async (
      control: "graph" | "hindsight-only" | "success-only" | "minimum-prefix",
      options: SourceSelection = {},
    ) => {
      let success = 0;
      let failure = 0;
      for (const episode of episodes.slice(0, 30)) {
        const at = await contexts(1e9)(episode, { kind: "graph-conditioned", control, ...options });
        for (const [t] of episode.decisions.entries()) {
          const context = at(t, prompt, 1);
          success += context.successReference ? 1 : 0;
          failure += context.failureReference ? 1 : 0;
        }
      }
      return { success, failure };
    };
    const graph = await count("graph");
    expect(graph.success).toBeGreaterThan(0);
    expect(graph.failure).toBeGreaterThan(0);
    expect(await count("success-only")).toEqual({ ...graph, failure: 0 });
    expect(await count("hindsight-only")).toEqual({ success: 0, failure: 0 });
    expect(await count("minimum-prefix")).not.toEqual(graph);
    expect((await count("graph", { sourcesPerTask: 1, augmentation: false })).success).toBeLessThan(
      graph.success,
    );
  });

  it("tells trusted references from unverified claims and unknown outcomes", async () => {
    const lost = student("X-", false);
    const of = async (...sources: Source[]) => {
      const read = libraryContexts({ codec, limit: 1e9, sources: async () => sources });
      const { successReference, failureReference } = (await read(lost, GRAPH))(0, prompt, 1);
      return [successReference, failureReference];
    };
    const raw = (id: string, outcome: Partial<Source["outcome"]>) =>
      source(id, "ABC", { outcome: { verified: false, ...outcome } });
    expect(await of(source("won", "AB"), failed("lost", "AC"))).toEqual(["trusted", "trusted"]);
    expect(await of(raw("claimed", {}), raw("lost", { success: false }))).toEqual([
      "unverified",
      "unverified",
    ]);
    const unknown = raw("unknown", { success: false, outcome_unknown: true });
    expect(await of(unknown)).toEqual([null, "unknown outcome"]);
  });

  it("keeps apart what one library is under two selections", async () => {
    const both = contexts(1e9);
    const episode = episodes.find((entry) => entry.episode === "melt|12|easy#1")!;
    const at = async (options: SourceSelection) => {
      const context = await both(episode, { ...GRAPH, ...options });
      return episode.decisions.map((_, t) => context(t, prompt, 1));
    };
    const all = await at({});
    expect(await at({ sourcesPerTask: 1, augmentation: false })).not.toEqual(all);
    expect(await at({})).toEqual(all);
  });

  it("refuses evidence that does not fit, whole prompt counted", async () => {
    const at = await contexts(prompt.length + 10)(episodes[0]!, GRAPH);
    expect(() => at(0, prompt, 1)).toThrow(/does not fit: .* limit \d+; evidence is never cut/);
  });

  it("refuses a context that does not fit together with the response", async () => {
    const read = (await contexts(1e9)(episodes[0]!, GRAPH))(0, prompt, 1).promptIds.length;
    // ScienceWorld's teacher reads 40,513 tokens: 40,000 of prompt and evidence, 512 of the response, and one.
    const at = await contexts(read)(episodes[0]!, GRAPH);
    expect(at(0, prompt, 512).promptIds).toHaveLength(read);
    expect(() => at(0, prompt, 513)).toThrow(
      `the teacher's context of decision 0 of episode ${episodes[0]!.episode} does not fit: ${read} tokens of prompt and ` +
        `evidence, 513 of the response and 1 after it, limit ${read + 513}; nothing is cut`,
    );
    const vanilla = await contexts(read)(episodes[0]!, { kind: "none" });
    expect(vanilla(0, prompt, 513).promptIds).toEqual(prompt);
  });
});
