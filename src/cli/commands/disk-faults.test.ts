/** Whole commands, with each file operation going wrong once: they do all of their work, or say in one line what went wrong. */
import { symlinkSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { diskFaults, FAULTS } from "../../../test/support/disk-faults.ts";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { fixtureContents } from "../../../test/support/import-fixture.ts";
import { fixtureSources } from "../../../test/support/scienceworld.ts";
import { recordLine } from "../../formats/write.ts";
import { importFolder } from "../import-folder.ts";

const { files, folder, orLine } = await diskFaults("gcopd-command-faults-");
const { at, write, begin, contents } = folder;

/** Whether a command did its work; without faults afterwards. */
async function isDone(...args: string[]): Promise<boolean> {
  const { code, err } = await runCli(...args);
  files.disarm();
  if (code === 0) return true;
  expect(err).toMatch(/(^|\n)gcopd: [^\n]+: [^\n]+\n$/);
  expect(err).not.toContain("internal error");
  expect(code).toBe(1);
  return false;
}

/** An episode and its scores. */
const RUN = Object.entries(fixtureContents("alfworld-run")).filter(([name]) => name.includes("/d508524447"));
const run = () => {
  for (const [name, bytes] of RUN) write(`run/${name}`, bytes);
};
const library = () => {
  write("library.jsonl", fixtureSources().slice(0, 2).map(recordLine).join(""));
  // Its index has the time.
  utimesSync(at("library.jsonl"), 1, 1);
};
/** Every file with its text, the same in each folder. */
const state = () =>
  Object.fromEntries(
    Object.entries(contents("") ?? {}).map(([name, text]) => [name, text.replaceAll(folder.path, "")]),
  );

describe.each<[string, () => void, () => string[]]>([
  [
    "import",
    run,
    () => [
      ...["import", at("run"), "--format", "student-run"],
      ...["--episodes-out", at("out/episodes.jsonl"), "--report", at("out/report.json")],
      ...["--scores-out", at("out/scores.jsonl")],
    ],
  ],
  [
    "games",
    () => {},
    () => ["games", ..."--environment alfworld --count 2 --seed 1 --out".split(" "), at("out")],
  ],
  ["index", library, () => ["index", at("library.jsonl")]],
])("gcopd %s", (_, fill, args) => {
  it.each(FAULTS)("does all of it or tells the fault, through every %s", async (fault) => {
    const filled = () =>
      begin(() => {
        fill();
        write("out/.keep", "");
      });
    filled();
    const before = state();
    expect(await isDone(...args())).toBe(true);
    const whole = state();
    expect(Object.keys(whole).length).toBeGreaterThan(Object.keys(before).length);
    await files.each(fault, filled, async () => {
      const done = await isDone(...args());
      const left = state();
      if (done) expect(left).toEqual(whole);
      // Each file is whole, and none is under another name.
      for (const [name, text] of Object.entries(left)) expect([name, text]).toEqual([name, whole[name]]);
      if (fault === "short") expect(done).toBe(true);
      if (!done) expect(await isDone(...args())).toBe(true);
      expect(state()).toEqual(whole);
    });
  });
});

it.each(FAULTS)("no file of a folder is left out in silence, through every %s", async (fault) => {
  const fill = () => {
    write("run/one.json");
    write("run/more/two.json");
    write("elsewhere.json");
    symlinkSync(at("run/more"), at("run/link"));
    symlinkSync(at("nowhere"), at("run/broken"));
    symlinkSync(at("run"), at("run/more/circle"));
  };
  const listed = async () => {
    const found = await importFolder(at("run"));
    const [there, not] = [
      await found.absolute?.(at("elsewhere.json")),
      await found.absolute?.(at("nowhere")),
    ];
    const paths = (await found.list()).map(({ path }) => path);
    return [paths, there?.size, not ?? null];
  };
  const whole = [["link/two.json", "more/two.json", "one.json"], "elsewhere.json".length, null];
  await files.each(
    fault,
    () => begin(fill),
    async () => {
      expect([whole, null]).toContainEqual(await orLine(listed));
      expect(await listed()).toEqual(whole);
    },
  );
});

it.each(FAULTS)("a page that is there is not called missing, through every %s", async (fault) => {
  await files.each(
    fault,
    () => begin(() => write("page/index.html", "")),
    async () => {
      // Refused either way, so that no worker starts.
      const { err } = await runCli("worker", "--page", at("page"), "--socket", "--port", "1");
      expect(err).toMatch(
        files.injected === null ? /--socket and --port/ : /index\.html: the device reports/,
      );
    },
  );
});

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/cli/commands/disk-faults.test.ts"])).toEqual([]);
});
