/** Episodes that a live run plays, with each file operation going wrong once: what was played is kept, and the records are whole. */

import { existsSync, rmSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { diskFaults, FAULTS } from "../../../test/support/disk-faults.ts";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { modelToPlay } from "../../../test/support/model-to-play.ts";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { evaluateConfigSchema } from "../../core/loop/index.ts";
import { collect } from "./collect.ts";
import { evaluate } from "./evaluate.ts";
import type { PlayRunOptions } from "./play-run.ts";

const { files, folder, orLine } = await diskFaults("gcopd-live-faults-");
const { at, write, begin, contents, textOf } = folder;
const { environment, model, config } = modelToPlay(folder);

const AT_ONCE = { signal: new AbortController().signal, onNote: () => undefined };

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
      Object.entries(contents("out") ?? {}).filter(([name]) => !NO_FILES.test(name.slice(1))),
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
            // A folder that was made is a run's or goes, unless it is not seen whether it is one's.
            if (files.injected?.name !== "statSync")
              expect(existsSync(at("out"))).toBe(textOf("out/run.json") !== null);
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

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/cli/live/disk-faults.test.ts"])).toEqual([]);
});
