// Stands for kubectl and a cluster of one node, with the objects and messages of Kubernetes 1.32. $FAKE_KUBE is a folder:
// objects/ has what was created; a file `full`, `quota` or `pull` keeps pods waiting in that way, `doorless` those that are
// no Job's; `down` makes the server silent, `forbidden` makes it refuse; `cut` holds how many bytes the next exec prints.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = process.env.FAKE_KUBE ?? "";
const objects = join(root, "objects");
mkdirSync(objects, { recursive: true });
const has = (/** @type {string} */ name) => existsSync(join(root, name));

/** @param {string} message @returns {never} */
function fail(message, code = 1) {
  console.error(message);
  process.exit(code);
}

const all = process.argv.slice(2);
const split = all.indexOf("--");
const words = split < 0 ? all : all.slice(0, split);
const command = split < 0 ? [] : all.slice(split + 1);
/** @type {Record<string, string>} */
const options = {};
/** @type {string[]} */
const names = [];
for (const [at, word] of words.entries()) {
  const takesNext = (/** @type {string | undefined} */ name) =>
    /^(-[clof]|--field-selector)$/.test(name ?? "");
  if (takesNext(words[at - 1])) options[words[at - 1] ?? ""] = word;
  else if (word.startsWith("-")) options[word.split("=", 1)[0] ?? ""] = word.slice(word.indexOf("=") + 1);
  else names.push(word);
}
const [verb = "", ...rest] = names;

if (verb === "version") {
  console.log("Client Version: v1.32.4");
  process.exit(0);
}
if (options["--context"] !== undefined && options["--context"] !== "lab")
  fail(`error: context "${options["--context"]}" does not exist`);
if (has("down"))
  fail("The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?");
if (has("forbidden"))
  fail(
    'Error from server (Forbidden): pods is forbidden: User "me" cannot list resource "pods" in API group ""',
  );

const file = (/** @type {string} */ kind, /** @type {string} */ name) =>
  join(objects, `${kind}.${name}.json`);
const read = (/** @type {string} */ path) => JSON.parse(readFileSync(path, "utf8"));
/** Whole at once: several of these programs run at a time. @param {any} object */
function write(object) {
  const path = file(object.kind.toLowerCase(), object.metadata.name);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(object));
  renameSync(`${path}.${process.pid}`, path);
}
const list = (/** @type {string} */ kind) =>
  readdirSync(objects)
    .filter((name) => name.startsWith(`${kind}.`) && name.endsWith(".json"))
    .map((name) => read(join(objects, name)));

/** The pod as the node and the scheduler have it now. @param {any} pod */
function seen(pod) {
  const isDoor = pod.metadata.ownerReferences === undefined;
  const { phase } = pod.status;
  if (phase === "Pending") {
    const waits = isDoor ? has("doorless") : has("full") || has("pull");
    if (!waits) return isDoor ? running(pod) : started(pod);
    const pulls = has("pull") || isDoor;
    pod.status = {
      phase,
      conditions: pulls
        ? [{ type: "PodScheduled", status: "True" }]
        : [
            {
              type: "PodScheduled",
              status: "False",
              reason: "Unschedulable",
              message: "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
            },
          ],
      ...(pulls && {
        containerStatuses: [
          {
            state: { waiting: { reason: "ImagePullBackOff", message: 'Back-off pulling image "lab/gcopd"' } },
          },
        ],
      }),
    };
  } else if (phase === "Running" && !isDoor) {
    if (lives(pod.pid)) return pod;
    const said = join(objects, `${pod.metadata.name}.exit`);
    const exitCode = existsSync(said) ? Number(readFileSync(said, "utf8")) : 137;
    const terminated = {
      exitCode,
      reason: exitCode === 0 ? "Completed" : exitCode === 137 ? "OOMKilled" : "Error",
    };
    pod.status = {
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      containerStatuses: [{ state: { terminated } }],
    };
  }
  write(pod);
  return pod;
}

/** @param {any} pod */
function running(pod) {
  pod.status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  write(pod);
  return pod;
}

/** @param {any} pod */
function started(pod) {
  const said = join(objects, `${pod.metadata.name}.exit`);
  const script = `"$@"; echo $? > '${said}'`;
  const env = { ...process.env, FAKE_HOSTNAME: pod.metadata.name };
  const args = ["-c", script, "sh", ...pod.spec.containers[0].command];
  const child = spawn("sh", args, { detached: true, stdio: "ignore", env });
  child.unref();
  pod.pid = child.pid;
  return running(pod);
}

