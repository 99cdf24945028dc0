/**
 * Runs as Jobs of Kubernetes, through the user's own `kubectl`. The run's folder is on a persistent volume claim; a door, a
 * small pod that mounts the same claim, has the shell in which it is reached.
 */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { sha256Hex } from "../../node/sha256.ts";
import {
  attemptFolder,
  COMMAND_FILE,
  folderLauncher,
  type Queued,
  type Scheduler,
} from "./folder-launcher.ts";
import { type Cluster, kubectl, kubectlProblem, podShell } from "./kubectl.ts";
import { eventsSchema, listSchema, podSchema, queuedByList, waitingReason } from "./kubernetes-state.ts";
import type { Attempt, RunLauncher } from "./launcher.ts";
import { type Answer, type Shell, script, Unreachable } from "./shell.ts";

export interface KubernetesTarget extends Cluster {
  /** Container image of the run and of the door: with sh, tar, Node and gcopd. */
  image: string;
  /** Persistent volume claim that has `scratch`. */
  claim: string;
  scratch: string;
  gpus?: number | undefined;
  /** Name of a GPU as the cluster counts it; `nvidia.com/gpu` when absent. */
  gpu_resource?: string | undefined;
  /** What else a run asks for, such as `cpu` and `memory`: as request and as limit. */
  resources?: Readonly<Record<string, string>> | undefined;
  /** Further fields of the pods' spec, as Kubernetes has them: nodeSelector, tolerations, securityContext … */
  pod?: Readonly<Record<string, unknown>> | undefined;
}

const CONTAINER = "gcopd";
const VOLUME = "gcopd-scratch";
/** Label of an attempt's Job and pod, with the Job's name. */
const LABEL = "gcopd/attempt";

const DOOR_SECONDS = 3600;
/** Longest wait for a door to begin; its image may still be pulled then. */
const DOOR_WAIT = "60s";
/** A Job that is over is taken away by the cluster after a day: the run's folder tells what happened. */
const KEPT_SECONDS = 86_400;

export const attemptName = ({ id, number }: Attempt): string => `gcopd-${id}-${number}`;

/** What pods of a target have in common. @param container what the container does */
function podSpec({ image, claim, scratch, pod = {} }: KubernetesTarget, container: object): object {
  const { volumes = [], ...more } = z.looseObject({ volumes: z.array(z.unknown()).optional() }).parse(pod);
  return {
    ...more,
    restartPolicy: "Never",
    containers: [
      { name: CONTAINER, image, ...container, volumeMounts: [{ name: VOLUME, mountPath: scratch }] },
    ],
    volumes: [...volumes, { name: VOLUME, persistentVolumeClaim: { claimName: claim } }],
  };
}

/** The Job of an attempt. It never tries again by itself: going on is a new attempt. */
export function jobManifest(run: Attempt, place: KubernetesTarget): object {
  const { gpus, gpu_resource: gpu = "nvidia.com/gpu", resources = {} } = place;
  const asked = { ...resources, ...(gpus !== undefined && { [gpu]: String(gpus) }) };
  const labels = { [LABEL]: attemptName(run) };
  const command = [
    "sh",
    `${run.folder}/run.sh`,
    "run",
    attemptFolder(run),
    "sh",
    `${run.folder}/${COMMAND_FILE}`,
  ];
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: attemptName(run), labels },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: {
        metadata: { labels },
        spec: podSpec(place, { command, resources: { requests: asked, limits: asked } }),
      },
    },
  };
}

