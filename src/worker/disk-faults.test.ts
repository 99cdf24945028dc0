/** What the worker looks up on the disk, with each of its file operations going wrong once: it answers right, or says that it cannot. */
import { lutimesSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { OpenAPIHono } from "@hono/zod-openapi";
import { expect, it, vi } from "vitest";
import { diskFaults, FAULTS } from "../../test/support/disk-faults.ts";
import { FAULTED } from "../../test/support/faulted-modules.ts";
import { InputError } from "../core/errors.ts";
import { trainConfigSchema } from "../core/loop/train-config.ts";
import { passingFault } from "../node/file-error.ts";
import { systemRoutes } from "./api/system.ts";
import type { DeviceProbe } from "./device/probe.ts";
import { listShared, sharedFile } from "./files/shared-folder.ts";
import { ApiError, answerError } from "./http/errors.ts";
import { pageRoutes } from "./http/page.ts";
import { checkedRequest } from "./job/command.ts";
import { JobFolders } from "./job/job-folders.ts";
import { logTail } from "./job/log-tail.ts";
import { openStore } from "./job/open-store.ts";
import { planTraining } from "./job/plan.ts";
import type { JobQueue } from "./job/queue.ts";
import { listResults, resultFile } from "./job/results.ts";
import { JobStore } from "./job/store.ts";
import { StoreFault } from "./job/store-fault.ts";
import { remoteConfig } from "./launch/remote-config.ts";
import { addTarget, readTargets, targetSchema } from "./launch/target.ts";
import { folderToken } from "./token-file.ts";

const ID = "train-0123456789ab";
const REQUEST = { kind: "train", config: "/c.json", resume: "auto" } as const;
const LINES = Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join("\n");

const { files, folder } = await diskFaults("gcopd-worker-faults-");
const { at, write, begin } = folder;

/** What `work` gives, or null where it says that it cannot; without faults afterwards. */
async function orFault<T>(work: () => T | Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    expect(error).toSatisfy(
      (thrown) =>
        thrown instanceof InputError ||
        thrown instanceof StoreFault ||
        (thrown instanceof ApiError && thrown.status === 503) ||
        passingFault(thrown) !== null,
    );
    expect((error as Error).message).not.toContain("\n");
    return null;
  } finally {
    files.disarm();
  }
}

const results = () => {
  write("out/student/model.bin", "weights");
  write("out/events.jsonl", "{}\n");
};
const config = () => {
  const environment = { name: "alfworld", games: "games" };
  const models = { teacher: "model", student: "model" };
  mkdirSync(at("games"));
  mkdirSync(at("model"));
  write(
    "method.json",
    JSON.stringify({ name: "own", stages: [{ name: "s", epochs: 1, evidence: { kind: "none" } }] }),
  );
  write("config.json", JSON.stringify({ method: "method.json", environment, ...models }));
};

const TARGET = { host: "gpu1", scratch: "/scratch" };
const targets = () => write("targets.json", JSON.stringify({ mine: TARGET }));

