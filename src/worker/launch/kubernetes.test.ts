/** Kubernetes through kubectl: Jobs, the pods that open a run's folder, and what is refused. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CONTRACT, type Place, TestRun } from "../../../test/support/launch-contract.ts";
import { at, inLaunchFolders, START, setFake } from "../../../test/support/launch-places.ts";
import { jobManifest, kubernetesLauncher } from "./kubernetes.ts";

inLaunchFolders();

describe("kubernetes", () => {
  const cluster = () => ({ image: "lab/gcopd:1", claim: "work", scratch: at(), namespace: "lab", gpus: 1 });
  const place = (): Place => ({ launcher: kubernetesLauncher(cluster()), root: at() });
  const kube = (name: string, there = true) => setFake("kube", name, there);
  const object = (name: string) => at("kube", "objects", `${name}.json`);
  const doors = () => readdirSync(at("kube", "objects")).filter((name) => name.startsWith("pod.gcopd-door-"));

  it.each(CONTRACT)("$name", ({ check }) => check(place()));

  it.each([
    ["full", "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."],
    ["pull", 'ImagePullBackOff: Back-off pulling image "lab/gcopd"'],
    ["quota", expect.stringMatching(/^FailedCreate: Error creating: .* exceeded quota: gpus/)],
  ])("tells why a job waits: %s; a stop takes it out of the queue", async (why, reason) => {
    kube(why);
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.submit();
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "queued", reason });
    await run.place.launcher.stop(run);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never", asked: "stop" });
    expect(existsSync(object(`job.gcopd-${run.id}-1`))).toBe(false);
    expect(run.begun()).toEqual([]);
  });

  it("a run that has begun keeps its Job, whatever is asked of it", async () => {
    const run = new TestRun(place(), 9);
    await run.submit();
    await run.printed('"start"');
    await run.place.launcher.stop(run);
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 143, asked: "stop" });
    expect(existsSync(object(`job.gcopd-${run.id}-1`))).toBe(true);
  });

  it("a cluster that is silent, or that refuses, says nothing of a run", async () => {
    const run = new TestRun(place(), 1);
    await run.submit();
    for (const [flag, what] of [
      ["down", /the cluster does not answer: check the network, the VPN/],
      ["forbidden", /the cluster does not allow it: ask who runs it/],
    ] as const) {
      kube(flag);
      expect(await run.place.launcher.status(run, START)).toMatchObject({
        state: "unreachable",
        reason: expect.stringMatching(what),
      });
      kube(flag, false);
    }
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 0 });
    expect(run.begun()).toHaveLength(1);
  });

  it("a door that is over is made again, one that does not begin says why", async () => {
    const run = new TestRun(place(), 1);
    await run.put();
    const [door = ""] = doors();
    const path = at("kube", "objects", door);
    const over = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...over, status: { phase: "Failed", reason: "DeadlineExceeded" } }));
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    expect(doors()).toEqual([door]);
    rmSync(path);
    kube("doorless");
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringMatching(/the door to the claim does not run yet: ImagePullBackOff/),
    });
  });

  it.each([0, 40, 120])("an answer that ends after %i bytes, with exit code 0, is none", async (bytes) => {
    const run = new TestRun(place(), 1);
    run.go(1);
    await run.submit();
    await run.ended();
    writeFileSync(at("kube", "cut"), String(bytes));
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringContaining("the answer broke off"),
    });
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "ended", code: 0 });
  });

  it("the Job runs the run's script once, with what the target asks for", () => {
    const run = { id: "a", folder: "/work/gcopd-runs/a", number: 2 };
    const pod = { nodeSelector: { gpu: "h20" }, volumes: [{ name: "shm", emptyDir: { medium: "Memory" } }] };
    const target = { ...cluster(), scratch: "/work", gpus: 2, resources: { memory: "64Gi" }, pod };
    const asked = { memory: "64Gi", "nvidia.com/gpu": "2" };
    expect(jobManifest(run, target)).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "gcopd-a-2", labels: { "gcopd/attempt": "gcopd-a-2" } },
      spec: {
        backoffLimit: 0,
        ttlSecondsAfterFinished: 86_400,
        template: {
          metadata: { labels: { "gcopd/attempt": "gcopd-a-2" } },
          spec: {
            nodeSelector: { gpu: "h20" },
            restartPolicy: "Never",
            containers: [
              {
                name: "gcopd",
                image: "lab/gcopd:1",
                command: [
                  ...["sh", "/work/gcopd-runs/a/run.sh", "run", "/work/gcopd-runs/a/attempt-2"],
                  ...["sh", "/work/gcopd-runs/a/command.sh"],
                ],
                resources: { requests: asked, limits: asked },
                volumeMounts: [{ name: "gcopd-scratch", mountPath: "/work" }],
              },
            ],
            volumes: [
              { name: "shm", emptyDir: { medium: "Memory" } },
              { name: "gcopd-scratch", persistentVolumeClaim: { claimName: "work" } },
            ],
          },
        },
      },
    });
  });
});
