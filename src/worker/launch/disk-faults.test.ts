/** Launched runs, with each file operation of this machine going wrong once: none is lost, begun twice, or told otherwise than it is. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { asksThroughFaults, diskFaults, FAULTS } from "../../../test/support/disk-faults.ts";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { InputError } from "../../core/errors.ts";
import { passingFault } from "../../node/file-error.ts";
import { keepConnection } from "./connect.ts";
import { folderLauncher } from "./folder-launcher.ts";
import { FollowedRuns } from "./followed-runs.ts";
import { podShell } from "./kubectl.ts";
import type { Attempt, RunLauncher, RunStatus } from "./launcher.ts";
import { movedConfig } from "./move.ts";
import { type KeptPlan, keptPlan, planThere } from "./plan-there.ts";
import { LaunchedRuns } from "./runs.ts";
import { collect, MARK, type Shell, thisMachine, Unreachable } from "./shell.ts";
import { targetSchema } from "./target.ts";
import { onlyFilesAndFolders } from "./unpack.ts";

/** Stands for what runs on targets, whose folders are here. */
const there = vi.hoisted(() => ({
  launcher: {} as RunLauncher,
  shell: {} as Shell,
  /** Folders of attempts that began. */
  begun: [] as string[],
  /** Folders of attempts that were asked to end. */
  asked: [] as string[],
  answers: true,
  state: { state: "ended", code: 1 } as Pick<RunStatus, "state" | "code">,
}));
vi.mock("./target.ts", async (original) => ({
  ...(await original<typeof import("./target.ts")>()),
  launcherOf: () => there.launcher,
  shellOf: () => there.shell,
}));

const { files, folder, orLine } = await diskFaults("gcopd-launch-faults-");
const { at, write, begin, contents, textOf } = folder;

const attemptIn = ({ folder: run, number }: Attempt): string => `${run}/attempt-${number}`;
const NOTHING = { from: 0, bytes: new Uint8Array(), size: 0 };
there.launcher = {
  async put(run, tar) {
    if (existsSync(join(run.folder, "run.json"))) return;
    files.aside(() => mkdirSync(run.folder, { recursive: true }));
    expect(spawnSync("tar", ["-xf", tar, "-C", run.folder]).status).toBe(0);
  },
  async submit(run) {
    expect(files.aside(() => existsSync(join(run.folder, "run.json")))).toBe(true);
    if (!there.begun.includes(attemptIn(run))) there.begun.push(attemptIn(run));
  },
  async status(run) {
    if (!there.answers) return { ...(await never()), state: "unreachable", reason: "it does not answer" };
    const latest = there.begun.filter((each) => each.startsWith(`${run.folder}/`)).length;
    const begun = there.begun.includes(attemptIn(run));
    return { ...(await never()), ...(begun ? there.state : {}), latest };
  },
  async stop(run) {
    there.asked.push(attemptIn(run));
  },
  async cancel(run) {
    there.asked.push(attemptIn(run));
  },
  async fetch(run, paths, to) {
    if (!there.answers) throw new Unreachable("box: it does not answer");
    files.aside(() => {
      for (const name of paths.filter((each) => existsSync(join(run.folder, each))))
        cpSync(join(run.folder, name), join(to, name), { recursive: true });
    });
  },
};
const never = async (): Promise<RunStatus> => ({
  ...{ state: "never", code: null, reason: null, expected: null, asked: null, began: null },
  ...{ seconds: null, silent: null, latest: 0, output: NOTHING, log: NOTHING },
});
beforeEach(() => {
  there.shell = thisMachine;
  there.answers = true;
});

const runs = () => new LaunchedRuns(at("launched"));
const target = (name: string) => ({ name, is: targetSchema.parse({ scratch: at(name) }) });
const ID = "20260101-000000-abcdef";
const CONFIG = () => ({
  method: "opd",
  environment: { name: "alfworld", games: "in/1-games" },
  teacher: at("model"),
  student: at("model"),
});

