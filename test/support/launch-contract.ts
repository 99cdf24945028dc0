/**
 * What holds of every launcher: the same checks against this machine, against programs that stand for ssh and Slurm, and,
 * by `npm run conformance`, against the real ones.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runScript } from "../../src/worker/launch/folder-launcher.ts";
import type { Attempt, RunLauncher, RunStatus } from "../../src/worker/launch/launcher.ts";

/** A launcher under test, and a folder that both it and the test see. */
export interface Place {
  launcher: RunLauncher;
  root: string;
}

/**
 * Stands for `gcopd train`: takes step N once the file `go-N` is beside its output, ends after its step at the first
 * SIGTERM and at once at the second.
 */
const TRAINER = `import { appendFileSync, existsSync } from "node:fs";
const [steps, code] = process.argv.slice(2).map(Number);
const print = (event) => console.log(JSON.stringify(event));
let asked = 0;
process.on("SIGTERM", () => {
  asked += 1;
  print({ type: "asked" });
  if (asked > 1) process.exit(143);
});
appendFileSync("../begun", process.pid + "\\n");
console.error("device cpu");
print({ type: "start", text: "Größe μ 漢字" });
for (let step = 1; step <= steps; step += 1) {
  while (!existsSync("go-" + step)) await new Promise((go) => setTimeout(go, 5));
  print({ type: "step", step });
  if (asked > 0) {
    print({ type: "stopped" });
    process.exit(143);
  }
}
print({ type: "done" });
process.exit(code);
`;

export class TestRun implements Attempt {
  readonly id = `t-${randomBytes(4).toString("hex")}`;
  readonly folder: string;
  readonly #tar: string;