it.each<[string, () => void, () => unknown]>([
  ["the end of a log", () => write("log", LINES), () => logTail(at("log"), 10_000)],
  [
    "a job's results",
    results,
    async () => (await listResults(at("out"))).map(({ path, bytes }) => [path, bytes]),
  ],
  [
    "a result",
    results,
    async () => (await resultFile(at("out"), "student/model.bin", "GET")).slice(folder.path.length),
  ],
  [
    "the shared folder",
    () => {
      results();
      symlinkSync(at("out/student"), at("out/link"));
    },
    async () =>
      (await listShared(at("out"), "", "GET")).entries.map(({ name, kind, bytes }) => [name, kind, bytes]),
  ],
  [
    "a shared file",
    results,
    async () => (await sharedFile(at("out"), "student/model.bin", "GET")).slice(folder.path.length),
  ],
  [
    "a token that is kept",
    () => writeFileSync(at("token"), `${"t".repeat(32)}\n`, { mode: 0o600 }),
    () => folderToken(folder.path),
  ],
  [
    "a request with its files",
    config,
    async () => (await checkedRequest({ ...REQUEST, config: at("config.json") }, "POST")).device,
  ],
  [
    "a plan",
    () => {
      vi.stubEnv("TMPDIR", folder.path);
      write("cli.mjs", "console.log(JSON.stringify({ seconds: 1 }));");
    },
    () => planTraining({}, { cli: at("cli.mjs"), signal: new AbortController().signal }),
  ],
  ["targets", targets, () => readTargets(at("targets.json"))],
  [
    "what a run takes along to another machine",
    () => {
      write("games/one.json", "{}");
      write("model/config.json", "{}");
      write("prompt.txt", "prompt");
    },
    async () => {
      const environment = { name: "alfworld", games: at("games"), prompt: at("prompt.txt") };
      const models = { teacher: at("model"), student: at("model") };
      const config = trainConfigSchema.parse({ method: "opd", environment, ...models });
      const origin = { file: "config.json", absolute: (path: string) => path };
      const { carried, bytes, there } = await remoteConfig(config, targetSchema.parse(TARGET), origin);
      return [carried.map(({ to }) => to), bytes, there];
    },
  ],
  [
    "the list of jobs",
    () => {
      const store = openStore(at("jobs.sqlite"));
      store.create(ID, REQUEST);
      store.close();
    },
    () => {
      const store = openStore(at("jobs.sqlite"));
      const found = store.inStates(["queued"]).map(({ id, request }) => [id, request]);
      store.close();
      return found;
    },
  ],
])("%s", async (_, fill, ask) => {
  begin(fill);
  const whole = await ask();
  for (const fault of FAULTS)
    await files.each(
      fault,
      () => begin(fill),
      async () => {
        const answer = await orFault(ask);
        if (answer !== null) expect(answer).toEqual(whole);
        if (fault === "short") expect(answer).not.toBeNull();
        expect(await ask()).toEqual(whole);
      },
    );
});

it.each(FAULTS)(
  "the page and its sample are there, or it is said what keeps them, through every %s",
  async (fault) => {
    // The library that sends the files warns of a folder that it cannot see.
    vi.spyOn(console, "warn").mockReturnValue();
    const fill = () => {
      write("page/index.html", "<head></head>");
      for (const name of ["sources.jsonl.gz", "episodes.jsonl.gz", "teacher", "student", "tokenizer"])
        write(`page/sample/${name}`, "");
    };
    const answers = async () => {
      const app = new OpenAPIHono();
      app.onError(answerError);
      const none = {} as DeviceProbe & JobQueue;
      systemRoutes(app, none, none, { jobs: "", page: at("page"), shared: null });
      const page = pageRoutes({ folder: at("page"), token: null });
      const faulted = await Promise.all([
        app.request("/api/files"),
        page.request("/"),
        page.request("/sample/teacher", { method: "HEAD" }),
      ]);
      return Promise.all(faulted.map(async (answer) => [answer.status, await answer.text()] as const));
    };
    await files.each(
      fault,
      () => begin(fill),
      async () => {
        const told = await answers();
        // The library that sends the files takes a fault of its own for no.
        if (files.injected?.name.endsWith("Sync")) return;
        files.disarm();
        const whole = await answers();
        expect(whole.map(([status]) => status)).toEqual([200, 200, 200]);
        expect(JSON.parse(whole[0]![1]).sample).not.toBeNull();
        for (const [n, [status, text]] of told.entries()) {
          if (status === 200) expect(text).toBe(whole[n]![1]);
          else if (n === 2) expect(status).toBe(503);
          else
            expect([status, text]).toEqual([
              503,
              expect.stringMatching(/device reports an error|too many open files|no space left/),
            ]);
        }
      },
    );
  },
);

it.each(FAULTS)("a token that is made stays the same once it was told, through every %s", async (fault) => {
  await files.each(
    fault,
    () => begin(() => {}),
    async () => {
      const told = await orFault(() => folderToken(folder.path));
      const kept = await folderToken(folder.path);
      if (told !== null) expect(kept).toBe(told);
      expect(readdirSync(folder.path)).toEqual(["token"]);
    },
  );
});

it.each(FAULTS)("targets stay when one is added, through every %s", async (fault) => {
  await files.each(
    fault,
    () => begin(targets),
    async () => {
      const file = at("targets.json");
      const added = await orFault(() => addTarget("new", TARGET, { file }).then(() => true));
      const names = Object.keys(readTargets(file));
      expect(names[0]).toBe("mine");
      if (added) expect(names).toEqual(["mine", "new"]);
      if (names.length === 1) await addTarget("new", TARGET, { file });
      expect(Object.keys(readTargets(file))).toEqual(["mine", "new"]);
    },
  );
});