/** @param {number} pid */
function lives(pid) {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** The Job with what its controller would say, after its pod was looked at. @param {any} job */
function settled(job) {
  const path = file("pod", `${job.metadata.name}-x7k2p`);
  if (!existsSync(path)) {
    if (has("quota")) return job;
    const { template } = job.spec;
    const ownerReferences = [{ kind: "Job", name: job.metadata.name }];
    write({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...template.metadata, name: `${job.metadata.name}-x7k2p`, ownerReferences },
      spec: template.spec,
      status: { phase: "Pending" },
    });
  }
  const { phase } = seen(read(path)).status;
  if (phase === "Succeeded") job.status = { conditions: [{ type: "Complete", status: "True" }] };
  if (phase === "Failed")
    job.status = {
      conditions: [
        {
          type: "Failed",
          status: "True",
          reason: "BackoffLimitExceeded",
          message: "Job has reached the specified backoff limit",
        },
      ],
    };
  write(job);
  return job;
}

const print = (/** @type {object} */ object) => console.log(JSON.stringify(object));
const printList = (/** @type {object[]} */ items) =>
  print({ apiVersion: "v1", items, kind: "List", metadata: {} });

/** @type {Record<string, () => void | Promise<void>>} */
const VERBS = {
  async create() {
    const object = JSON.parse(await text(process.stdin));
    const { kind, metadata } = object;
    if (options["--dry-run"] === "server") return;
    if (existsSync(file(kind.toLowerCase(), metadata.name)))
      fail(
        `Error from server (AlreadyExists): error when creating "STDIN": ${kind.toLowerCase()}s "${metadata.name}" already exists`,
      );
    write({ ...object, status: kind === "Pod" ? { phase: "Pending" } : {} });
    if (kind === "Job") settled(read(file("job", metadata.name)));
    console.log(`${kind.toLowerCase()}/${metadata.name} created`);
  },
  get() {
    const [kind = "", name = ""] = rest;
    if (kind === "events") {
      const of = (options["--field-selector"] ?? "").split("=")[1];
      return printList(
        has("quota")
          ? [
              {
                type: "Warning",
                reason: "FailedCreate",
                message: `Error creating: pods "${of}-" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4`,
              },
            ]
          : [],
      );
    }
    if (kind === "jobs,pods") {
      const label = (options["-l"] ?? "").split("=")[1];
      const jobs = list("job")
        .filter(({ metadata }) => metadata.labels["gcopd/attempt"] === label)
        .map(settled);
      return printList([
        ...jobs,
        ...list("pod").filter(({ metadata }) => metadata.labels?.["gcopd/attempt"] === label),
      ]);
    }
    if (kind === "pvc") {
      if (name !== "work") fail(`Error from server (NotFound): persistentvolumeclaims "${name}" not found`);
      return print({
        kind: "PersistentVolumeClaim",
        spec: { accessModes: ["ReadWriteOnce"] },
        status: { phase: "Bound" },
      });
    }
    if (existsSync(file("pod", name))) print(seen(read(file("pod", name))));
  },
  wait() {
    const name = (rest[0] ?? "").replace("pod/", "");
    if (seen(read(file("pod", name))).status.phase !== "Running")
      fail(`error: timed out waiting for the condition on pods/${name}`);
  },
  delete() {
    const [kind = "", name = ""] = rest;
    rmSync(file(kind, name), { force: true });
    if (kind === "job") rmSync(file("pod", `${name}-x7k2p`), { force: true });
  },
  auth() {
    console.log(has("powerless") ? "no" : "yes");
    process.exit(has("powerless") ? 1 : 0);
  },
  async exec() {
    const [name = ""] = rest;
    if (!existsSync(file("pod", name))) fail(`Error from server (NotFound): pods "${name}" not found`);
    const cut = has("cut") ? Number(readFileSync(join(root, "cut"), "utf8")) : null;
    rmSync(join(root, "cut"), { force: true });
    const [program = "", ...args] = command;
    const env = { ...process.env, FAKE_HOSTNAME: "door" };
    const child = spawn(program, args, {
      stdio: ["inherit", cut === null ? "inherit" : "pipe", "inherit"],
      env,
    });
    if (cut !== null) {
      let left = cut;
      child.stdout?.on("data", (bytes) => {
        process.stdout.write(bytes.subarray(0, left));
        left = Math.max(0, left - bytes.length);
        if (left === 0) process.exit(0);
      });
    }
    const code = await new Promise((resolve) => child.on("close", resolve));
    if (code !== 0) fail(`command terminated with exit code ${code}`, code);
  },
};
const act = VERBS[verb];
if (act === undefined) fail(`error: unknown command "${verb}" for "kubectl"`);
await act();
