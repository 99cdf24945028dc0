import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  at,
  CPU,
  episodes,
  freshFolder,
  lines,
  MODEL,
  refused,
  sources,
  TOKENIZER,
} from "../../../test/support/bad-input.ts";
import { runCli } from "../../../test/support/cli.ts";
import { libraryContexts } from "../../core/loop/index.ts";
import {
  episodeSchema,
  scoreInputSchema,
  scoreOutputSchema,
  sourceSchema,
} from "../../core/record/schema.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { openTokenizer, textCodec } from "../../text/index.ts";

freshFolder();

const episode = episodeSchema.parse(episodes[1]);
const library = sources.map((source) => sourceSchema.parse(source));
const DECISION = 1;
const evidence = (...more: string[]) => [
  ...["evidence", "--library", at("sources.jsonl"), "--episodes", at("episodes.jsonl"), ...more],
];
const one = ["--episode", episode.episode, "--decision", String(DECISION)];
/** The log-probabilities of the two contexts. */
async function scores() {
  const files = ["--in", at("requests.jsonl"), "--out", at("scores.jsonl")];
  const { code, err } = await runCli("score", "--model", MODEL, ...files, ...CPU);
  expect(code, err).toBe(0);
  return written(scoreOutputSchema, "scores.jsonl");
}
/** The two contexts of a decision, or their scores. */
function written<T>(schema: z.ZodType<T>, name: string): [T, T] {
  const text = readFileSync(at(name), "utf8").trimEnd().split("\n");
  return z.tuple([schema, schema]).parse(text.map((line): unknown => JSON.parse(line)));
}

it("writes the contexts that training reads, and gcopd score takes them", async () => {
  const codec = textCodec(await openTokenizer(openFolder(TOKENIZER)));
  const decision = episode.decisions[DECISION]!;
  const place = { episode: episode.episode, decision: DECISION };
  const { ids: vanilla } = codec.prompt(decision, episode.environment, place);
  const contextsOf = libraryContexts({
    sources: async (_, task) => library.filter((source) => source.task === task),
    codec,
  });
  const contexts = await contextsOf(episode, { kind: "graph-conditioned", control: "graph" });
  const { promptIds } = contexts(DECISION, vanilla, 1);
  expect(promptIds.length).toBeGreaterThan(vanilla.length);

  const { code, err } = await runCli(
    ...evidence(...one, "--tokenizer", TOKENIZER, "--requests", at("requests.jsonl")),
  );
  expect(code, err).toBe(0);
  const response_ids = codec.responseIds(decision, episode.environment, place);
  expect(written(scoreInputSchema, "requests.jsonl")).toEqual([
    { id: `${episode.episode}/${DECISION}/vanilla`, prompt_ids: vanilla, response_ids },
    { id: `${episode.episode}/${DECISION}/evidence`, prompt_ids: promptIds, response_ids },
  ]);
  const [without, withEvidence] = await scores();
  expect(without.logprobs).toHaveLength(response_ids.length);
  expect(withEvidence.logprobs).not.toEqual(without.logprobs);
});

it("leaves the end-of-turn token of a text response out on request", async () => {
  const to = ["--tokenizer", TOKENIZER, "--requests", at("requests.jsonl")];
  const responses = async (...more: string[]) => {
    const { code, err } = await runCli(...evidence(...one, ...to, ...more));
    expect(code, err).toBe(0);
    return written(scoreInputSchema, "requests.jsonl").map(({ response_ids }) => response_ids);
  };
  const codec = textCodec(await openTokenizer(openFolder(TOKENIZER)));
  const text = codec.encode(episode.decisions[DECISION]!.response!);
  expect(await responses()).toEqual([
    [...text, codec.endOfTurnId],
    [...text, codec.endOfTurnId],
  ]);
  const sums = async () =>
    (await scores()).map(({ logprobs }) => logprobs.reduce((sum, each) => sum + each, 0));
  const given = await sums();
  expect(await responses("--no-end-of-turn")).toEqual([text, text]);
  // As an earlier version wrote and scored them.
  const earlier = await sums();
  const figures = [
    { given: -182.9106, before: -173.5136 },
    { given: -173.8531, before: -163.2537 },
  ];
  for (const [n, expected] of figures.entries()) {
    expect(given[n]).toBeCloseTo(expected.given, 3);
    expect(earlier[n]).toBeCloseTo(expected.before, 3);
  }
  expect(await refused(evidence(...one, "--no-end-of-turn"), 2)).toContain(
    "--no-end-of-turn is about the responses of --requests",
  );
});

it("takes an edited evidence from a what-if record; without any text both prompts are the same", async () => {
  const { out } = await runCli(...evidence(...one, "--json"));
  const record: unknown = JSON.parse(out);
  const { retrieval } = z.object({ retrieval: z.looseObject({}) }).parse(record);
  const requests = async (evidence_text: string) => {
    writeFileSync(at("what-if.jsonl"), lines([{ ...retrieval, what_if: { evidence_text } }]));
    const options = ["--what-if", at("what-if.jsonl"), "--tokenizer", TOKENIZER];
    const { code, err } = await runCli(...evidence(...options, "--requests", at("requests.jsonl")));
    expect(code, err).toBe(0);
    return written(scoreInputSchema, "requests.jsonl");
  };
  const codec = textCodec(await openTokenizer(openFolder(TOKENIZER)));
  const [vanilla, edited] = await requests("Look first.");
  const added = codec.encode("\nLook first.\n");
  const end = vanilla.prompt_ids.lastIndexOf(codec.endOfTurnId);
  expect(edited.prompt_ids).toEqual(vanilla.prompt_ids.toSpliced(end, 0, ...added));
  const [, none] = await requests("");
  expect(none.prompt_ids).toEqual(vanilla.prompt_ids);
});

it("needs a tokenizer, a file of its own, and a recorded response", async () => {
  const to = ["--requests", at("requests.jsonl")];
  expect(await refused(evidence(...one, ...to), 2)).toContain("they need --tokenizer");
  expect(await refused(evidence(...one, "--tokenizer", TOKENIZER, "--requests", "-"), 2)).toContain(
    "name a file with --requests",
  );
  const decisions = episode.decisions.map(({ response: _, response_ids: __, ...rest }) => rest);
  writeFileSync(at("episodes.jsonl"), lines([{ ...episode, decisions }]));
  expect(await refused(evidence(...one, "--tokenizer", TOKENIZER, ...to))).toContain(
    `decisions[${DECISION}].response: missing; expected \`response\` or \`response_ids\``,
  );
});