it.each(FAULTS)(
  "a damaged list is moved aside with its log or not at all, through every %s",
  async (fault) => {
    const damage = () => {
      write("jobs.sqlite", "no list of jobs ".repeat(100));
      write("jobs.sqlite-wal", "its log");
    };
    await files.each(
      fault,
      () => begin(damage),
      async () => {
        (await orFault(() => openStore(at("jobs.sqlite"))))?.close();
        openStore(at("jobs.sqlite")).close();
        const names = readdirSync(folder.path);
        expect(names.filter((name) => /\.damaged-[^.]+\.\d+Z$/.test(name))).toHaveLength(1);
        expect(names.filter((name) => /\.damaged-[^.]+\.\d+Z-wal$/.test(name))).toHaveLength(1);
      },
    );
  },
);

/** Makes a list and folders of jobs, of which only the folders are to fail. */
function beginJobs(fill: () => void): string {
  begin(fill);
  return at("jobs");
}

/** The folders of a list with one job. */
async function withFolders<T>(work: (folders: JobFolders, store: JobStore) => Promise<T>): Promise<T> {
  const store = new JobStore(at("jobs.sqlite"));
  try {
    return await work(new JobFolders(at("jobs"), store), store);
  } finally {
    store.close();
  }
}

const listed = (name: string) => () => {
  const store = new JobStore(at("jobs.sqlite"));
  store.create(ID, REQUEST);
  store.close();
  write(`jobs/${name}/out/student`, "hours of work");
};
const lost = () => {
  for (const name of ["train-00000000000a", "train-00000000000b"]) {
    write(`jobs/${name}/in/records.jsonl`, "{}\n");
    for (const path of ["in/records.jsonl", "in", ""]) lutimesSync(at("jobs", name, path), 0, 0);
  }
};

it.each(FAULTS)("a job's work stays where the list does not let it go, through every %s", async (fault) => {
  const refusal = new Error("the list does not let it go");
  await files.each(
    fault,
    () => beginJobs(listed(ID)),
    () =>
      withFolders(async (folders) => {
        const refuse = () => {
          throw refusal;
        };
        await orFault(() =>
          folders.remove(ID, refuse).catch((error: unknown) => {
            if (error !== refusal) throw error;
          }),
        );
        await folders.tidy(true);
        expect(readdirSync(at("jobs", ID, "out"))).toEqual(["student"]);
      }),
  );
});

it.each(FAULTS)("what a killed removal left is put back or waits, through every %s", async (fault) => {
  await files.each(
    fault,
    () => beginJobs(listed(`.removed-${ID}`)),
    () =>
      withFolders(async (folders) => {
        await orFault(() => folders.tidy(true));
        await folders.tidy(true);
        expect(readdirSync(at("jobs", ID, "out"))).toEqual(["student"]);
      }),
  );
});

it.each(FAULTS)(
  "inputs that no job was submitted for go, those of jobs stay, through every %s",
  async (fault) => {
    const fill = () => {
      listed(ID)();
      lost();
    };
    await files.each(
      fault,
      () => beginJobs(fill),
      () =>
        withFolders(async (folders) => {
          await folders.removeUnusedInputs();
          files.disarm();
          expect(readdirSync(at("jobs"))).toContain(ID);
          await folders.removeUnusedInputs();
          expect(readdirSync(at("jobs"))).toEqual([ID]);
        }),
    );
  },
);

it.each(FAULTS)(
  "list and folders agree on a job that is found again and then removed, through every %s",
  async (fault) => {
    const found = () => {
      listed(ID)();
      const other = new JobStore(at("other.sqlite"));
      new JobFolders(at("jobs"), other).record(other.create(ID, REQUEST));
      other.close();
      rmSync(at("jobs.sqlite"));
      write("jobs/.removed-train-00000000000a/out/student", "of a job that was removed before");
    };
    await files.each(
      fault,
      () => beginJobs(found),
      () =>
        withFolders(async (folders, store) => {
          const removed = await orFault(async () => {
            await folders.tidy(true);
            await folders.remove(ID, () => store.remove(ID));
            await folders.removeAside(ID);
            return true;
          });
          await folders.tidy(true);
          if (removed) expect(store.get(ID)).toBeNull();
          expect(readdirSync(at("jobs"))).toEqual(store.get(ID) === null ? [] : [ID]);
        }),
    );
  },
);

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/worker/disk-faults.test.ts"])).toEqual([]);
});
