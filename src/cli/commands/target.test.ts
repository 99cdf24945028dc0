/** `gcopd target`: what its file keeps, and what `check` finds. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { runCli } from "../../../test/support/cli.ts";
import { fakeToken, startFakeSlurmRest } from "../../../test/support/fake-slurmrestd.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { add, box, fault, inLaunchHome } from "../../../test/support/launch-commands.ts";
import { inFolder } from "../../../test/support/train-runs.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { targetFields } from "../../protocol/target.ts";

inLaunchHome();

describe("gcopd target", () => {
  it("keeps targets in a file that only its owner reads, and names what does not fit", async () => {
    const file = inFolder("config", "gcopd", "targets.json");
    expect(await runCli("target", "check", "c")).toMatchObject({
      code: 1,
      err: `gcopd: ${file}: no target "c"; there are none yet: add one with \`gcopd target add\`\n`,
    });
    expect(await box("--model", "qwen=/models/qwen", "--gpus", "2")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      box: { host: "box", scheduler: "none", gpus: 2, models: { qwen: "/models/qwen" } },
    });
    expect((await runCli("target", "list")).out).toContain("| box    | box  ");
    expect(await box()).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${file}, box: already exists`),
    });
    expect(await box("--replace")).toMatchObject({ code: 0 });
    expect(await add("b", "--host", "-oProxyCommand=x")).toMatchObject({
      code: 1,
      err: 'gcopd: host: expected one plain word, received "-oProxyCommand=x"\n',
    });
    expect(await runCli("target", "add", "b", "--scratch", "relative")).toMatchObject({
      code: 1,
      err: 'gcopd: scratch: expected an absolute path of plain characters, received "relative"\n',
    });
    expect(await add("b", "--partition", "gpu")).toMatchObject({
      code: 1,
      err: "gcopd: partition: counts only with scheduler slurm, which is missing\n",
    });
    expect(await add("b", "--user", "me")).toMatchObject({
      code: 1,
      err: "gcopd: user: counts only with host, which is missing\n",
    });
    expect(await runCli("target", "check", "c")).toMatchObject({
      code: 1,
      err: `gcopd: ${file}: no target "c"; expected box\n`,
    });
    writeFileSync(file, '{ "box": { "scratch": "/s", "password": "x" } }');
    expect(await runCli("target", "list")).toMatchObject({
      code: 1,
      err: expect.stringContaining("password"),
    });
  });

  it("check says for each step what was found or what to do", async () => {
    await box("--scheduler", "slurm", "--gpus", "1", "--model", `a=${modelFixture("tiny-a")}`);
    const good = await runCli("target", "check", "box", "--json");
    expect(good).toMatchObject({ code: 0 });
    const steps = z.array(z.object({ step: z.string(), verdict: z.string() })).parse(JSON.parse(good.out));
    const verdicts = Object.fromEntries(steps.map(({ step, verdict }) => [step, verdict]));
    expect(verdicts).toMatchObject({
      ...{ shell: "ok", tar: "ok", scratch: "ok", node: "ok", gcopd: "ok" },
      ...{ sbatch: "ok", job: "ok", "model a": "ok" },
    });

    await box(
      "--replace",
      "--gcopd",
      "no-such-gcopd",
      "--model",
      "a=/none",
      "--module",
      "cuda",
      "--image",
      "/none.sif",
    );
    const bad = await runCli("target", "check", "box");
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.err).toContain("missing: ");
    for (const [step, what] of [
      ["modules", "see module avail"],
      ["image", "/none.sif is not there"],
      ["gcopd", "no-such-gcopd does not run: install gcopd there"],
      ["model a", "there is no config.json in /none"],
    ])
      expect(bad.out).toMatch(new RegExp(`\\| ${step} +\\| missing \\| [^\\n]*${what}`));

    // The run itself is started by `exec`, which takes no assignment before a command.
    await add("env", "--gcopd", "A=b true");
    expect((await runCli("target", "check", "env")).out).toMatch(/\| gcopd +\| missing \|/);

    const cluster = (...options: string[]) =>
      add("lab", "--replace", "--scheduler", "kubernetes", "--image", "lab/gcopd:1", ...options);
    expect((await cluster()).err).toContain("claim: missing; expected the persistent volume claim");
    expect((await cluster("--claim", "work", "--pod", "{")).code).toBe(1);
    await cluster("--claim", "none");
    expect((await runCli("target", "check", "lab")).out).toMatch(
      /\| claim +\| missing \| there is no persistent volume claim none/,
    );
    await cluster("--claim", "work", "--resource", "memory=64Gi", "--pod", '{"nodeSelector":{"gpu":"h20"}}');
    const inPod = await runCli("target", "check", "lab");
    for (const step of ["kubectl", "rights", "job", "shell", "tar", "scratch"])
      expect(inPod.out).toMatch(new RegExp(`\\| ${step} +\\| ok `));
    expect(inPod.out).toMatch(
      /\| claim +\| note +\| work is ReadWriteOnce: door and run must be on one node/,
    );
    writeFileSync(inFolder("kube", "powerless"), "");
    expect((await runCli("target", "check", "lab")).out).toMatch(
      /\| rights +\| missing \| you may not create jobs,/,
    );
    writeFileSync(inFolder("kube", "down"), "");
    expect((await runCli("target", "check", "lab")).out).toMatch(
      /\| kubectl +\| missing \| the cluster does not answer/,
    );

    mkdirSync(inFolder("bin"));
    writeFileSync(inFolder("bin", "node"), "#!/bin/sh\necho v20.5.1\n");
    chmodSync(inFolder("bin", "node"), 0o755);
    vi.stubEnv("PATH", [inFolder("bin"), process.env.PATH].join(delimiter));
    expect((await runCli("target", "check", "env")).out).toContain("v20.5.1: gcopd needs Node 20.11");

    await add("cluster", "--scheduler", "ray", "--gpus", "1");
    expect((await runCli("target", "check", "cluster")).out).toMatch(/\| ray +\| ok /);
    writeFileSync(inFolder("ray", "down"), "");
    expect((await runCli("target", "check", "cluster")).out).toMatch(
      /\| ray +\| missing \| ConnectionError: Failed to connect to Ray .*: check that the cluster runs, and ray_address/,
    );

    const rest = await startFakeSlurmRest(inFolder("slurm"));
    await add("rest", "--scheduler", "slurm", "--slurmrestd", rest.url, "--partition", "cpu", "--time", "30");
    expect((await runCli("target", "check", "rest")).out).toMatch(
      /\| slurmrestd +\| missing \| SLURM_JWT is not set, .*: export the token/,
    );
    vi.stubEnv("SLURM_JWT", fakeToken("me"));
    const refused = await runCli("target", "check", "rest");
    expect(refused.out).toMatch(/\| slurmrestd +\| ok +\| \S+ answers, API v0.0.42, as me/);
    expect(refused.out).toMatch(/\| partition +\| missing \| .*Invalid partition name specified/);
    expect(refused.out).not.toContain(fakeToken("me"));
    await rest.close();
    expect(
      await add("rest", "--replace", "--scheduler", "slurm", "--slurmrestd", rest.url, "--sbatch=--nice=9"),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining("--nice=9 cannot be asked of slurmrestd: expected one of --mem=…"),
    });

    fault("unknown-key");
    const unreached = await runCli("target", "check", "box");
    expect(unreached.out).toContain("connect once by hand (ssh box)");
    expect(unreached.err).toBe("gcopd: target box: missing: shell\n");
  });
});

it("takes every key of a target as an option", async () => {
  const { out } = await runCli("target", "add", "--help");
  const options = [...out.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name]) => name!.replaceAll("-", "_"));
  for (const key of Object.keys(targetFields.shape))
    expect(options.includes(key) || options.includes(key.replace(/s$/, "")), key).toBe(true);
});

it("has the version that check compares", async () => {
  expect((await runCli("--version")).out).toBe(`${PACKAGE.version}\n`);
});
