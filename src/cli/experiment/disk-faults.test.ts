/** The parts of an experiment, with each file operation going wrong once: none is done twice, lost or left running. */
import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { diskFaults, FAULTS } from "../../../test/support/disk-faults.ts";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { gridConfig } from "../../../test/support/grid.ts";
import { ToyModel } from "../../../test/support/toy-model.ts";
import { InputError } from "../../core/errors.ts";
import { evaluationResults } from "../../core/evaluation/index.ts";
import { CHECKPOINT_FORMAT } from "../../core/loop/checkpoint.ts";
import { experimentConfigSchema, experimentGrid, type GridConfig } from "../../core/loop/index.ts";
import { DiskCheckpoints } from "../train/checkpoints.ts";
import { GridParts } from "./grid-parts.ts";
import { carriedOut } from "./part.ts";
import { begunRuns, claim } from "./part-config.ts";
import { sideBySide } from "./side-by-side.ts";

/** Stands for the processes of an experiment's parts: each ends a moment later, with what it writes last in its folder. */
const processes = vi.hoisted(() => ({ started: [] as string[], running: 0, finish: (_name: string) => {} }));
vi.mock("./part-process.ts", async () => {
  const { setImmediate } = await import("node:timers/promises");
  return {
    startPart({ name }: { name: string }) {
      processes.started.push(name);
      processes.running += 1;
      const ended = (async () => {
        for (let moment = 0; moment < 20; moment += 1) await setImmediate();
        processes.finish(name);
        processes.running -= 1;
        return { kind: "done" };
      })();
      return { ended, stop: () => undefined };
    },
  };
});

const { files, folder, orLine } = await diskFaults("gcopd-experiment-faults-");
const { at, write, begin, contents, textOf, inside } = folder;

