/** What must hold of a real vLLM or SGLang that serves the fixture model `qwen3-a` in f32, for all its ways to be used. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { main } from "../../src/cli/main.ts";
import type { ScoreRequest } from "../../src/core/ports.ts";
import { ModelScorer } from "../../src/engine/native/index.ts";
import { createNodeBackend } from "../../src/engine/native/node.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import {
  calibration,
  findServer,
  RemoteSampler,
  RemoteScorer,
  Server,
} from "../../src/engine/remote/index.ts";
import { openTokenizer, textCodec } from "../../src/text/index.ts";
import { MOST_TOKENS } from "./real-engine.ts";
import { tinyRecords } from "./tiny-records.ts";

const fixture = (name: string): string => resolve("test/fixtures/models", name);

/** A folder with a fixture model and its tokenizer, as a server opens one. */
export function servedFolder(root: string, model = "qwen3-a"): string {
  const folder = join(root, model);
  cpSync(fixture(model), folder, { recursive: true });
  for (const file of ["tokenizer.json", "tokenizer_config.json"])
    cpSync(join(fixture("tokenizer"), file), join(folder, file));
  return folder;
}

/** Prompts and responses of these lengths, of ids with no meaning. */
const REQUESTS: ScoreRequest[] = (
  [
    [1, 2],
    [2, 1],
    [17, 9],
    [64, 4],
    [300, 80],
    [900, 40],
  ] as const
).map(([prompt, response], n) => {
  const ids = Array.from({ length: prompt + response }, (_, i) => (37 + 911 * n + 131 * i * (i + 3)) % 1850);
  return { id: `${prompt}+${response}`, promptIds: ids.slice(0, prompt), responseIds: ids.slice(prompt) };
});

/**
 * Checks it, and prints what was measured.
 *
 * @param folder of the model that it serves
 * @param logprobsAt temperatures at which its own draws have log-probabilities
 * @returns checks that failed
 */
export async function engineConformance(
  url: string,
  { folder, root, logprobsAt }: { folder: string; root: string; logprobsAt: readonly number[] },
): Promise<number> {
  const server = new Server(url);
  const found = await findServer(server);
  const backend = await createNodeBackend("cpu", { compute: "f32", onNote: () => undefined });
  const own = await ModelScorer.open(backend, openFolder(folder));
  const tokenizer = await openTokenizer(openFolder(folder));
  const codec = textCodec(tokenizer);
  const trust = { sameTokenizer: true, calibration: null };
  const served = new RemoteScorer(server, found, { vocabulary: own.info.vocabulary, trust });
  const difference = async (requests: readonly ScoreRequest[]) =>
    calibration(await served.score(requests), await own.score(requests), "ours");
  let failed = 0;
  const holds = async (what: string, check: () => Promise<string>): Promise<void> => {
    try {
      console.log(`ok      ${found.kind}: ${what}: ${await check()}`);
    } catch (error) {
      failed += 1;
      console.log(
        `FAILED  ${found.kind}: ${what}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  try {
    for (const round of ["first", "from its cache, where it has one"])
      await holds(`log-probabilities of ${REQUESTS.length} responses, ${round}`, async () => {
        const { largest, tokens } = await difference(REQUESTS);
        assert.ok(largest < 1e-4, `largest difference ${largest}`);
        return `largest difference ${largest.toExponential(1)} nats over ${tokens} tokens`;
      });

    for (const temperature of [1, 0.6])
      await holds(`draws at temperature ${temperature}`, async () => {
        const [result] = await new RemoteSampler(server, found.protocol(codec)).sample([
          {
            id: "a",
            promptIds: REQUESTS[2]!.promptIds,
            maxTokens: 24,
            temperature,
            seed: 7,
            stopIds: [codec.endOfTurnId],
            // The model's rows beyond the tokenizer's are drawn, too: its weights are random.
            drawable: [[0, own.info.vocabulary]],
          },
        ]);
        const { responseIds, logprobs } = result!;
        if (!logprobsAt.includes(temperature)) {
          assert.ok(logprobs.every(Number.isNaN));
          return `${responseIds.length} tokens without log-probabilities`;
        }
        const [again] = await own.score([{ id: "a", promptIds: REQUESTS[2]!.promptIds, responseIds }]);
        const { largest } = calibration([{ logprobs }], [again!], "ours");
        assert.ok(largest < 1e-4, `largest difference ${largest}`);
        return `${responseIds.length} tokens, largest difference ${largest.toExponential(1)} nats`;
      });

    await holds("a sequence that is too long is one error with what the server says", async () => {
      const promptIds = Array.from({ length: MOST_TOKENS + 50 }, () => 5);
      const scoring = served.score([{ id: "long", promptIds, responseIds: [6] }]);
      const error = await scoring.then(
        () => assert.fail("it was scored"),
        (thrown: unknown) => String(thrown),
      );
      assert.match(error, /status 400: .*\d{4}/);
      return error.slice(0, 200);
    });

    await holds("two steps with it as the teacher equal those with its model here", async () => {
      const { sources, episodes } = tinyRecords();
      const records = { "sources.jsonl": sources, "episodes.jsonl": episodes };
      for (const [name, each] of Object.entries(records))
        writeFileSync(join(root, name), each.map((record) => `${JSON.stringify(record)}\n`).join(""));
      const train = async (out: string, teacher: object): Promise<Record<string, number>[]> => {
        mkdirSync(join(root, out), { recursive: true });
        const config = join(root, `${out}.json`);
        writeFileSync(
          config,
          JSON.stringify({
            ...{ library: "sources.jsonl", episodes: "episodes.jsonl", student: fixture("qwen3-b") },
            ...{ tokenizer: fixture("tokenizer"), batch_size: 4, epochs: [1, 1], device: "cpu" },
            settings: { learning_rate: 1e-4 },
            ...teacher,
          }),
        );
        const code = await main(["train", "--config", config, "--out", join(root, out)]);
        assert.equal(code, 0);
        const lines = readFileSync(join(root, out, "metrics.jsonl"), "utf8")
          .trimEnd()
          .split("\n");
        return lines.map((line) => JSON.parse(line) as Record<string, number>);
      };
      const here = await train("here", { teacher: folder });
      const there = await train("there", { teacher: url, calibrate_with: folder });
      assert.equal(here.length, 2);
      let worst = 0;
      for (const [n, metrics] of here.entries())
        for (const key of ["loss", "gradNorm", "meanAdvantage"])
          worst = Math.max(worst, Math.abs(there[n]![key]! / metrics[key]! - 1));
      assert.ok(worst < 1e-4, `a figure differs by ${worst}`);
      return `loss, gradient norm and mean advantage within ${worst.toExponential(1)} of each`;
    });
    return failed;
  } finally {
    own.dispose();
    backend.dispose();
  }
}
