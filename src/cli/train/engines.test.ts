import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { buildCli, startCli } from "../../../test/support/cli.ts";
import { freePort } from "../../../test/support/real-sshd.ts";
import { eachInItsFolder, inFolder, train, weights, writeConfig } from "../../../test/support/train-runs.ts";
import { withEngines } from "./engines.ts";

eachInItsFolder();

/** Serves on a port until it is ended, or its own file `end` is there; `deaf` does not obey SIGTERM. */
const SERVER = `import { createServer } from "node:http";
import { existsSync, writeFileSync } from "node:fs";
const [port, file, deaf] = process.argv.slice(2);
process.on("SIGTERM", () => {
  console.log("told to end");
  if (deaf === undefined) process.exit(0);
});
createServer((_, answer) => answer.end("ready")).listen(Number(port), "127.0.0.1", () => {
  writeFileSync(file + ".pid", String(process.pid));
  console.log("serves");
});
setInterval(() => existsSync(file + ".end") && (console.log("no memory left"), process.exit(3)), 5);
`;

/** An engine of the config, behind a shell of its own as real ones are. */
async function server(name: string, option = "") {
  writeFileSync(inFolder("server.mjs"), SERVER);
  const port = await freePort();
  return {
    command: `'${process.execPath}' '${inFolder("server.mjs")}' ${port} '${inFolder(name)}' ${option}; exit $?`,
    ready: `http://127.0.0.1:${port}/health`,
    minutes: 30,
  };
}

const log = (out: string, name: string) => readFileSync(inFolder(out, "engines", `${name}.log`), "utf8");
const pid = (name: string) => Number(readFileSync(inFolder(`${name}.pid`), "utf8"));
/** A process that nobody has waited for yet has ended all the same. */
function lives(id: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${id}/stat`, "utf8"));
  } catch {
    return false;
  }
}
const notes: string[] = [];
const run = () => ({ out: inFolder("out"), onNote: (note: string) => notes.push(note) });

describe("engines beside a run", () => {
  it("start before the work and end after it, those too that obey no signal", async () => {
    const engines = { teacher: await server("teacher"), student: await server("student", "deaf") };
    const alive = await withEngines(engines, run(), async () => [
      lives(pid("teacher")),
      lives(pid("student")),
    ]);
    expect(alive).toEqual([true, true]);
    // SIGKILL of a group returns before its last process has gone.
    await expect.poll(() => [lives(pid("teacher")), lives(pid("student"))]).toEqual([false, false]);
    for (const name of ["teacher", "student"]) expect(log("out", name)).toMatch(/^serves\n.*told to end\n/s);
    expect(notes).toContainEqual(expect.stringMatching(/^Engine teacher is ready after \d+ s\.$/));
  });

  it("that end by themselves end the work, and the others with it", async () => {
    const engines = { teacher: await server("teacher"), student: await server("student") };
    const work = withEngines(engines, run(), async (signal) => {
      writeFileSync(inFolder("teacher.end"), "");
      await once(signal, "abort");
      signal.throwIfAborted();
    });
    await expect(work).rejects.toThrow(
      `engine teacher ended (exit code 3): no memory left; see ${inFolder("out", "engines", "teacher.log")}`,
    );
    await expect.poll(() => lives(pid("student"))).toBe(false);
  });

  it("that cannot be started are refused", async () => {
    const engines = { teacher: await server("teacher") };
    vi.stubEnv("PATH", inFolder("nowhere"));
    const work = vi.fn();
    await expect(withEngines(engines, run(), work)).rejects.toThrow(
      /^engine teacher cannot be started: spawn sh ENOENT$/,
    );
    expect(work).not.toHaveBeenCalled();
    vi.unstubAllEnvs();
  });

  it("that are not ready are refused: ended, late, or another's", async () => {
    const never = vi.fn();
    const { ready } = await server("teacher");
    const dead = { teacher: { command: "echo no GPU here >&2; exit 3", ready, minutes: 30 } };
    await expect(withEngines(dead, run(), never)).rejects.toThrow(
      "engine teacher ended (exit code 3): no GPU here",
    );
    const late = { teacher: { command: "sleep 1000", ready, minutes: 1e-9 } };
    await expect(withEngines(late, run(), never)).rejects.toThrow(
      `engine teacher was not ready after 1e-9 min (${ready}: no answer): `,
    );
    const other = createServer((_, answer) => answer.end()).listen(Number(new URL(ready).port), "127.0.0.1");
    await once(other, "listening");
    try {
      const taken = { teacher: { command: "sleep 1000", ready, minutes: 30 } };
      await expect(withEngines(taken, run(), never)).rejects.toThrow(
        `something else answers at ${ready} already`,
      );
    } finally {
      other.close();
    }
    expect(never).not.toHaveBeenCalled();
  });
});

describe("engines of gcopd train", () => {
  let script: string;
  beforeAll(async () => {
    script = await buildCli("engines");
  });
  afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));

  it("end with it, even when it is killed; the run goes on with new ones to the same numbers", async () => {
    expect(await train(writeConfig(), "plain")).toMatchObject({ code: 0 });
    const config = writeConfig({ engines: { teacher: await server("teacher") } }, "served.json");
    const args = ["train", "--config", config, "--out", inFolder("out"), "--progress", "json"];
    const run = startCli(script, args, { at: { type: "step", signal: "SIGKILL" } });
    expect(await run.ended).toMatchObject({ signal: "SIGKILL" });
    const first = pid("teacher");
    await expect.poll(() => lives(first), { timeout: 60_000 }).toBe(false);
    const again = await train(config, "out");
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining("Engine teacher is ready after") });
    expect(pid("teacher")).not.toBe(first);
    await expect.poll(() => lives(pid("teacher"))).toBe(false);
    expect(log("out", "teacher")).toMatch(/^serves\nserves\n/);
    expect(weights("out")).toBe(weights("plain"));
  });

  it("leave what they said where they end before the run begins, which goes on there", async () => {
    const { ready, ...teacher } = await server("teacher");
    const dead = { ready, minutes: 30, command: "echo no GPU here >&2; exit 3" };
    const failed = await train(writeConfig({ engines: { teacher: dead } }), "out");
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringContaining(`no GPU here; see ${inFolder("out")}`),
    });
    expect(log("out", "teacher")).toBe("no GPU here\n");
    const mended = await train(writeConfig({ engines: { teacher: { ...teacher, ready } } }), "out");
    expect(mended).toMatchObject({ code: 0 });
    expect(log("out", "teacher")).toMatch(/^no GPU here\nserves\n/);
  });
});
