/** `gcopd launch` with a program in place of ssh, and a command line that is killed. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCli, startCli } from "../../../test/support/cli.ts";
import { until } from "../../../test/support/fake.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import {
  add,
  box,
  cliScript,
  fault,
  follow,
  inLaunchHome,
  launched,
} from "../../../test/support/launch-commands.ts";
import { inFolder, train, weights, weightsOf, writeConfig } from "../../../test/support/train-runs.ts";

inLaunchHome();

describe("gcopd launch", () => {
  it("trains on the target to the numbers of a run here; files go along, its output and results come back", async () => {
    await box("--gpus", "1", "--price-per-gpu-hour", "3600", "--model", `student=${modelFixture("tiny-a")}`);
    const config = writeConfig({ student: "target:student" });
    const sent = await runCli("launch", "--target", "box", "--config", config, "--", "--memory-limit", "4");
    expect(sent).toMatchObject({ code: 0, err: expect.stringContaining("sending 4 inputs with the run") });
    const id = sent.out.trim();
    const text = await follow(id);
    expect(text).toMatchObject({ code: 0 });
    expect(text.err).toContain("done after step 4");
    const json = await runCli("launch", "follow", id, "--every", "0", "--progress", "json");
    const folder = inFolder("scratch", "gcopd-runs", id);
    expect(json.out).toBe(readFileSync(join(folder, "attempt-1", "stdout.jsonl"), "utf8"));
    expect(readFileSync(join(folder, "command.sh"), "utf8")).toContain(
      "train --config config.json --out out --progress json --memory-limit 4\n",
    );

    const status = await runCli("launch", "status", id);
    expect(status.out).toMatch(
      /^box, attempt 1: done; \d+ s; 0\.\d\d GPU-hours, \d+\.00 at your price\n {2}done after step 4\n$/,
    );
    expect((await runCli("launch", "list")).out).toMatch(
      new RegExp(`\\| ${id} \\| +\\| box +\\| +1 \\| ended `),
    );

    expect(await runCli("launch", "fetch", id, "--out", inFolder("got"))).toMatchObject({ code: 0 });
    await train(writeConfig(), "here");
    expect(weightsOf(inFolder("got", "out", "student"))).toBe(weights("here"));
    expect(existsSync(inFolder("got", "out", "checkpoints"))).toBe(false);
    expect(await runCli("launch", "fetch", id, "--out", inFolder("got"))).toMatchObject({ code: 1 });
    expect(await runCli("launch", "resume", id)).toMatchObject({
      code: 1,
      err: `gcopd: run ${id} is done: there is nothing to resume\n`,
    });

    // Another laptop, which knows the target and the folder alone.
    vi.stubEnv("XDG_DATA_HOME", inFolder("other-laptop"));
    const [sentConfig, aside] = [join(folder, "config.json"), join(folder, "aside.json")];
    renameSync(sentConfig, aside);
    mkdirSync(sentConfig);
    expect(await runCli("launch", "import", folder, "--target", "box")).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${sentConfig} was not read: cat: `),
    });
    rmSync(sentConfig, { recursive: true });
    renameSync(aside, sentConfig);
    expect(await runCli("launch", "import", folder, "--target", "box")).toMatchObject({
      code: 0,
      out: `${id}\n`,
    });
    expect((await runCli("launch", "status", id)).out).toContain("box, attempt 1: done");
    expect(await runCli("launch", "import", folder, "--target", "box")).toMatchObject({ code: 1 });
    expect(await runCli("launch", "import", `${folder}/in`, "--target", "box")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no run in"),
    });
  });

  it.each([["none"], ["slurm"], ["ray"]])(
    "--plan measures on the target, keeps what it told, and leaves nothing there (%s)",
    async (scheduler) => {
      await box("--scheduler", scheduler, "--model", `student=${modelFixture("tiny-a")}`, "--gpus", "1");
      const config = writeConfig({ student: "target:student" });
      const plan = (...args: string[]) =>
        runCli("launch", "--target", "box", "--config", config, "--plan", ...args);
      const { code, out } = await plan();
      expect(code).toBe(0);
      const here = await runCli("train", "--config", writeConfig({}, "own.json"), "--plan");
      expect(JSON.parse(out)).toEqual(JSON.parse(here.out));
      expect(readdirSync(inFolder("scratch"))).toEqual([]);
      expect(readdirSync(inFolder("data", "gcopd"))).toEqual(["planned"]);
      expect(readdirSync(inFolder("data", "gcopd", "planned"))).toHaveLength(1);
      expect(JSON.parse((await plan("--probe")).out).time).toMatchObject({ low: expect.any(Number) });
      // A line of the command there.
      writeConfig({ student: "target:student", episode_ids: ["none"] });
      expect((await plan()).err).toContain(
        'gcopd: box: config.json, episode_ids: among the episodes is no "none"\n',
      );
      expect(readdirSync(inFolder("scratch"))).toEqual([]);
    },
  );

  /** A cluster of pods with a program in place of gcopd. */
  const pods = (gcopd: string, ...options: string[]) =>
    add(
      ...["box", "--scheduler", "kubernetes", "--image", "lab/gcopd:1", "--claim", "work"],
      ...["--gcopd", gcopd, ...options],
    );

  it("--plan in a pod is made by a shell there, and leaves nothing", async () => {
    const model = ["--model", `student=${modelFixture("tiny-a")}`];
    await pods(`'${process.execPath}' '${cliScript()}'`, ...model);
    const config = writeConfig({ student: "target:student" });
    const { code, out } = await runCli("launch", "--target", "box", "--config", config, "--plan");
    expect(code).toBe(0);
    const here = await runCli("train", "--config", writeConfig({}, "own.json"), "--plan");
    expect(JSON.parse(out)).toEqual(JSON.parse(here.out));
    expect(readdirSync(inFolder("scratch"))).toEqual([]);
  });

  const startPlan = () =>
    startCli(cliScript(), ["launch", "--target", "box", "--config", writeConfig(), "--plan"]);

  it("--plan that ignores the request to end is killed there", async () => {
    const [stuck, pid] = [inFolder("stuck.sh"), inFolder("pid")];
    writeFileSync(
      stuck,
      `trap '' TERM\necho $$ > ${pid}.part && mv ${pid}.part ${pid}\nwhile :; do sleep 1; done\n`,
    );
    await add("box", "--host", "box", "--gcopd", `sh ${stuck}`);
    const planning = startPlan();
    await until(() => expect(existsSync(pid)).toBe(true));
    planning.child.kill("SIGINT");
    expect(await planning.ended).toMatchObject({ code: 130 });
    expect(existsSync(join("/proc", readFileSync(pid, "utf8").trim()))).toBe(false);
    expect(readdirSync(inFolder("scratch"))).toEqual([]);
  });

  it.each([["none"], ["slurm"], ["ray"], ["kubernetes"]])(
    "--plan that is interrupted ends what runs for it there, and leaves nothing (%s)",
    async (scheduler) => {
      const [stuck, pid] = [inFolder("stuck.sh"), inFolder("pid")];
      writeFileSync(stuck, `echo $$ > ${pid}.part && mv ${pid}.part ${pid}\nexec sleep 600\n`);
      if (scheduler === "kubernetes") await pods(`sh ${stuck}`);
      else
        await add("box", "--host", "box", "--gcopd", `sh ${stuck}`, "--scheduler", scheduler, "--gpus", "1");
      const planning = startPlan();
      await until(() => expect(existsSync(pid)).toBe(true));
      const running = () => existsSync(join("/proc", readFileSync(pid, "utf8").trim()));
      expect(running()).toBe(true);
      planning.child.kill("SIGINT");
      expect(await planning.ended).toMatchObject({ code: 130 });
      expect(planning.output.err).toContain("gcopd: interrupted: nothing was written\n");
      await until(() => expect([running(), readdirSync(inFolder("scratch"))]).toEqual([false, []]));
    },
  );

  it("--plan that is killed while it waits in the queue leaves no job there", async () => {
    writeFileSync(inFolder("slurm", "full"), "");
    await box("--scheduler", "slurm", "--gpus", "1");
    const planning = startPlan();
    const state = inFolder("slurm", "jobs", "1", "state");
    await until(() => expect(readFileSync(state, "utf8")).toBe("PENDING\n"));
    planning.child.kill("SIGKILL");
    await until(() => expect(readFileSync(state, "utf8")).toBe("CANCELLED by 0\n"));
    await until(() => expect(readdirSync(inFolder("scratch"))).toEqual([]));
  });

  it.each([["none"], ["slurm"]])(
    "stops after a step and goes on to the same weights (%s)",
    async (scheduler) => {
      await box("--scheduler", scheduler);
      const id = (await runCli("launch", "--target", "box", "--config", writeConfig())).out.trim();
      await runCli("launch", "stop", id);
      const stopped = await follow(id);
      // It may have been done before it heard of it.
      expect([0, 143]).toContain(stopped.code);
      if (stopped.code === 143) {
        expect((await runCli("launch", "status", id)).out).toContain(
          "box, attempt 1: stopped (exit code 143)",
        );
        expect(await runCli("launch", "resume", id)).toMatchObject({ code: 0 });
        expect(await follow(id)).toMatchObject({ code: 0 });
      }
      await train(writeConfig(), "here");
      expect(weightsOf(inFolder("scratch", "gcopd-runs", id, "out", "student"))).toBe(weights("here"));
    },
  );

  /** Connections of a resume elsewhere: the state, the files from there, what is there, the files to it, the submission. */
  it.each<[string, string | null]>([
    ["whole", null],
    ["killed as its files come", "at:2:kill-after"],
    ["killed before they are sent", "at:4:kill-before"],
    ["killed after they were sent", "at:4:kill-after"],
    ["killed as it is submitted", "at:5:kill-after"],
  ])("goes on at another target to the same weights, %s", async (_, kill) => {
    const model = modelFixture("tiny-a");
    await box("--model", `student=${model}`, "--gpus", "1");
    mkdirSync(inFolder("elsewhere"));
    await runCli(
      ...["target", "add", "other", "--scratch", inFolder("elsewhere"), "--host", "other"],
      ...["--gcopd", `'${process.execPath}' '${cliScript()}'`, "--model", `student=${model}`],
    );
    const config = writeConfig({ student: "target:student" });
    // Ended by its budget before the first step, whatever the machine's speed.
    const id = (
      await runCli("launch", "--target", "box", "--config", config, "--", "--hours", "1e-7")
    ).out.trim();
    expect(await follow(id)).toMatchObject({
      code: 3,
      err: expect.stringContaining("ended by its budget; gcopd launch resume with a larger one continues it"),
    });
    const resume = ["launch", "resume", id, "--target", "other", "--", "--hours", "1000"];
    if (kill !== null) {
      rmSync(inFolder("ssh", "calls"));
      fault(kill);
      expect(await startCli(cliScript(), resume).ended).toMatchObject({ signal: "SIGKILL" });
      rmSync(inFolder("ssh", "fault"), { force: true });
    }
    const again = await runCli(...resume);
    expect(again.code === 0 || /is (running|done|queued)/.test(again.err)).toBe(true);
    expect(await follow(id)).toMatchObject({ code: 0 });
    expect((await runCli("launch", "status", id)).out).toContain("other, attempt 2: done");
    await train(writeConfig(), "here");
    const folders = readdirSync(inFolder("elsewhere", "gcopd-runs"));
    expect(folders).toHaveLength(1);
    const there = inFolder("elsewhere", "gcopd-runs", folders[0] ?? "");
    expect(weightsOf(join(there, "out", "student"))).toBe(weights("here"));
    expect(readdirSync(there).filter((name) => name.startsWith("attempt-"))).toEqual([
      "attempt-1",
      "attempt-2",
    ]);
    expect(
      readdirSync(inFolder("scratch", "gcopd-runs", id)).filter((name) => /^attempt-/.test(name)),
    ).toEqual(["attempt-1"]);
    const starts = readFileSync(join(there, "attempt-2", "stdout.jsonl"), "utf8").match(/"type":"start"/g);
    expect(starts).toHaveLength(1);
  });

  it("does not leave a target where the run may still live, and takes more options in its place", async () => {
    await box();
    await add("other");
    const id = (
      await runCli("launch", "--target", "box", "--config", writeConfig(), "--", "--hours", "1e-7")
    ).out.trim();
    await follow(id);
    fault("unreachable");
    expect(await runCli("launch", "resume", id, "--target", "other")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^gcopd: run \S+ may still be running on box, which did not answer \(.*\): resume it elsewhere once box answers\n$/,
      ),
    });
    expect(await runCli("launch", "resume", id, "--", "--out", "x")).toMatchObject({ code: 2 });
    expect(await runCli("launch", "resume", id, "--", "--hours", "1000")).toMatchObject({ code: 0 });
    expect(await follow(id)).toMatchObject({ code: 0 });
    expect(readFileSync(inFolder("scratch", "gcopd-runs", id, "command.sh"), "utf8")).toMatch(
      /--hours 1e-7 --hours 1000\n$/,
    );
  });

  it("says what is wrong before anything is sent", async () => {
    await box();
    const launch = (config: string) => runCli("launch", "--target", "box", "--config", config);
    expect(await runCli("launch")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--target is missing"),
    });
    expect(await runCli("launch", "--target", "box")).toMatchObject({ code: 2 });
    const config = writeConfig();
    expect(await runCli("launch", "--target", "box", "--config", config, "--", "--out=x")).toMatchObject({
      code: 2,
    });
    for (const [options, said] of [
      [["--cadrs", "2"], "unknown option '--cadrs'"],
      [["--cards", "many"], "Expected how many cards"],
      [["--device", "--out"], "--out cannot follow --"],
      [["--memory-limit", "4", "out"], "too many arguments"],
    ] as const)
      expect(await runCli("launch", "--target", "box", "--config", config, "--", ...options)).toMatchObject({
        code: 2,
        err: expect.stringContaining(said),
      });
    for (const [changes, line] of [
      [
        { library: "none.jsonl" },
        `library: ${inFolder("none.jsonl")} is not on this machine; write target:/PATH for a path on the target`,
      ],
      [{ teacher: "/none/there" }, "teacher: /none/there is neither here nor on target box"],
      [
        { teacher: "target:big" },
        'teacher: the target has no model "big": expected an absolute path or one of its models',
      ],
      [{ batch_size: 0 }, "batch_size: "],
    ] as const)
      expect((await launch(writeConfig(changes))).err).toContain(`gcopd: ${config}, ${line}`);
    expect(existsSync(inFolder("data", "gcopd", "launched"))).toBe(false);
    expect(await runCli("launch", "status", "../x")).toMatchObject({
      code: 1,
      err: expect.stringContaining('no run "../x" was launched from here'),
    });
  });

  it("killed while the files are packed, a run is listed, and resume says what to do", async () => {
    await box();
    mkdirSync(inFolder("bin"));
    writeFileSync(inFolder("bin", "tar"), "#!/bin/sh\nkill -9 $PPID\n");
    chmodSync(inFolder("bin", "tar"), 0o755);
    const path = process.env.PATH;
    vi.stubEnv("PATH", [inFolder("bin"), path].join(delimiter));
    const { ended } = startCli(cliScript(), ["launch", "--target", "box", "--config", writeConfig()]);
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    vi.stubEnv("PATH", path);
    const [id = ""] = launched();
    expect((await runCli("launch", "list")).out).toMatch(
      new RegExp(`\\| ${id} \\| +\\| box .*not submitted`),
    );
    expect(await runCli("launch", "resume", id)).toMatchObject({
      code: 1,
      err: `gcopd: run ${id} cannot be submitted: its files are neither here nor on box; launch its config again\n`,
    });
    expect(existsSync(inFolder("scratch", "gcopd-runs", id))).toBe(false);
  });

  it("follows to the last byte, with or without an end of its line", async () => {
    await add("here", "--gcopd", "printf '{\"a\":1}\\nlast' #");
    const launch = ["launch", "--target", "here", "--config", writeConfig()];
    expect(await runCli(...launch, "--name", " ")).toMatchObject({
      code: 1,
      err: expect.stringContaining("title: "),
    });
    const id = (await runCli(...launch, "--name", "two lines")).out.trim();
    expect((await runCli("launch", "list")).out).toMatch(new RegExp(`\\| ${id} \\| two lines +\\| here`));
    expect((await runCli("launch", "rename", id, "both lines")).code).toBe(0);
    expect(JSON.parse((await runCli("launch", "status", id, "--json")).out).run.title).toBe("both lines");
    const { out } = await runCli("launch", "follow", id, "--every", "0", "--progress", "json");
    expect(out).toBe('{"a":1}\nlast\n');
  });

  it("imports no folder that says it is another", async () => {
    await box();
    const folder = inFolder("scratch", "theirs");
    mkdirSync(folder);
    const run = { id: "theirs", version: "1", command: "x", config_sha256: "x", format: "gcopd.run.v1" };
    for (const [named, said] of [
      ["/home/me", 'folder: expected the folder that is imported, got "/home/me"'],
      [
        "/tmp/a\nEND OF SCRIPT\nrm x",
        'folder: expected an absolute path of plain characters, received "/tmp/a\\nEND OF SCRIPT\\nrm x"',
      ],
    ]) {
      writeFileSync(
        join(folder, "run.json"),
        JSON.stringify({ ...run, created_at: new Date(0).toISOString(), folder: named }),
      );
      expect(await runCli("launch", "import", folder, "--target", "box")).toMatchObject({
        code: 1,
        err: `gcopd: box:${folder}/run.json, ${said}\n`,
      });
    }
    expect(existsSync(inFolder("data", "gcopd", "launched"))).toBe(false);
  });

  it("a target that is not reached leaves the run as it was last seen", async () => {
    await box();
    const id = (await runCli("launch", "--target", "box", "--config", writeConfig())).out.trim();
    fault("unreachable");
    expect((await runCli("launch", "status", id)).out).toMatch(
      /^box, attempt 1: not reached; box: it does not answer[^;]*; no word from it since it was submitted\n$/,
    );
    await runCli("launch", "status", id);
    fault("unreachable");
    expect((await runCli("launch", "status", id)).out).toMatch(
      /not reached since \S+Z, when it was (running|ended)\n$/,
    );
    fault("unreachable");
    expect(await follow(id)).toMatchObject({
      code: 0,
      // Its output comes first where it ended before.
      err: expect.stringMatching(/not reached; .*\n.*: (running|done)/s),
    });
  });

  /** Connections of a launch: the files, then the submission. */
  describe.each([["none"], ["slurm"]])("killed with SIGKILL, with %s as its scheduler", (scheduler) => {
    it.each([
      [1, "kill-before", "not submitted"],
      [1, "kill-after", "not submitted"],
      [2, "kill-before", "not submitted"],
      [2, "kill-after", "not submitted"],
    ])("at connection %i, %s: resumed, it begins once", async (call, how, listed) => {
      await box("--scheduler", scheduler);
      fault(`at:${call}:${how}`);
      const { ended } = startCli(cliScript(), ["launch", "--target", "box", "--config", writeConfig()]);
      expect(await ended).toMatchObject({ signal: "SIGKILL" });
      const [id = "", ...others] = launched();
      expect(others).toEqual([]);
      expect((await runCli("launch", "list")).out).toContain(listed);
      rmSync(inFolder("ssh", "fault"));
      const resumed = await runCli("launch", "resume", id);
      // It runs, or is done, where the submission was the last thing that happened.
      expect(
        resumed.code === 0 || /is (running|done|queued): there is nothing to resume/.test(resumed.err),
      ).toBe(true);
      expect(await follow(id)).toMatchObject({ code: 0 });
      const folder = inFolder("scratch", "gcopd-runs", id);
      expect(readdirSync(folder).filter((name) => name.startsWith("attempt-"))).toEqual(["attempt-1"]);
      const starts = readFileSync(join(folder, "attempt-1", "stdout.jsonl"), "utf8").match(/"type":"start"/g);
      expect(starts).toHaveLength(1);
    });
  });
});
