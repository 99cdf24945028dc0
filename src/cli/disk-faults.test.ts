/** What the command line reads and writes, with each file operation going wrong once: the right answer or one line, and nothing lost. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FAULTED } from "../../test/support/faulted-modules.ts";
import { type Fault, FileFaults, QUICK } from "../../test/support/file-faults.ts";
import { gridConfig } from "../../test/support/grid.ts";
import { fixtureSources } from "../../test/support/scienceworld.ts";
import { ScratchFolder } from "../../test/support/scratch-folder.ts";
import { ToyModel, toyCodec } from "../../test/support/toy-model.ts";
import { InputError } from "../core/errors.ts";
import { evaluationResults } from "../core/evaluation/index.ts";
import { CHECKPOINT_FORMAT } from "../core/loop/checkpoint.ts";
import {
  collectConfigSchema,
  evaluateConfigSchema,
  experimentConfigSchema,
  experimentGrid,
  type GridConfig,
} from "../core/loop/index.ts";
import { recordLine } from "../formats/write.ts";
import { madeGames, madeText } from "../simulator/made-games.ts";
import { checkNewFolder, saveCompanions, saveModel } from "./engine/save-model.ts";
import { GridParts } from "./experiment/grid-parts.ts";
import { carriedOut } from "./experiment/part.ts";
import { claim } from "./experiment/part-config.ts";
import { sideBySide } from "./experiment/side-by-side.ts";
import { checkOut, openBytes, readText, writeOut, writeRecordsOut } from "./io.ts";
import { alfworldGames } from "./live/alfworld-games.ts";
import { collect } from "./live/collect.ts";
import { evaluate } from "./live/evaluate.ts";
import type { PlayRunOptions } from "./live/play-run.ts";
import { openPolicy } from "./live/policy.ts";
import { modelOfRun, policyFolders, tokenizerFolder } from "./live/policy-folders.ts";
import { openRanged } from "./ranged-file.ts";
import { DiskCheckpoints } from "./train/checkpoints.ts";
import { writeCatalog } from "./write-catalog.ts";

/** Stands for the processes of an experiment's parts: each ends a moment later, with what it writes last in its folder. */
const processes = vi.hoisted(() => ({ started: [] as string[], running: 0, finish: (_name: string) => {} }));
vi.mock("./experiment/part-process.ts", async () => {
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

const FAULTS = ["short", "EIO", "ENOSPC", "EMFILE"] as const;

let files: FileFaults;
const folder = new ScratchFolder(join(QUICK, "gcopd-cli-faults-"));
const { at, write, begin } = folder;
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());
beforeEach(() => {
  begin();
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(() => {
  files.disarm();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  folder.remove();
});

/** What `work` gives, or null where it ends in one line; without faults afterwards. */
async function orLine<T>(work: () => T | Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toMatch(/^[^\n]+: [^\n]+$/);
    // As the message names it: what was hit may be a file or folder beside it.
    expect((error as InputError).where.file).toBeDefined();
    return null;
  } finally {
    files.disarm();
  }
}

async function bytesOf(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of openBytes(path)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("latin1");
}

const LINES = Array.from({ length: 40_000 }, (_, n) => `line ${n}`).join("\n");
const rangesOf = async (path: string, inMemory?: number) => {
  const file = await openRanged(path, inMemory);
  try {
    const read = async (start: number, end: number) => Buffer.from(await file.read(start, end)).toString();
    return [file.size, await read(0, 10), await read(150_000, 300_000), await read(file.size - 5, file.size)];
  } finally {
    await file.close();
  }
};
const AT_ONCE = { signal: new AbortController().signal, onNote: () => undefined };
const trained = () => {
  for (const name of ["config.json", "tokenizer.json"]) write(`run/student/${name}`, "{}");
  write("run/tokenizer/tokenizer.json", "{ }");
  for (const step of [3, 4]) write(`run/checkpoints/step-0000000${step}/model.safetensors`);
};
const model = () => {
  for (const name of ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
    write(`model/${name}`, `{"of":"${name}"}`);
};
const made = { count: 1, seed: 1, size: "small" } as const;
const environment = { name: "alfworld", made, max_decisions: 1, max_tokens: 2 } as const;
const config = () =>
  collectConfigSchema.parse({ environment, model: at("model"), repetitions: 2, at_once: 2 });

/** As the folder of the run calls it. */
const inside = (path: string | null) =>
  path?.startsWith(folder.path) ? path.slice(folder.path.length + 1) : path;

describe("reading", () => {
  it.each<[string, () => void, () => unknown]>([
    ["a text", () => write("a", LINES), () => readText(at("a"))],
    ["bytes", () => write("a", LINES), () => bytesOf(at("a"))],
    ["ranges", () => write("a", LINES), () => rangesOf(at("a"))],
    ["ranges of what was packed", () => write("a.gz", gzipSync(LINES)), () => rangesOf(at("a.gz"))],
    [
      "ranges of what was packed and is large",
      () => {
        vi.stubEnv("TMPDIR", folder.path);
        write("a.gz", gzipSync(LINES));
      },
      async () => {
        try {
          return await rangesOf(at("a.gz"), 10_000);
        } finally {
          expect(files.aside(() => readdirSync(folder.path))).toEqual(["a.gz"]);
        }
      },
    ],
    [
      "the games of files and folders",
      () => {
        const [first, ...more] = madeGames({ count: 3, seed: 1 });
        write("a.tw-pddl", madeText(first!.make()));
        for (const { name, make } of more) write(`more/${name}`, madeText(make()));
      },
      async () => (await alfworldGames({ games: [at("a.tw-pddl"), at("more")] })).tasks,
    ],
    ["whether a folder is new", () => mkdirSync(at("a")), () => checkNewFolder(at("a"))],
    ["the weights of a run", trained, async () => inside(await modelOfRun(at("run")))],
    ["the tokenizer of a run", trained, async () => inside(await tokenizerFolder(at("run")))],
    [
      "the folders of a run's policy",
      trained,
      async () => {
        const found = await policyFolders({ model: at("run") }, AT_ONCE);
        return [inside(found.model), inside(found.tokenizer)];
      },
    ],
    [
      "the folders of a checkpoint",
      trained,
      async () => {
        const found = await policyFolders({ model: at("run/checkpoints/step-00000003") }, AT_ONCE);
        return [inside(found.model), inside(found.tokenizer)];
      },
    ],
    ["a policy's identity", model, async () => (await openPolicy(config(), AT_ONCE)).identity],
  ])("%s: what is there or one line", async (_, fill, ask) => {
    begin(fill);
    const whole = await ask();
    for (const fault of FAULTS)
      await files.each(
        fault,
        () => begin(fill),
        async () => {
          let answered = false;
          const answer = await orLine(async () => {
            const found = await ask();
            answered = true;
            return found;
          });
          if (answered) expect(answer).toEqual(whole);
          if (fault === "short") expect(answered).toBe(true);
          expect(await ask()).toEqual(whole);
        },
      );
  });

  it.each(FAULTS)("an input is never written over, through every %s", async (fault) => {
    const linked = () => {
      write("a");
      symlinkSync(at("a"), at("link"));
    };
    await files.each(
      fault,
      () => begin(linked),
      async () => {
        await expect(checkOut(at("link"), at("a"))).rejects.toThrow(InputError);
        files.disarm();
        await expect(checkOut(at("link"), at("a"))).rejects.toThrow("is an input of this command");
      },
    );
  });
});

/** The same work twice, the second time without the fault: what stands under `name` is old, new or not there, and new at the end. */
async function writes(
  fault: Fault,
  fill: () => void,
  { work, name, state }: { work: () => unknown; name: string; state: () => unknown },
): Promise<void> {
  const there = () => readdirSync(folder.path).filter((each) => each !== name);
  begin(fill);
  const before = [state(), there()];
  await work();
  const whole = [state(), there()];
  await files.each(
    fault,
    () => begin(fill),
    async () => {
      let done = false;
      await orLine(async () => {
        await work();
        done = true;
      });
      const [left] = [state()];
      if (done) expect(left).toEqual(whole[0]);
      else expect([before[0], whole[0]]).toContainEqual(left);
      if (fault === "short") expect(done).toBe(true);
      // Hidden names are never taken for what is finished.
      expect(there().filter((each) => !/^\..*\.part(\.old)?$/.test(each))).toEqual(whole[1]);
      await work();
      expect(state()).toEqual(whole[0]);
    },
  );
}

/** Every file of a folder with what it holds; null where there is none. */
function contents(path: string): Record<string, string> | null {
  try {
    const names = readdirSync(path, { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      names
        .filter((each) => each.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
        .map((file) => [file.slice(path.length), readFileSync(file, "latin1")]),
    );
  } catch {
    return null;
  }
}
const textOf = (name: string) => {
  try {
    return readFileSync(at(name), "latin1");
  } catch {
    return null;
  }
};

describe.each([...FAULTS, "full"] as const)("writing through every %s", (fault) => {
  const old = () => write("out", "old");
  const records = Array.from({ length: 3000 }, (_, n) => ({ n, text: "a record of some length" }));

  it("records are those of before or all new", () =>
    writes(fault, old, {
      work: async () => {
        await checkOut(at("out"));
        await writeRecordsOut(at("out"), records);
      },
      name: "out",
      state: () => textOf("out"),
    }));

  it("a packed file and one behind a link are whole or as before", () =>
    writes(
      fault,
      () => {
        old();
        symlinkSync(at("out"), at("link.gz"));
      },
      { work: () => writeOut(at("link.gz"), [LINES]), name: "out", state: () => textOf("out") },
    ));

  it("what is told to end takes its temporary file along", () =>
    writes(fault, old, {
      work: () => {
        const kill = vi.spyOn(process, "kill").mockReturnValue(true);
        return writeOut(
          at("out"),
          (function* () {
            yield "new";
            process.emit("SIGTERM", "SIGTERM");
            expect(kill).toHaveBeenCalled();
          })(),
        ).catch((error: Error) => {
          // Its process would be gone.
          if (!error.message.includes("does not exist")) throw error;
        });
      },
      name: "out",
      state: () => "any",
    }));

  it("a model's folder is whole or not there", () =>
    writes(fault, model, {
      work: async () => {
        await saveModel(new ToyModel(1), at("out"), {
          optimizer: false,
          companionsFrom: [at("model")],
          replace: true,
        });
      },
      name: "out",
      state: () => contents(at("out")),
    }));

  it("a model's other files are whole or as before", () =>
    writes(
      fault,
      () => {
        model();
        write("out/tokenizer.json", "old");
      },
      { work: () => saveCompanions(at("out"), [at("model")]), name: "out", state: () => contents(at("out")) },
    ));

  it("a catalog is whole or not there", () =>
    writes(fault, () => write("library.jsonl", fixtureSources().slice(0, 1).map(recordLine).join("")), {
      work: async () => {
        // Another try finds it where only the folder's sync failed.
        if (contents(at("out")) === null) await writeCatalog(at("library.jsonl"), at("out"));
      },
      name: "out",
      state: () => contents(at("out")),
    }));
});

it.each(FAULTS)(
  "what is no file is written and read or the fault is told, through every %s",
  async (fault) => {
    const size = async () => {
      const file = await openRanged("/dev/null");
      await file.close();
      return file.size;
    };
    const device = () => "/dev";
    const written = await files.each(fault, device, () => orLine(() => writeOut("/dev/null", [LINES])));
    const read = await files.each(fault, device, async () => {
      expect([0, null]).toContain(await orLine(size));
    });
    expect([written.length > 0, read.length > 0]).toEqual([true, true]);
  },
);

const NO_FILES = /^lock\.|^seconds\.jsonl$/;
const COMMANDS = {
  collect: (options: PlayRunOptions) => collect({ ...options, config: config(), catalog: true }),
  evaluate: (options: PlayRunOptions) =>
    evaluate({
      ...options,
      config: evaluateConfigSchema.parse({ environment, model: at("model"), seeds: [0, 1, 2], at_once: 2 }),
    }),
};

describe.each(["collect", "evaluate"] as const)("gcopd %s", (command) => {
  /** Files of a run that nothing went wrong in, and what it had played before it wrote its records. */
  let whole: Record<string, string>;
  let played = "";

  const found = () =>
    Object.fromEntries(
      Object.entries(contents(at("out")) ?? {}).filter(([name]) => !NO_FILES.test(name.slice(1))),
    );
  /** Plays what is missing. @returns how many episodes had ended, as it was told first and last */
  async function play(told: { first: number | null; last: number }): Promise<void> {
    await COMMANDS[command]({
      config: config(),
      out: at("out"),
      ...AT_ONCE,
      onProgress: ({ done }) => {
        told.first ??= done;
        told.last = done;
        const progress = files.aside(() => textOf("out/progress.jsonl"));
        if (whole === undefined) played = progress ?? played;
      },
      withPolicy: (work) => work(new ToyModel(1), toyCodec),
    });
  }
  beforeAll(async () => {
    begin(model);
    await play({ first: null, last: 0 });
    whole = found();
    expect(Object.keys(whole).length).toBeGreaterThan(command === "collect" ? 4 : 2);
    expect(played.match(/"type":"end"/g)).toHaveLength(3);
  });

  const kept = (name: string) => write(`out/${name}`, whole[`/${name}`]);
  const cutAt = (share: number) => () => {
    kept("run.json");
    write("out/progress.jsonl", played.slice(0, share * played.length));
    // What kills left.
    write("out/seconds.jsonl", '{"attempt":"an earl');
    write("out/progress.jsonl.part", "half");
    write("out/.sources.jsonl.0123456789ab.part", "half");
  };
  describe.each<[string, () => void]>([
    ["begins", () => {}],
    ["goes on", cutAt(0.7)],
    ["has its records to write", cutAt(1)],
    [
      "has its records",
      () => {
        cutAt(1)();
        rmSync(at("out/progress.jsonl.part"));
        kept(command === "collect" ? "sources.jsonl" : "episodes.jsonl");
      },
    ],
    [
      "has ended",
      () => {
        for (const name of Object.keys(whole)) kept(name.slice(1));
      },
    ],
  ])("that %s", (_, fill) => {
    it.each([...FAULTS, "full"] as const)(
      "loses nothing that was played, and ends with the same files, through every %s",
      async (fault) => {
        const met = await files.each(
          fault,
          () => {
            begin(() => {
              model();
              fill();
            });
            return at("out");
          },
          async () => {
            const log = files.aside(() => textOf("out/progress.jsonl"));
            const before = (log?.match(/"type":"end".*\n/g) ?? []).length;
            const first = { first: null, last: before };
            let done = false;
            await orLine(async () => {
              await play(first);
              done = true;
            });
            if (done) expect(found()).toEqual(whole);
            if (fault === "short") expect(done).toBe(true);
            const left = found();
            for (const [name, content] of Object.entries(whole))
              if (left[name] !== undefined) expect(left[name]).toBe(content);
            const again = { first: null, last: 0 };
            await play(again);
            if (again.first !== null) expect(again.first).toBeGreaterThanOrEqual(first.last);
            expect(found()).toEqual(whole);
          },
        );
        // A folder that is whole has nothing written.
        if (fault !== "full") expect(met.length).toBeGreaterThan(0);
      },
    );
  });
});

describe("an experiment", () => {
  const grid = () => {
    const inside = (name: string) => at("out", name);
    const given = experimentConfigSchema.parse(
      gridConfig({ methods: ["opd"], seeds: [1], checkpoints: ["final", "best"], library: at("library") }),
    );
    const methods: GridConfig["methods"] = [{ id: "opd" }];
    return new GridParts(experimentGrid({ ...given, methods }, inside), given.student, inside);
  };
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
        const other = () => claim(at("out/part.json"), { seed: 2 });
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

  it.each(FAULTS)("keeps the best student, through every %s", async (fault) => {
    begin();
    for (const step of [1, 2]) await save(step, 1);
    const two = contents(at("out"))!;
    await files.each(
      fault,
      () =>
        begin(() => {
          for (const [name, content] of Object.entries(two))
            write(`out${name}`, Buffer.from(content, "latin1"));
        }),
      async () => {
        await orLine(() => save(3, 1));
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
  expect(files.unreached(FAULTED["src/cli/disk-faults.test.ts"])).toEqual([]);
});