/** The door's name changes with what it is made of. */
export function doorManifest(place: KubernetesTarget): { metadata: { name: string } } {
  const spec = { activeDeadlineSeconds: DOOR_SECONDS, terminationGracePeriodSeconds: 1 };
  const pod = { ...spec, ...podSpec(place, { command: ["sleep", String(DOOR_SECONDS)] }) };
  const name = `gcopd-door-${sha256Hex(JSON.stringify(pod)).slice(0, 10)}`;
  // It keeps no node from being taken out of use.
  const annotations = { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" };
  const manifest = { apiVersion: "v1", kind: "Pod", metadata: { name, annotations }, spec: pod };
  return manifest;
}

/** A shell in the door, which is made where there is none. */
export function doorShell(place: KubernetesTarget): Shell {
  const manifest = doorManifest(place);
  const { name } = manifest.metadata;
  const where = `pod ${name}`;
  const unreachable = (said: string) => new Unreachable(`${where}: ${said}`);
  const asked = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, out, err } = await kubectl(place, args, input);
    if (code !== 0 && !/AlreadyExists/.test(err)) throw unreachable(kubectlProblem(err));
    return Buffer.from(out).toString();
  };
  const door = async () => {
    const text = await asked(["get", "pod", name, "--ignore-not-found", "-o", "json"]);
    return text.trim() === "" ? null : parsed(podSchema, text, "a pod");
  };
  return podShell(where, place, CONTAINER, async () => {
    let pod = await door();
    const over = pod?.metadata.deletionTimestamp != null || /Succeeded|Failed/.test(pod?.status?.phase ?? "");
    if (over) await asked(["delete", "pod", name, "--ignore-not-found"]);
    if (pod === null || over) await asked(["create", "-f", "-"], JSON.stringify(manifest));
    if (over || pod?.status?.phase !== "Running") {
      const waited = await kubectl(place, [
        ...["wait", "--for=condition=Ready", `pod/${name}`, `--timeout=${DOOR_WAIT}`],
      ]);
      pod = await door();
      if (waited.code !== 0)
        throw unreachable(
          `the door to the claim does not run yet: ${(pod && waitingReason(pod)) ?? kubectlProblem(waited.err)}`,
        );
    }
    return name;
  });
}

/** Nothing is sent once it has begun, or the cluster has it: a name is taken once. */
const FREE = `mkdir -p "$1" || exit 72
[ ! -e "$1/claim" ] || exit 73`;

export function kubernetesLauncher(place: KubernetesTarget): RunLauncher {
  /** @throws InputError with what kubectl says */
  async function asked<T>(schema: z.ZodType<T>, args: readonly string[]): Promise<T> {
    const { code, out, err } = await kubectl(place, args);
    if (code !== 0) throw new InputError(kubectlProblem(err));
    return parsed(schema, Buffer.from(out).toString(), "a list");
  }

  async function queued(run: Attempt): Promise<Queued> {
    const list = await asked(listSchema, [
      "get",
      "jobs,pods",
      "-l",
      `${LABEL}=${attemptName(run)}`,
      "-o",
      "json",
    ]);
    const { object, ...state } = queuedByList(list);
    if (state.state !== "pending" || state.reason !== null || object === null) return state;
    const field = `involvedObject.name=${object}`;
    const { items } = await asked(eventsSchema, ["get", "events", "--field-selector", field, "-o", "json"]);
    const last = items.findLast(({ type }) => type === "Warning");
    return { ...state, reason: last === undefined ? null : `${last.reason}: ${last.message}` };
  }

  const jobs: Scheduler = {
    async submit(shell, run): Promise<Answer> {
      const free = await script(shell, FREE, attemptFolder(run));
      if (free.code !== 0) return { ...free, code: free.code === 73 ? 0 : free.code };
      const made = await kubectl(place, ["create", "-f", "-"], JSON.stringify(jobManifest(run, place)));
      if (made.code === 0 || /AlreadyExists/.test(made.err)) return { ...made, code: 0 };
      return { ...made, err: kubectlProblem(made.err) };
    },
    async ask(_, run) {
      try {
        return await queued(run);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        return { state: "silent", reason: `Kubernetes does not answer: ${error.message}`, expected: null };
      }
    },
    // A run that has begun sees in its folder what was asked; a Job is deleted only before.
    async remove(_, run) {
      const problem = (said: string) =>
        new InputError(
          `${attemptName(run)}: a run that has begun was asked, but one that waits is still in the queue: ${said}`,
        );
      let state: Queued;
      try {
        state = await queued(run);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        throw problem(error.message);
      }
      if (state.state !== "pending") return;
      const { code, err } = await kubectl(place, [
        ...["delete", "job", attemptName(run), "--ignore-not-found", "--wait=false"],
      ]);
      if (code !== 0) throw problem(kubectlProblem(err));
    },
  };
  return folderLauncher(doorShell(place), jobs);
}

/** @throws InputError for what kubectl did not print as expected */
export function parsed<T>(schema: z.ZodType<T>, text: string, what: string): T {
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {
    // The schema says what was expected.
  }
  const checked = schema.safeParse(json);
  if (checked.success) return checked.data;
  throw new InputError(`kubectl: expected ${what} as JSON: ${checked.error.issues[0]?.message}`);
}
