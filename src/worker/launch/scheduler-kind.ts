/** What sets targets with one scheduler apart: one of these per scheduler, in the list of `target.ts`. */
import type { CheckStep, Target } from "../../protocol/target.ts";
import type { Carried, RunLauncher } from "./launcher.ts";
import type { Shell } from "./shell.ts";

export interface KeyProblem {
  path: (string | number)[];
  message: string;
}

export interface SchedulerKind {
  /** Keys of a target that do not go together. */
  problems?(target: Target): KeyProblem[];
  /** Where runs are in containers of the target's image, on no host: the shell in which their folders are reached. */
  containers?(target: Target): Shell;
  launcher(shell: Shell, target: Target): RunLauncher;
  /** Shell text of `gcopd target check`: it may `say STEP ok|note|missing TEXT`, and `last` is the last line of its input. */
  checkThere(target: Target): string;
  /** Steps of the check that are asked from this machine. */
  checkHere?(target: Target): Promise<CheckStep[]>;
  /**
   * Shell text that runs `$1/plan.sh`, the present folder's, and waits for its end, and text that ends what runs elsewhere
   * for it; null where the shell cannot wait.
   */
  plan(target: Target): { run: string; end: string } | null;
  /** A script that is started by hand: its first comments, and the command that starts it. */
  byHand(target: Target): { head?: string[]; start: string };
  /** Commands that bring inputs into a run's folder by hand, where no host has it. */
  sending?(folder: string, carried: readonly Carried[]): string[];
}

/** A plan's name at a scheduler, in the text of `plan`: that of its folder. */
export const PLAN_ID = `"gcopd-\${1##*/}"`;

/** What a check says where the scheduler gives out GPUs and none is requested. */
export const gpuNote = ({ gpus }: Target): string =>
  gpus === undefined ? 'say gpu note "no GPU is requested (--gpus): a run will use the CPU of its node"' : "";