/** A run on `box` whose first attempt began. */
function launched({ submitted = true } = {}): void {
  const there_ = join(at("box"), "gcopd-runs", ID);
  const created = "2026-01-01T00:00:00Z";
  const run = {
    ...{ format: "gcopd.run.v1", id: ID, created_at: created, version: "1", folder: there_ },
    ...{ command: "gcopd train --config config.json --out out --progress json", config_sha256: "0" },
  };
  const record = {
    ...{ run, target: target("box"), attempt: 1, rewrite: false, last: null },
    submitted_at: submitted ? created : null,
  };
  write("model/config.json", "{}");
  write(`launched/${ID}/run.json`, JSON.stringify(record));
  write(`launched/${ID}/config.json`, "{}");
  for (const [name, text] of Object.entries({
    "run.json": JSON.stringify(run),
    "config.json": JSON.stringify(CONFIG()),
    "in/1-games": "games",
    "out/metrics.jsonl": "new",
    "attempt-1/stdout.jsonl": "{}\n",
  }))
    write(`box/gcopd-runs/${ID}/${name}`, text);
  there.begun = [attemptIn({ id: ID, folder: there_, number: 1 })];
}

/** Begins a scenario in a new folder. @returns the folder whose operations fail */
function fresh(fill: () => void = launched): string {
  there.begun = [];
  there.asked = [];
  there.state = { state: "ended", code: 1 };
  begin(fill);
  return folder.path;
}
const { PATH } = process.env;
/** Puts a script in place of a program. */
function program(name: string, script: string): void {
  write(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(at("bin", name), 0o755);
  vi.stubEnv("PATH", [at("bin"), PATH].join(delimiter));
}
const names = (path: string) => (existsSync(at(path)) ? readdirSync(at(path)).sort() : []);
const RUN = ["config.json", "run.json"];
/** Attempts that began, by the target's name and their number. */
const attempts = () =>
  there.begun.map((each) => `${each.slice(folder.path.length + 1).split("/")[0]} ${each.at(-1)}`);

describe.each([...FAULTS, "full"] as const)("through every %s", (fault) => {
  it("a launch that is told to have failed did not begin; one that began is known, and needs no more", async () => {
    const launch = () =>
      runs().launch({
        ...{ target: target("box"), config: { student: "a" } },
        carried: [{ from: at("library"), to: "in/1-library" }],
      });
    await files.each(
      fault,
      () => fresh(() => write("library", "library")),
      async () => {
        const told = await orLine(launch);
        expect(attempts()).toEqual(told === null ? [] : ["box 1"]);
        const [left] = runs().ids();
        expect(names("launched")).toEqual(left === undefined ? [] : [left]);
        if (told === null) await (left === undefined ? launch() : runs().resume(left));
        const [id = "", ...more] = runs().ids();
        expect(more).toEqual([]);
        await runs().look(runs().read(id));
        expect(runs().read(id).submitted_at).not.toBeNull();
        expect(names(`launched/${id}`)).toEqual(RUN);
        expect(attempts()).toEqual(["box 1"]);
      },
    );
  });

  it("a run is resumed once, with its new options", async () => {
    const resume = () => runs().resume(ID, { args: ["--cards", "2"] });
    await files.each(fault, fresh, async () => {
      const told = await orLine(resume);
      expect(attempts()).toEqual(told === null ? ["box 1"] : ["box 1", "box 2"]);
      if (told === null) await resume();
      expect(attempts()).toEqual(["box 1", "box 2"]);
      expect(textOf(`box/gcopd-runs/${ID}/command.sh`)).toMatch(/ --cards 2\n$/);
      there.state = { state: "running", code: null };
      await expect(resume()).rejects.toThrow("is running: there is nothing to resume");
      expect(runs().read(ID)).toMatchObject({ attempt: 2, submitted_at: expect.any(String) });
      expect(names(`launched/${ID}`)).toEqual(RUN);
    });
  });

  it.each(["other", "box"])("a run that moves goes on at one target, and then at %s", async (next) => {
    const met = await files.each(fault, fresh, async () => {
      const told = await orLine(() => runs().resume(ID, { target: target("other") }));
      expect(attempts()).toEqual(told === null ? ["box 1"] : ["box 1", "other 2"]);
      // Where the record names a target after the fault, it is that one's.
      const { target: at, attempt } = runs().read(ID);
      if (told === null)
        await runs().resume(ID, attempt === 1 && next !== at.name ? { target: target(next) } : {});
      const { target: now } = runs().read(ID);
      expect(attempts()).toEqual(["box 1", `${now.name} 2`]);
      expect(now.name).toBe(told === null && attempt === 1 ? next : "other");
      await runs().look(runs().read(ID));
      // Where the fault was in clearing it away, the next move does.
      const isClear = !["readdir", "rm"].includes(files.injected?.name ?? "");
      expect(names(`launched/${ID}`).filter((name) => isClear || name !== "moving")).toEqual(RUN);
    });
    if (fault !== "full") expect(met.length).toBeGreaterThan(0);
  });

  it("a run is imported whole or not at all", async () => {
    const take = () => runs().import(at("box/gcopd-runs", ID), target("box"));
    await files.each(
      fault,
      () =>
        fresh(() => {
          launched();
          mkdirSync(at("others"));
        }),
      async () => {
        const other = new LaunchedRuns(at("others"));
        const taken = () => other.import(at("box/gcopd-runs", ID), target("box"));
        if ((await orLine(taken)) === null) {
          expect(names("others")).toEqual([]);
          await taken();
        }
        expect(other.read(ID).run.folder).toBe(at("box/gcopd-runs", ID));
        expect(other.config(ID)).toEqual(CONFIG());
        await expect(take()).rejects.toThrow("already known here");
      },
    );
  });

  const fetchedBefore = () => {
    launched();
    write(`launched/${ID}/fetched/out/metrics.jsonl`, "old");
  };
  /** As kills left it: between the renames, and while files came. */
  const killed = () => {
    launched();
    write(`launched/${ID}/.fetched.0123456789ab.part/out/metrics.jsonl`, "old");
    write(`launched/${ID}/.fetched.0123456789ac.part.part-abcdef/out/metrics.jsonl`, "half");
  };
  const fetched = () => textOf(`launched/${ID}/fetched/out/metrics.jsonl`);
  it.each([
    ["", fetchedBefore],
    [" that a kill left under another name", killed],
  ])("results that were fetched before%s stay until there are new ones", async (_, fill) => {
    await files.each(
      fault,
      () => fresh(fill),
      async () => {
        const told = await orLine(() =>
          runs()
            .fetchHere(ID)
            .then(() => true),
        );
        if (told) expect(fetched()).toBe("new");
        else if (fill === fetchedBefore) expect(["old", "new"]).toContain(fetched());
        there.answers = false;
        await expect(runs().fetchHere(ID)).rejects.toThrow("it does not answer");
        expect(["old", "new"]).toContain(fetched());
        expect(names(`launched/${ID}`)).toEqual(["config.json", "fetched", "run.json"]);
        there.answers = true;
        await runs().fetchHere(ID);
        expect(fetched()).toBe("new");
        expect(names(`launched/${ID}`)).toEqual(["config.json", "fetched", "run.json"]);
      },
    );
  });

  it("a run has its old name or the new one, and is forgotten whole or not at all", async () => {
    await files.each(fault, fresh, async () => {
      const told = await orLine(() => runs().rename(ID, "new"));
      expect([undefined, "new"]).toContain(runs().read(ID).run.title);
      if (told !== null) expect(runs().read(ID).run.title).toBe("new");
    });
    await files.each(fault, fresh, async () => {
      const told = await orLine(() => {
        runs().forget(ID);
        return true;
      });
      expect(runs().ids()).toEqual(told ? [] : [ID]);
      if (!told) expect(names(`launched/${ID}`)).toEqual(RUN);
      // What could not be removed goes with the next.
      write("launched/next/run.json", "{}");
      runs().forget("next");
      expect(names("launched")).toEqual(told ? [] : [ID]);
    });
  });
});

it("a full disk here keeps nobody from ending a run there", async () => {
  for (const fault of ["full", "ENOSPC"] as const)
    for (const what of ["stop", "cancel"] as const) {
      const met = await files.each(
        fault,
        () => {
          const path = fresh();
          there.state = { state: "running", code: null };
          return path;
        },
        async () => {
          await runs().ask(ID, what);
          expect(there.asked).toHaveLength(1);
        },
      );
      expect(met.length).toBeGreaterThan(0);
    }
});

it("an answer that comes late takes back neither a name nor a move", async () => {
  const ask = async (meanwhile: () => unknown) => {
    const before = runs().read(ID);
    vi.spyOn(there.launcher, "status").mockImplementationOnce(async () => {
      await meanwhile();
      return { ...(await never()), ...there.state, latest: 1 };
    });
    await runs().look(before);
  };
  fresh();
  await ask(() => runs().rename(ID, "new"));
  expect(runs().read(ID)).toMatchObject({ run: { title: "new" }, last: { state: "ended" } });
  await ask(() => runs().resume(ID, { target: target("other") }));
  expect(runs().read(ID)).toMatchObject({ target: { name: "other" }, attempt: 2 });
});

it.each([null, "other"])(
  "a run that is renamed while it is resumed keeps its new name, on %s",
  async (to) => {
    fresh();
    vi.spyOn(there.launcher, "status").mockImplementationOnce(async () => {
      const status = { ...(await never()), ...there.state, latest: 1 };
      runs().rename(ID, "new");
      return status;
    });
    await runs().resume(ID, to === null ? {} : { target: target(to) });
    expect(runs().read(ID)).toMatchObject({ run: { title: "new" }, attempt: 2 });
  },
);

/** As `orLine`, where the worker's API says of a fault that passes to try again. */
async function orAgain<T>(work: () => T | Promise<T>): Promise<T | null> {
  return orLine(async () => {
    try {
      return await work();
    } catch (error) {
      const passing = passingFault(error);
      throw passing === null ? error : new InputError(passing, { file: "here" });
    }
  });
}

describe("what is looked up here", () => {
  const planned = () => ({ target: target("box"), config: { student: "a" } });
  it.each<[string, () => void, () => unknown]>([
    ["ids", launched, () => runs().ids()],
    ["a record", launched, () => runs().read(ID).run.id],
    ["a config", launched, () => runs().config(ID)],
    [
      "a run for the page",
      () => {
        launched();
        write(`launched/${ID}/fetched/run.json`);
      },
      () => {
        const { words, fetchedAt } = new FollowedRuns(runs()).get(ID);
        return [words, fetchedAt === null];
      },
    ],
    [
      "what a run printed",
      () => {
        launched();
        write(`launched/${ID}/attempt-1/stdout.jsonl`, '{"type":"step","step":1}\n');
        write(`launched/${ID}/attempt-1/whole`, "");
      },
      () => new FollowedRuns(runs()).printed(ID, 1, 0),
    ],
    [
      "files that came",
      () => write("got/out/student/config.json"),
      () => onlyFilesAndFolders(at("got"), "box"),
    ],
    [
      "a config that moves",
      launched,
      async () => {
        const { is } = target("box");
        const moved = await movedConfig(at("box/gcopd-runs", ID), is, target("other"));
        return [moved.config.student === at("model"), moved.carried.map(({ to }) => to)];
      },
    ],
    ["that there is no plan", launched, () => [keptPlan(at("planned"), planned())]],
  ])("%s: what is there or one line", (_, fill, ask) =>
    asksThroughFaults<unknown>(files, () => fresh(fill), ask, orAgain),
  );
});

it.each(FAULTS)(
  "what the page does with a run comes to an end, and is told, through every %s",
  async (fault) => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    try {
      await files.each(
        fault,
        () => {
          const path = fresh(() => launched({ submitted: false }));
          there.begun = [];
          there.state = { state: "running", code: null };
          return path;
        },
        async () => {
          const followed = new FollowedRuns(runs(), { everyMs: 0 });
          const record = files.aside(() => runs().read(ID));
          // Written down, it always begins: one that did not would be listed without a reason.
          followed.launch(record, CONFIG(), () => runs().submit(record));
          await followed.close();
          files.disarm();
          expect(followed.get(ID).doing).toBeNull();
          followed.list();
          await followed.close();
          const { problem, state, record: now } = followed.get(ID);
          expect(problem === null).toBe(attempts().length === 1);
          if (problem === null) expect([state, now.submitted_at === null]).toEqual(["running", false]);
          else followed.forget(ID);
        },
      );
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  },
);

describe("files on their way, through every fault", () => {
  const launcher = folderLauncher(thisMachine, {
    submit: () => expect.unreachable(),
    ask: null,
    remove: () => expect.unreachable(),
  });
  const run = (): Attempt => ({ id: "a", folder: at("there"), number: 1 });
  const TEXT = "a line of some length\n".repeat(5000);

  it.each(FAULTS)("are sent whole or not at all: %s", async (fault) => {
    const whole = { "/large": TEXT, "/run.json": "{}" };
    await files.each(
      fault,
      () =>
        fresh(() => {
          write("files/run.json", "{}");
          write("files/large", TEXT);
          expect(spawnSync("tar", ["-cf", at("a.tar"), "-C", at("files"), "."]).status).toBe(0);
        }),
      async () => {
        const told = await orLine(() => launcher.put(run(), at("a.tar")).then(() => true));
        // By this file a folder is whole, and what arrived whole was sent.
        expect(told === true).toBe(textOf("there/run.json") !== null);
        if (told) expect(contents("there")).toEqual(whole);
        await launcher.put(run(), at("a.tar"));
        expect(contents("there")).toEqual(whole);
      },
    );
  });

  it.each(FAULTS)("are fetched whole or not at all: %s", async (fault) => {
    await files.each(
      fault,
      () => fresh(() => write("there/out/large", TEXT)),
      async () => {
        const told = await orLine(() => launcher.fetch(run(), ["out"], at("got/new")).then(() => true));
        if (!told) {
          expect(contents("got") ?? {}).toEqual({});
          await launcher.fetch(run(), ["out"], at("got/new"));
        }
        expect(contents("got")).toEqual({ "/new/out/large": TEXT });
        expect(names("got")).toEqual(["new"]);
      },
    );
  });

  it.each(FAULTS)("are sent to a pod whole, or the fault is told: %s", async (fault) => {
    const fill = () => {
      program("kubectl", 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"');
      write("file", TEXT);
    };
    const sent = async () => {
      const pod = podShell("pod", {}, "c", async () => "pod");
      const { out } = await pod.exec(["cat"], { input: { file: at("file") } });
      return Buffer.from(out).toString();
    };
    const met = await files.each(
      fault,
      () => fresh(fill),
      async () => {
        const told = await orLine(sent);
        if (told !== null) expect(told).toBe(TEXT);
        // Its closing comes after all of it was sent.
        if (files.injected?.name === "close") expect(told).toBe(TEXT);
        expect(await sent()).toBe(TEXT);
      },
    );
    if (fault !== "ENOSPC") expect(met.length).toBeGreaterThan(0);
  });
});

it.each(FAULTS)("why a worker was not reached is told, through every %s", async (fault) => {
  const refused = () => {
    program("ssh", "echo 'Connection refused' >&2\nexit 255");
    mkdirSync(at("tmp"));
    vi.stubEnv("TMPDIR", at("tmp"));
  };
  await files.each(
    fault,
    () => fresh(refused),
    async () => {
      const connection = {
        place: { host: "box" },
        port: 0,
        againMs: 0,
        until: new AbortController().signal,
      };
      const told = keepConnection({ ...connection, opened: () => undefined, broken: () => undefined });
      const why = files.injected?.name === "mkdtemp" ? "injected, mkdtemp" : "box: no ssh server answers";
      await expect(told).rejects.toThrow(why);
    },
  );
});

it.each(FAULTS)(
  "a plan that was made is told, and nothing of it is left, through every %s",
  async (fault) => {
    const planned = () => ({ target: target("box"), config: { student: "a" } });
    const { signal } = new AbortController();
    const plan = () => planThere(at("planned"), { ...planned(), carried: [] }, { probe: false, signal });
    let isMade = false;
    await files.each(
      fault,
      () => {
        there.shell = {
          place: "box",
          // Takes the archive, and plans once it has all of it.
          async exec(args, { input } = {}) {
            const size = args[5]!;
            const { out } = await collect("head", ["-c", size], { input });
            isMade = size === String(out.length);
            return { code: 0, out: Buffer.from(`${MARK}\n{"total":1}\n`), err: "" };
          },
        };
        isMade = false;
        return fresh(() => {
          mkdirSync(at("tmp"));
          vi.stubEnv("TMPDIR", at("tmp"));
        });
      },
      async () => {
        let told: KeptPlan | null = null;
        let kept: KeptPlan | null = null;
        await orAgain(async () => {
          told = await plan();
          kept = keptPlan(at("planned"), planned());
        });
        expect(told !== null).toBe(isMade);
        if (told !== null) expect(told).toMatchObject({ plan: { total: 1 } });
        expect([null, told]).toContainEqual(kept);
        expect([null, told]).toContainEqual(keptPlan(at("planned"), planned()));
        if (files.injected?.name !== "rm") expect(names("tmp")).toEqual([]);
        if (kept === null) await plan();
        expect(keptPlan(at("planned"), planned())?.plan).toEqual({ total: 1 });
      },
    );
  },
);

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/worker/launch/disk-faults.test.ts"])).toEqual([]);
});
