/** The page, the loop, the evidence test and the command line make the contexts of one recorded decision. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { runCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { loadFixture, tokenizerFiles } from "../../../test/support/tokenizers.ts";
import { LibraryService } from "../../app/data/worker/library-service.ts";
import { textCodec } from "../../text/index.ts";
import { scoreInputSchema } from "../record/schema.ts";
import { batchRows } from "./rows.ts";
import { libraryContexts } from "./teacher-contexts.ts";

const FIXTURES = resolve(import.meta.dirname, "../../../test/fixtures/scienceworld");
const FILES = { sources: join(FIXTURES, "sources.jsonl.gz"), episodes: join(FIXTURES, "episodes.jsonl.gz") };
const ID = "melt|12|easy#3";
const folder = mkdtempSync(join(tmpdir(), "gcopd-contexts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sources = byTask(fixtureSources());
const episode = fixtureEpisodes().find((each) => each.episode === ID)!;

async function open(name: Name) {
  const service = new LibraryService();
  const input = (path: string) => ({
    kind: "blob" as const,
    name: path,
    blob: new Blob([readFileSync(path)]),
  });
  const about = { title: "own", origin: "own", link: null } as const;
  const { id } = await service.open([input(FILES.sources), input(FILES.episodes)], [], about, () => {});
  const texts = tokenizerFiles(name);
  service.tasks.setTokenizers({ teacher: texts, student: texts });
  return { service, ref: { library: id, environment: episode.environment, task: episode.task } };
}

async function page(name: Name, decision: number, control: Control) {
  const { service, ref } = await open(name);
  const { vanillaIds, graphIds, responseIds } = await service.tasks.pair(ref, ID, decision, { control });
  return { vanillaIds, graphIds, responseIds };
}

async function loop(name: Name, decision: number, control: Control) {
  const codec = textCodec(loadFixture(name));
  const contexts = libraryContexts({ sources: async (_, task) => sources.get(task)!, codec });
  const at = await contexts(episode, { kind: "graph-conditioned", control });
  const { promptIds, responseIds } = batchRows([episode], codec)[decision]!;
  return {
    vanillaIds: promptIds,
    graphIds: at(decision, promptIds, responseIds.length).promptIds,
    responseIds,
  };
}

/** What the evidence test asks of a teacher, as the page makes it: its contexts without the response's own tokens. */
async function evidenceTest(name: Name, decision: number, control: Control) {
  const { service, ref } = await open(name);
  const asked = { ...ref, episode: ID, decision, optimal: ["look around"] };
  const found = await service.tasks.gateCase(asked, {}, ["none", control]);
  const perContext = found.actions.length;
  const ids = (context: number) => {
    const { promptTokens, read } = found.contexts[context]!;
    return found.requests[read * perContext]!.promptIds.slice(0, promptTokens);
  };
  return { vanillaIds: ids(0), graphIds: ids(1) };
}

async function commandLine(name: Name, decision: number, control: Control) {
  const requests = join(folder, "requests.jsonl");
  const { code, err } = await runCli(
    ...["evidence", "--library", FILES.sources, "--episodes", FILES.episodes, "--control", control],
    ...["--episode", ID, "--decision", String(decision)],
    ...["--tokenizer", modelFixture(name), "--requests", requests],
  );
  expect(code, err).toBe(0);
  const lines = readFileSync(requests, "utf8").trimEnd().split("\n");
  const [vanilla, graph] = z
    .tuple([scoreInputSchema, scoreInputSchema])
    .parse(lines.map((x) => JSON.parse(x)));
  expect(graph.response_ids).toEqual(vanilla.response_ids);
  return {
    vanillaIds: vanilla.prompt_ids,
    graphIds: graph.prompt_ids,
    responseIds: vanilla.response_ids,
  };
}

const CASES = [
  ["tokenizer", 2, "graph"],
  ["tokenizer", 0, "hindsight-only"],
  ["tokenizer-qwen3_5", 2, "success-only"],
] as const;
type Name = (typeof CASES)[number][0];
type Control = (typeof CASES)[number][2];

it.each(CASES)("are the same ids: %s, decision %i, %s", async (...of) => {
  const read = await loop(...of);
  expect(read.graphIds.length).toBeGreaterThan(read.vanillaIds.length);
  expect(await page(...of)).toEqual(read);
  expect(await commandLine(...of)).toEqual(read);
  const { vanillaIds, graphIds } = read;
  expect(await evidenceTest(...of)).toEqual({ vanillaIds, graphIds });
});
