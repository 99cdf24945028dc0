/** What the command line reads and writes, with each file operation going wrong once: the right answer or one line, and nothing lost. */

import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { asksThroughFaults, diskFaults, FAULTS } from "../../test/support/disk-faults.ts";
import { FAULTED } from "../../test/support/faulted-modules.ts";
import type { Fault } from "../../test/support/file-faults.ts";
import { modelToPlay } from "../../test/support/model-to-play.ts";
import { fixtureSources } from "../../test/support/scienceworld.ts";
import { ToyModel } from "../../test/support/toy-model.ts";
import { InputError } from "../core/errors.ts";
import { recordLine } from "../formats/write.ts";
import { PACKAGE } from "../node/package-root.ts";
import { madeGames, madeText } from "../simulator/made-games.ts";
import { KeptLines } from "./engine/kept-lines.ts";
import { checkNewFolder, saveCompanions, saveModel } from "./engine/save-model.ts";
import { checkOut, openBytes, readText, writeOut, writeRecordsOut } from "./io.ts";
import { alfworldGames } from "./live/alfworld-games.ts";
import { openPolicy } from "./live/policy.ts";
import { modelOfRun, policyFolders, tokenizerFolder } from "./live/policy-folders.ts";
import { openRanged } from "./ranged-file.ts";
import { writeCatalog } from "./write-catalog.ts";

const { files, folder, orLine } = await diskFaults("gcopd-cli-faults-");
const { at, write, begin, contents, textOf, inside } = folder;
const { model, config } = modelToPlay(folder);

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

describe("reading", () => {
  it.each<[string, () => void, () => unknown]>([
    ["a text", () => write("a", LINES), () => readText(at("a"))],
    ["bytes", () => write("a", LINES), () => bytesOf(at("a"))],
    ["ranges", () => write("a", LINES), () => rangesOf(at("a"))],
    ["ranges of what was packed", () => write("a.gz", gzipSync(LINES)), () => rangesOf(at("a.gz"))],
    [
      "what a long command kept of its work",
      () =>
        write(
          "out.part",
          `{"format":"gcopd.unfinished.v1","version":"${PACKAGE.version}","of":1}\n{"n":0}\n{"n`,
        ),
      async () => {
        const kept = new KeptLines(at("out.part"));
        await kept.open({ of: 1 });
        const numbers: unknown[] = [];
        try {
          for await (const { n } of kept.lines()) numbers.push(n);
          for (let n = numbers.length; n < 3; n++) {
            await kept.append([{ n }]);
            numbers.push(n);
          }
        } finally {
          kept.close();
        }
        await kept.remove();
        return numbers;
      },
    ],
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
  ])("%s: what is there or one line", (_, fill, ask) =>
    asksThroughFaults<unknown>(files, () => begin(fill), ask, orLine),
  );

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
      state: () => contents("out"),
    }));

  it("a model's other files are whole or as before", () =>
    writes(
      fault,
      () => {
        model();
        write("out/tokenizer.json", "old");
      },
      { work: () => saveCompanions(at("out"), [at("model")]), name: "out", state: () => contents("out") },
    ));

  it("a catalog is whole or not there", () =>
    writes(fault, () => write("library.jsonl", fixtureSources().slice(0, 1).map(recordLine).join("")), {
      work: async () => {
        // Another try finds it where only the folder's sync failed.
        if (contents("out") === null) await writeCatalog(at("library.jsonl"), at("out"));
      },
      name: "out",
      state: () => contents("out"),
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

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/cli/disk-faults.test.ts"])).toEqual([]);
});
