/** Walks the way to a cluster once: kubectl, what it may do, the claim, and the Job as the server takes it. */
import { z } from "zod";
import type { CheckStep } from "../../protocol/target.ts";
import { type Cluster, kubectl, kubectlProblem } from "./kubectl.ts";
import { jobManifest, type KubernetesTarget, parsed } from "./kubernetes.ts";

/** What a launcher does there, in the words of `kubectl auth can-i`. */
const NEEDS = [
  ["create", "jobs"],
  ["delete", "jobs"],
  ["list", "jobs"],
  ["list", "pods"],
  ["create", "pods"],
  ["create", "pods", "--subresource=exec"],
  ["list", "events"],
] as const;

const claimSchema = z.looseObject({
  spec: z.looseObject({ accessModes: z.array(z.string()).optional() }),
  status: z.looseObject({ phase: z.string().optional() }),
});

/** Ends with the first step that is missing: the later ones would say the same. */
export async function checkKubernetes(place: KubernetesTarget): Promise<CheckStep[]> {
  const steps: CheckStep[] = [];
  for (const [step, check] of [
    ["kubectl", () => answers(place)],
    ["rights", () => rights(place)],
    ["claim", () => claim(place)],
    ["job", () => job(place)],
  ] as const) {
    const found = await check();
    steps.push({ step, ...found });
    if (found.verdict === "missing") break;
  }
  return steps;
}

type Found = Omit<CheckStep, "step">;
const ok = (text: string): Found => ({ verdict: "ok", text });
const missing = (text: string): Found => ({ verdict: "missing", text });

async function answers(place: Cluster): Promise<Found> {
  const version = await kubectl(place, ["version", "--client"]).catch(() => null);
  if (version === null)
    return missing("there is no kubectl on this machine: install it, with the kubeconfig of your cluster");
  const { code, err } = await kubectl(place, ["get", "pods", "--limit=1", "-o", "name"]);
  const said = Buffer.from(version.out).toString().split("\n")[0] ?? "";
  return code === 0 ? ok(`${said}; the cluster answers`) : missing(kubectlProblem(err));
}

async function rights(place: Cluster): Promise<Found> {
  const lacking: string[] = [];
  for (const words of NEEDS) {
    const { code } = await kubectl(place, ["auth", "can-i", ...words]);
    if (code !== 0) lacking.push(words.join(" ").replace(" --subresource=", "/"));
  }
  return lacking.length === 0
    ? ok("jobs, pods, exec and events")
    : missing(`you may not ${lacking.join(", ")} in the namespace: ask who runs the cluster`);
}

async function claim({ claim: name, ...place }: KubernetesTarget): Promise<Found> {
  const { code, out, err } = await kubectl(place, ["get", "pvc", name, "-o", "json"]);
  if (code !== 0)
    return /NotFound/.test(err)
      ? missing(
          `there is no persistent volume claim ${name} in the namespace: kubectl get pvc lists those there`,
        )
      : missing(kubectlProblem(err));
  const { spec, status } = parsed(claimSchema, Buffer.from(out).toString(), "a claim");
  const modes = spec.accessModes?.join(", ") ?? "no access mode";
  if (status.phase === "Lost") return missing(`the claim ${name} has lost its volume`);
  return modes.includes("ReadWriteMany")
    ? ok(`${name}, ${modes}`)
    : {
        verdict: "note",
        text: `${name} is ${modes}: door and run must be on one node (a nodeSelector in \`pod\`), or the run waits`,
      };
}

async function job(place: KubernetesTarget): Promise<Found> {
  const run = { id: "check", folder: `${place.scratch}/gcopd-runs/check`, number: 1 };
  const manifest = JSON.stringify(jobManifest(run, place));
  const { code, err } = await kubectl(place, ["create", "--dry-run=server", "-f", "-"], manifest);
  return code === 0 ? ok("the server takes it (dry run)") : missing(kubectlProblem(err));
}
