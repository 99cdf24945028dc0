/** Targets in words. */
import type { Target } from "./worker-answers.ts";

/** What starts runs on a target, as people call it. */
export const SCHEDULERS: Readonly<Record<Target["scheduler"], string>> = {
  none: "a shell",
  slurm: "Slurm",
  ray: "Ray",
  kubernetes: "Kubernetes",
};

/** Where a target's runs are started: "login, Slurm". */
export function startedAt({ host = "this machine", scheduler }: Target): string {
  // kubectl runs here, and says nothing of where the cluster is.
  if (scheduler === "kubernetes") return SCHEDULERS.kubernetes;
  return scheduler === "none" ? host : `${host}, ${SCHEDULERS[scheduler]}`;
}
