/** Kubernetes, by kubectl of this machine: runs are pods, and their folders on a claim are reached through a door. */
import { InputError } from "../../core/errors.ts";
import type { Target } from "../../protocol/target.ts";
import { doorShell, type KubernetesTarget, kubernetesLauncher } from "./kubernetes.ts";
import { checkKubernetes } from "./kubernetes-check.ts";
import { gpuNote, type KeyProblem, type SchedulerKind } from "./scheduler-kind.ts";
import { quoted } from "./shell.ts";

export const kubernetes: SchedulerKind = {
  problems({ host, claim, image }) {
    const problems: KeyProblem[] = [];
    const problem = (key: string, message: string) => problems.push({ path: [key], message });
    if (host !== undefined)
      problem("host", "kubectl runs on this machine: expected none with scheduler kubernetes");
    if (claim === undefined) problem("claim", "expected the persistent volume claim that has scratch");
    if (image === undefined) problem("image", "expected the container image of the runs");
    return problems;
  },
  containers: (target) => doorShell(placeOf(target)),
  launcher: (_, target) => kubernetesLauncher(placeOf(target)),
  checkThere: gpuNote,
  checkHere: (target) => checkKubernetes(placeOf(target)),
  plan: () => null,
  byHand: ({ claim }) => ({ start: `sh, in a pod that mounts the claim ${claim},` }),
  sending: (folder, carried) => [
    `kubectl exec POD -- mkdir -p ${folder}/in`,
    ...carried.map(({ from, to }) => `kubectl cp ${quoted(from)} POD:${folder}/${to}`),
  ],
};

/** @throws InputError for a target whose file was not checked */
function placeOf({ image, claim, ...rest }: Target): KubernetesTarget {
  if (image === undefined || claim === undefined)
    throw new InputError("a target of Kubernetes has an image and a claim");
  return { ...rest, image, claim };
}
