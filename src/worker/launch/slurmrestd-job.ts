/** A job as slurmrestd takes it: the options of `sbatch` in the words of its API's versions. */
import { attemptFolder } from "./folder-launcher.ts";
import type { Attempt } from "./launcher.ts";
import { jobName, type SlurmResources } from "./slurm.ts";

/** Versions of the API, newest first. A Slurm release has about three; 0.0.38 is that of 22.05. */
export const API_VERSIONS = ["v0.0.44", "v0.0.43", "v0.0.42", "v0.0.41", "v0.0.40", "v0.0.38"] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** Numbers of newer versions, where none is told apart from zero. */
const set = (number: number) => ({ set: true, infinite: false, number });

/** @param environment of the job, which has no other */
export function jobRequest(
  run: Attempt,
  { partition, account, gpus, time, sbatch = [] }: SlurmResources,
  version: ApiVersion,
  environment: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const old = version === "v0.0.38";
  const attempt = attemptFolder(run);
  const minutes = time === undefined ? null : minutesOf(time);
  const sized = (number: number) => (old ? number : set(number));
  return {
    name: jobName(run),
    comment: `gcopd:${run.id}`,
    current_working_directory: attempt,
    standard_output: `${attempt}/slurm.out`,
    requeue: false,
    environment: old ? environment : Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    open_mode: old ? "append" : ["APPEND"],
    ...(partition !== undefined && { partition }),
    ...(account !== undefined && { account }),
    ...(gpus !== undefined && (old ? { gres: `gpu:${gpus}` } : { tres_per_node: `gres/gpu:${gpus}` })),
    ...(minutes !== null && { time_limit: sized(minutes) }),
    // 0.0.38 knows no signal for the script itself.
    ...(!old && {
      kill_warning_flags: ["BATCH_JOB"],
      kill_warning_signal: "USR1",
      kill_warning_delay: set(120),
    }),
    ...Object.fromEntries(sbatch.flatMap((option) => (option === "" ? [] : [requested(option, sized)]))),
  };
}

/** Options of `sbatch` that have a word in every version. */
const WORDS: Readonly<Record<string, string>> = {
  "--qos": "qos",
  "--constraint": "constraints",
  "--reservation": "reservation",
};

function requested(option: string, sized: (number: number) => unknown): [string, unknown] {
  const { name, value } = namedOption(option);
  if (name === "--cpus-per-task") return ["cpus_per_task", Number(value)];
  if (name === "--mem") return ["memory_per_node", sized(mebibytes(value) ?? 0)];
  return [WORDS[name] ?? name, value];
}

function namedOption(option: string): { name: string; value: string } {
  const at = option.indexOf("=");
  return at < 0 ? { name: option, value: "" } : { name: option.slice(0, at), value: option.slice(at + 1) };
}

/** What is wrong with an option of `sbatch` over slurmrestd; null for one that it takes. */
export function optionProblem(option: string): string | null {
  const { name, value } = namedOption(option);
  const fits =
    name === "--cpus-per-task"
      ? /^\d+$/.test(value)
      : name === "--mem"
        ? mebibytes(value) !== null
        : Object.hasOwn(WORDS, name) && value !== "";
  const names = ["--mem", "--cpus-per-task", ...Object.keys(WORDS)].map((each) => `${each}=…`);
  return fits ? null : `${option} cannot be asked of slurmrestd: expected one of ${names.join(", ")}`;
}

/** Mebibytes of `64G`, as `--mem` takes it; null for what it does not take. */
function mebibytes(text: string): number | null {
  const [, number, unit = "M"] = /^(\d+)([KMGT])?B?$/i.exec(text) ?? [];
  if (number === undefined) return null;
  return Math.ceil(Number(number) * 1024 ** ("KMGT".indexOf(unit.toUpperCase()) - 1));
}

/** Minutes of a time limit as `--time` takes it, with seconds rounded up; null for another text. */
export function minutesOf(time: string): number | null {
  const [, days, rest = ""] = /^(?:(\d+)-)?(\d+(?::\d+){0,2})$/.exec(time) ?? [];
  if (rest === "") return null;
  const parts = rest.split(":").map(Number);
  // With days it begins with hours; else one number is minutes, two are minutes and seconds.
  const [hours = 0, minutes = 0, seconds = 0] =
    days !== undefined || parts.length === 3 ? parts : [0, ...parts];
  return Number(days ?? 0) * 1440 + hours * 60 + minutes + Math.ceil(seconds / 60);
}
