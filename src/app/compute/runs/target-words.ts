/** Targets in words. */
import type { Target } from "./worker-answers.ts";

/** What starts runs on a target, as people call it. */
export const SCHEDULER_NAMES: Readonly<Record<Target["scheduler"], string>> = {
  none: "a shell",
  slurm: "Slurm",
  ray: "Ray",
  kubernetes: "Kubernetes",
};

/** Where a target's runs are started: "login, Slurm". */
export function startedAt({ host = "this machine", scheduler }: Target): string {
  // kubectl runs here, and says nothing of where the cluster is.
  if (scheduler === "kubernetes") return SCHEDULER_NAMES.kubernetes;
  return scheduler === "none" ? host : `${host}, ${SCHEDULER_NAMES[scheduler]}`;
}