describe("an experiment", () => {
  const grid = (...methods: string[]) => {
    const inside = (name: string) => at("out", name);
    const given = experimentConfigSchema.parse(
      gridConfig({
        methods: ["opd"],
        ...{ seeds: [1], library: "/library" },
        // With more methods, those that have begun would choose the best among others.
        checkpoints: methods.length > 0 ? ["final"] : ["final", "best"],
      }),
    );
    const entries: GridConfig["methods"] = ["opd", ...methods].map((id) => ({ id }));
    return new GridParts(
      experimentGrid({ ...given, methods: entries }, inside, begunRuns(inside)),
      given.student,
      inside,
    );
  };
  it.each(FAULTS)("adds a method to one that has begun, through every %s", async (fault) => {
    begin();
    await grid().claimKnown();
    const before = contents("out")!;
    await grid("gc-opd").claimKnown();
    const whole = contents("out")!;
    expect(Object.keys(whole)).toContain("/parents/vanilla-seed-1.json");
    expect(whole["/cells/opd-seed-1.json"]).toBe(before["/cells/opd-seed-1.json"]);
    await files.each(
      fault,
      () =>
        begin(() => {
          for (const [name, content] of Object.entries(before)) write(`out${name}`, content);
        }),
      async () => {
        await orLine(() => grid("gc-opd").claimKnown());
        await grid("gc-opd").claimKnown();
        expect(contents("out")).toEqual(whole);
      },
    );
  });

  /** The success rates of the students after three steps: the second is the best. */
  const RATES = [0, 2, 1];
  const evaluated = (step: number) => {
    const outcome = { task: "a", type: null, score: null, decisions: 1 };
    const episodes = [0, 1].map((seed) => ({ ...outcome, seed, success: seed < RATES[step - 1]! }));
    return { ...evaluationResults(episodes), seconds: 1 };
  };
  const checkpoints = (keep: number) => new DiskCheckpoints(at("out/cells/opd-seed-1/checkpoints"), keep);
  const save = (step: number, keep: number) =>
    checkpoints(keep).save(
      {
        ...{
          format: CHECKPOINT_FORMAT,
          step,
          position: { stage: 0, epoch: 0, batch: step },
          fingerprint: {},
        },
        evaluation: evaluated(step),
      },
      (writer) => new ToyModel(step).save(writer),
    );

  it.each(FAULTS)("does no part twice and none of another config, through every %s", async (fault) => {
    const parts = ["student/config.json", "results.json", "sources.jsonl"];
    const commands = ["train", "evaluate", "collect"] as const;
    await files.each(
      fault,
      () =>
        begin(() => {
          for (const [n, name] of parts.entries()) write(`out/${commands[n]}/${name}`);
        }),
      async () => {
        for (const command of commands) {
          const done = await orLine(() => grid().isDone({ name: command, command }));
          expect([true, null]).toContain(done);
        }
        expect(grid().isDone({ name: "none", command: "train" })).toBe(false);
      },
    );
    const file = () => textOf("out/part.json");
    await files.each(
      fault,
      () => begin(() => write("out/part.json", '{"seed":1,"device":"cpu"}')),
      async () => {
        const other = () => claim(at("out"), [{ name: "part", config: { seed: 2 } }]);
        await expect(other()).rejects.toThrow(InputError);
        files.disarm();
        expect(file()).toBe('{"seed":1,"device":"cpu"}');
        await expect(other()).rejects.toThrow("this part began with another config");
      },
    );
    await files.each(
      fault,
      () => begin(),
      async () => {
        await orLine(() => grid().claimKnown());
        await grid().claimKnown();
        const [training] = grid().grid.runs;
        expect(JSON.parse(textOf("out/cells/opd-seed-1.json")!)).toEqual(training!.config);
      },
    );
  });

  it.each(FAULTS)(
    "leaves no part running and does none twice, side by side, through every %s",
    async (fault) => {
      processes.finish = (name) =>
        files.aside(() =>
          write(`out/${name}/${name.startsWith("evaluations") ? "results.json" : "student/config.json"}`),
        );
      const begun = () =>
        begin(() => {
          processes.started = [];
        });
      const go = () => sideBySide(grid(), { atOnce: 2 });
      begun();
      await go();
      const whole = [...processes.started].sort();
      expect(whole).toHaveLength(3);
      await files.each(fault, begun, async () => {
        await orLine(go);
        expect(processes.running).toBe(0);
        await go();
        expect([...processes.started].sort()).toEqual(whole);
      });
    },
  );

  it.each(FAULTS)(
    "measures the best student, not the best that it can read, through every %s",
    async (fault) => {
      begin();
      for (const step of [1, 2, 3]) await save(step, 3);
      const run = grid().grid.runs[0]!;
      const labels = async () =>
        (await grid().students(run)).map(({ label, checkpoint }) => [label, inside(checkpoint)?.slice(-8)]);
      const right = [
        ["final", "00000003"],
        ["best", "00000002"],
      ];
      expect(await labels()).toEqual(right);
      const met = await files.each(
        fault,
        () => folder.path,
        async () => {
          expect([right, null]).toContainEqual(await orLine(labels));
          if (fault === "short") expect(await labels()).toEqual(right);
        },
      );
      expect(met.length).toBeGreaterThan(fault === "short" || fault === "ENOSPC" ? -1 : 2);
    },
  );

  it.each(FAULTS)("finds the runs that the config no longer names, through every %s", async (fault) => {
    const fill = () => {
      for (const run of ["opd-seed-1", "opd-seed-2", "sft-seed-1"]) write(`out/cells/${run}/run.json`);
      write("out/cells/opd-seed-3.json");
    };
    const others = ["cells/opd-seed-2", "cells/sft-seed-1"];
    await files.each(
      fault,
      () => begin(fill),
      async () => {
        expect([others, null]).toContainEqual(await orLine(() => grid().unnamed()));
        expect(grid().unnamed()).toEqual(others);
      },
    );
  });

  it.each(FAULTS)("keeps the best student, through every %s", async (fault) => {
    begin();
    for (const step of [1, 2]) await save(step, 1);
    const two = contents("out")!;
    await files.each(
      fault,
      () =>
        begin(() => {
          for (const [name, content] of Object.entries(two))
            write(`out${name}`, Buffer.from(content, "latin1"));
        }),
      async () => {
        const saved = await orLine(() => save(3, 1).then(() => true));
        // An old one is kept where it cannot be read, and the new one is there.
        const { name = "", path = "" } = files.injected ?? {};
        if (/\/step-0000000[12](\/|$)/.test(path) && /^(open|readFile|readdir|handle\.\w+)$/.test(name))
          expect(saved).toBe(true);
        await save(3, 1);
        const names = readdirSync(at("out/cells/opd-seed-1/checkpoints"));
        expect(names.filter((name) => !name.startsWith("."))).toEqual(["step-00000002", "step-00000003"]);
        expect((await checkpoints(1).latest())?.state.step).toBe(3);
      },
    );
  });

  it.each(FAULTS)(
    "waits for whom it cannot see at once or tells the fault, through every %s",
    async (fault) => {
      await files.each(
        fault,
        () => begin(() => write("lock.sqlite", "")),
        async () => {
          const end = await carriedOut("collect", at("none.json"), folder.path);
          files.disarm();
          expect(end.kind).toBe("failed");
        },
      );
    },
  );
});

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/cli/experiment/disk-faults.test.ts"])).toEqual([]);
});
