/** Evaluation during training over real files: killed anywhere, checkpoints that are kept, and the whole command. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { corridor } from "../../../test/support/corridor.ts";
import { ratedEvaluation } from "../../../test/support/rated-evaluation.ts";
import { ToyPlayer } from "../../../test/support/toy-player.ts";
import { options, ROLLOUT, TASKS } from "../../../test/support/toy-training.ts";
import {
  eachInItsFolder,
  figures,
  inFolder,
  lines,
  train as runTrain,
  weights,
  writeConfig,
} from "../../../test/support/train-runs.ts";
import { freshData, liveEvaluation, train } from "../../core/loop/index.ts";
import { DiskCheckpoints } from "./checkpoints.ts";
import { EventLog } from "./event-log.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-evaluation-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
eachInItsFolder();

/** Runs until its student is asked for the `dies`-th time, as far as it gets; what its events and student are then. */
async function runToy(out: string, dies = Number.POSITIVE_INFINITY) {
  let asked = 0;
  class Mortal extends ToyPlayer {
    override async sample(...given: Parameters<ToyPlayer["sample"]>) {
      asked += 1;
      if (asked === dies) throw new Error("killed");
      return super.sample(...given);
    }
  }
  mkdirSync(join(folder, out), { recursive: true });
  const log = new EventLog(join(folder, out, "events.jsonl"), join(folder, out, "metrics.jsonl"));
  try {
    const { student } = await train(
      options({
        data: freshData(TASKS, ROLLOUT),
        evaluation: liveEvaluation(
          ["a", "b"].map((task) => ({
            environment: "alfworld",
            task,
            maxDecisions: 3,
            open: async () => corridor(),
          })),
          { every: 3, seeds: [0, 1], atOnce: 3, digest: "" },
        ),
        openStudent: async (checkpoint) => {
          const { steps, logits, momentum } = await ToyPlayer.openPlayer(checkpoint);
          const mortal = new Mortal(2);
          mortal.steps = steps;
          mortal.logits.set(logits);
          mortal.momentum.set(momentum);
          return mortal;
        },
        checkpoints: new DiskCheckpoints(join(folder, out, "checkpoints"), 1),
        checkpointEvery: 2,
        onEvent: (event) => log.write(event),
      }),
    );
    return { student, asked };
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "killed") throw error;
    return null;
  } finally {
    log.close();
  }
}

const told = (out: string) =>
  readFileSync(join(folder, out, "events.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ type }) => type === "evaluated" || type === "updated")
    .map(({ time: _, seconds: __, updateSeconds: ___, tokensPerSecond: ____, ...event }) => event);

it("killed anywhere, also inside an evaluation, ends with the same events, weights and checkpoints", async () => {
  const whole = await runToy("whole");
  const expected = told("whole");
  expect(expected.map(({ type, step }) => `${type} ${step}`)).toEqual([
    "evaluated 0",
    ...["updated 1", "updated 2", "updated 3", "evaluated 3"],
    ...["updated 4", "updated 5", "updated 6", "evaluated 6"],
  ]);
  for (let dies = 1; dies <= whole!.asked; dies += 1) {
    const out = `killed-${dies}`;
    expect(await runToy(out, dies), out).toBeNull();
    const again = await runToy(out);
    expect(again!.student, out).toMatchObject({ ...whole!.student });
    expect(told(out), out).toEqual(expected);
    expect(readdirSync(join(folder, out, "checkpoints")), out).toEqual(
      readdirSync(join(folder, "whole", "checkpoints")),
    );
  }
});

it("keeps the best checkpoint beside the newest ones", async () => {
  const store = new DiskCheckpoints(join(folder, "best"), 2);
  const rates = [undefined, 20, 50, undefined, 40, 50];
  for (const [n, sr] of rates.entries()) {
    await store.save(
      {
        format: "gcopd.checkpoint.v1",
        step: n + 1,
        position: { stage: 0, epoch: 0, batch: n },
        fingerprint: {},
        ...(sr === undefined ? {} : { evaluation: ratedEvaluation(sr) }),
      },
      (writer) => new ToyPlayer(1).save(writer),
    );
  }
  const names = readdirSync(join(folder, "best"));
  // After steps 3 and 6 the rate is the same: the first is the best.
  expect(names.sort()).toEqual(["step-00000003", "step-00000005", "step-00000006"]);
  expect((await store.latest())?.state).toMatchObject({ step: 6, evaluation: { sr: { mean: 50 } } });
});

const environment = { name: "alfworld", made: { count: 3, seed: 0 }, max_decisions: 2, max_tokens: 6 };

it("the command measures as `gcopd evaluate` does, and trains to the same numbers as without", async () => {
  expect(await runTrain(writeConfig(), "plain")).toMatchObject({ code: 0 });
  const evaluate = { every: 2, environment, seeds: [0, 1] };
  const measured = await runTrain(writeConfig({ evaluate }), "measured");
  expect(measured).toMatchObject({ code: 0 });
  expect(weights("measured")).toBe(weights("plain"));
  expect(figures("measured")).toEqual(figures("plain"));
  const evaluated = lines("measured", "events.jsonl").filter(({ type }) => type === "evaluated");
  expect(evaluated.map(({ step }) => step)).toEqual([0, 2, 4]);
  expect(measured.err).toContain(
    "evaluation after step 2: success rate 0.0 ± 0.0 % (no interval: every task gave the same result), rounds 2.0 ± 0.0; 3 tasks × 2 seeds in ",
  );
  const config = { environment, seeds: [0, 1], model: inFolder("measured", "student"), device: "cpu" };
  writeFileSync(inFolder("evaluate.json"), JSON.stringify(config));
  const alone = await runCli("evaluate", "--config", inFolder("evaluate.json"), "--out", inFolder("alone"));
  expect(alone).toMatchObject({ code: 0 });
  const { time: _, type: __, step: ___, seconds: ____, ...told } = evaluated.at(-1)!;
  expect(JSON.parse(readFileSync(inFolder("alone", "results.json"), "utf8"))).toEqual(told);
});

it.each<[object, string]>([
  [{ every: 2 }, "evaluate.environment: missing: name the environment that the student is measured in"],
  [{ every: 0, environment }, "evaluate.every: expected at least 1, received 0"],
  [{ every: 2, environment, tasks: ["nowhere"] }, 'evaluate.tasks: no game is named "nowhere"'],
  [
    { every: 2, environment: { ...environment, tasks: ["nowhere"] } },
    'evaluate.environment.tasks: no game is named "nowhere"',
  ],
])("refuses %j by its key", async (evaluate, message) => {
  const { code, err } = await runTrain(writeConfig({ evaluate }), "refused");
  expect(code).toBe(1);
  expect(err).toContain(message);
  expect(existsSync(inFolder("refused"))).toBe(false);
});

it("takes the tasks to measure on from a file, which names those that are not there", async () => {
  writeFileSync(inFolder("tasks.txt"), "nowhere\n");
  const evaluate = { every: 2, environment, tasks: "tasks.txt" };
  const { code, err } = await runTrain(writeConfig({ evaluate }), "refused");
  expect(code).toBe(1);
  expect(err).toContain('tasks.txt, line 1: no game is named "nowhere"; the first of 3 is ');
  expect(existsSync(inFolder("refused"))).toBe(false);
});