  /** @param command of the run; the trainer with these arguments unless it is a text of its own */
  constructor(
    readonly place: Place,
    readonly steps: number,
    { code = 0, command }: { code?: number; command?: string } = {},
    readonly number = 1,
  ) {
    this.folder = join(place.root, "runs", this.id);
    const files = mkdtempSync(join(place.root, "files-"));
    writeFileSync(join(files, "run.json"), "{}\n");
    writeFileSync(join(files, "run.sh"), runScript);
    writeFileSync(join(files, "trainer.mjs"), TRAINER);
    const own = `exec '${process.execPath}' ../trainer.mjs ${steps} ${code}`;
    writeFileSync(join(files, "command.sh"), `${command ?? own}\n`);
    this.#tar = `${files}.tar`;
    const packed = spawnSync("tar", ["-cf", this.#tar, "-C", files, "."]);
    assert.equal(packed.status, 0);
    rmSync(files, { recursive: true });
  }

  /** The next attempt of the same run. */
  next(): Attempt {
    return { id: this.id, folder: this.folder, number: this.number + 1 };
  }

  path(...names: string[]): string {
    return join(this.folder, `attempt-${this.number}`, ...names);
  }

  put = () => this.place.launcher.put(this, this.#tar);

  async submit(): Promise<void> {
    await this.put();
    await this.place.launcher.submit(this);
  }

  /** Lets the trainer take its steps up to this one. */
  go(upTo: number): void {
    mkdirSync(this.path(), { recursive: true });
    for (let step = 1; step <= upTo; step += 1) appendFileSync(this.path(`go-${step}`), "");
  }

  /** Ids of the processes that began. */
  begun(): number[] {
    const file = join(this.folder, "begun");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").map(Number) : [];
  }

  /** Id of the script around the command. */
  script = () => Number(readFileSync(this.path("claim"), "utf8").split(" ")[0]);

  /** Asks until the answer is right: with all output up to then. */
  async until(
    right: (status: RunStatus, output: string) => boolean,
    attempt: Attempt = this,
  ): Promise<RunStatus & { text: string }> {
    let read = Buffer.alloc(0);
    for (;;) {
      const status = await this.place.launcher.status(attempt, { out: read.length, err: 0 });
      assert.equal(status.state === "unreachable" || status.output.from === read.length, true);
      read = Buffer.concat([read, status.output.bytes]);
      if (right(status, read.toString())) return { ...status, text: read.toString() };
      await sleep(20);
    }
  }

  ended = () => this.until(({ state }) => state === "ended" || state === "lost");
  printed = (part: string) => this.until((_, output) => output.includes(part));
}

export interface Check {
  name: string;
  check: (place: Place) => Promise<void>;
}

export const CONTRACT: readonly Check[] = [
  {
    name: "runs to its end",
    async check(place) {
      const run = new TestRun(place, 3);
      await run.submit();
      run.go(1);
      const { state } = await run.printed('"step":1');
      assert.equal(state, "running");
      run.go(3);
      const { code, text, asked } = await run.ended();
      assert.deepEqual({ code, asked }, { code: 0, asked: null });
      assert.match(text, /"done"}\n$/);
    },
  },
  {
    name: "a second submit starts nothing, before the end and after it",
    async check(place) {
      const run = new TestRun(place, 1);
      await run.submit();
      await run.printed('"start"');
      await Promise.all([run.submit(), run.submit()]);
      run.go(1);
      assert.equal((await run.ended()).code, 0);
      await run.submit();
      assert.equal((await run.ended()).code, 0);
      assert.equal(run.begun().length, 1);
    },
  },
  {
    name: "output by offset is the file, from whatever byte",
    async check(place) {
      const run = new TestRun(place, 2);
      run.go(2);
      await run.submit();
      const { text } = await run.ended();
      const file = readFileSync(run.path("stdout.jsonl"));
      assert.equal(text, file.toString());
      for (const out of [0, 1, 25, file.length - 1, file.length]) {
        const { output, log } = await place.launcher.status(run, { out, err: "tail" });
        assert.deepEqual(Buffer.from(output.bytes), file.subarray(out));
        assert.equal(Buffer.from(log.bytes).toString(), "device cpu\n");
      }
      await assert.rejects(place.launcher.status(run, { out: file.length + 1, err: 0 }), /were read before/);
    },
  },
  {
    name: "what was never submitted never began",
    async check(place) {
      const run = new TestRun(place, 1);
      const { state, latest } = await place.launcher.status(run, { out: 0, err: 0 });
      assert.deepEqual({ state, latest }, { state: "never", latest: 0 });
      await run.put();
      assert.equal((await place.launcher.status(run, { out: 0, err: 0 })).state, "never");
      await assert.rejects(
        place.launcher.fetch(run, ["out"], join(place.root, `${run.id}-none`)),
        /nothing yet/,
      );
    },
  },
  {
    name: "stop: after the step, however often it is asked",
    async check(place) {
      const run = new TestRun(place, 9);
      await run.submit();
      run.go(2);
      await run.printed('"step":2');
      await place.launcher.stop(run);
      await place.launcher.stop(run);
      assert.equal((await run.printed('"asked"')).state, "running");
      await place.launcher.stop(run);
      run.go(3);
      const { code, asked, text } = await run.ended();
      assert.deepEqual({ code, asked }, { code: 143, asked: "stop" });
      assert.match(text, /"step":3}\n{"type":"stopped"}\n$/);
    },
  },
  {
    name: "cancel: now",
    async check(place) {
      const run = new TestRun(place, 9);
      await run.submit();
      run.go(2);
      await run.printed('"step":2');
      await place.launcher.cancel(run);
      const { code, asked, text } = await run.ended();
      assert.deepEqual({ code, asked }, { code: 143, asked: "cancel" });
      assert.doesNotMatch(text, /stopped|"step":3/);
    },
  },
  {
    name: "a failure keeps its code, and a next attempt has output of its own",
    async check(place) {
      const run = new TestRun(place, 1, { code: 7 });
      run.go(1);
      await run.submit();
      assert.equal((await run.ended()).code, 7);
      const next = run.next();
      mkdirSync(join(run.folder, "attempt-2"));
      writeFileSync(join(run.folder, "attempt-2", "go-1"), "");
      await place.launcher.submit(next);
      const again = await run.until(({ state }) => state === "ended", next);
      assert.deepEqual({ code: again.code, latest: again.latest }, { code: 7, latest: 2 });
      assert.equal(run.begun().length, 2);
      const to = join(place.root, `${run.id}-fetched`);
      await place.launcher.fetch(run, ["attempt-1", "attempt-2/stdout.jsonl", "nothing"], to);
      assert.equal(readFileSync(join(to, "attempt-2/stdout.jsonl"), "utf8"), again.text);
    },
  },
  {
    name: "killed with its script: lost, and never called ended",
    async check(place) {
      const run = new TestRun(place, 9);
      await run.submit();
      run.go(1);
      await run.printed('"step":1');
      // A scheduler may end the command itself once its script is gone.
      for (const pid of [run.script(), ...run.begun()]) kill(pid);
      // On another host only the age of the beat tells, which would take a minute.
      if (existsSync(run.path("beat"))) utimesSync(run.path("beat"), 0, 0);
      const { state, code } = await run.ended();
      assert.deepEqual({ state, code }, { state: "lost", code: null });
    },
  },
];

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
