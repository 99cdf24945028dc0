import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  checkExperiment,
  experimentConfigSchema,
  experimentGrid,
  methodEntrySchema,
  namedTasks,
  taskOrigin,
} from "../../core/loop/index.ts";
import { readConfigFile } from "../config-file.ts";

const folder = resolve(import.meta.dirname, "../../../configs/paper");
const readme = readFileSync(join(folder, "README.md"), "utf8");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));

it("there is one row per config", () => {
  const rows = [...readme.matchAll(/^\| `([\w.-]+\.json)` \|/gm)].map(([, name]) => name);
  expect([...rows].sort()).toEqual([...files].sort());
  expect(files.length).toBeGreaterThanOrEqual(7);
});

describe.each(files)("%s", (name) => {
  const path = join(folder, name);
  const read = async () => {
    const config = await readConfigFile(experimentConfigSchema, path);
    checkExperiment(config);
    const methods = config.methods!.map((method) =>
      methodEntrySchema.parse(typeof method === "string" ? { id: method } : method),
    );
    return { ...config, methods };
  };

  it("is a sound comparison at the paper's settings: two epochs of the training tasks, batches of 32", async () => {
    const config = await read();
    const { epochs, runs, evaluations } = experimentGrid(config, (part) => `out/${part}`);
    expect(epochs).toBe(2);
    for (const { config: run } of runs) {
      expect(run).toMatchObject({ batch_size: 32, settings: { learning_rate: 1e-5, clip: 0.2 } });
      // The list is read with the config; here it is the user's.
      expect(typeof run.environment?.tasks === "string" || namedTasks(run.environment!) === undefined).toBe(
        true,
      );
    }
    for (const { of } of evaluations) {
      expect(of("student").seeds).toEqual([0, 1, 2, 3]);
      taskOrigin(of("student").environment);
    }
    const { repetitions, planner } = config.collect;
    expect({ repetitions, planner }).toEqual({ repetitions: 16, planner: true });
  });

  it("is told in the table: its rows, and every path that it names", async () => {
    const config = await read();
    const { student, environment, evaluations = {} } = config;
    const { methods } = experimentGrid(config, (part) => part);
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${name}\``))!;
    const rows = methods.filter(({ id }) => !/^gc-opd-k\d+$/.test(id));
    if (!name.includes("from-") && !name.includes("-8b."))
      for (const { label } of rows) expect(row).toContain(label);
    const places = [environment, ...Object.values(evaluations).map((each) => each.environment!)];
    const named = places.flatMap(({ games, simulator, tasks, server }) => [games, simulator, tasks, server]);
    for (const each of [student, ...named])
      if (typeof each === "string") expect(readme, each).toContain(`\`${each}\``);
  });
});

it("the schema that the configs name is there", () => {
  for (const name of files) {
    const { $schema } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { $schema: string };
    expect(existsSync(join(folder, $schema)), name).toBe(true);
  }
});
