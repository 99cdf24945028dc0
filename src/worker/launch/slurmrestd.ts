/**
 * Runs as jobs of Slurm over slurmrestd, for clusters where a user has no `sbatch` at hand. It is asked from this machine,
 * where the token is; the run's folder is reached by the target's shell, as ever.
 */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { CheckStep } from "../../protocol/target.ts";
import { attemptFolder, folderLauncher, type Queued, type Scheduler } from "./folder-launcher.ts";
import type { Attempt, RunLauncher } from "./launcher.ts";
import { type Answer, MARK, type Shell, script, Unreachable } from "./shell.ts";
import { batchScript, jobName, queuedState, type SlurmResources, writeScript } from "./slurm.ts";
import { SlurmRest } from "./slurmrestd-client.ts";
import { jobRequest } from "./slurmrestd-job.ts";

/** A number, or an object that holds one: the two ways in which versions write it. */
const numberSchema = z.union([
  z.number(),
  z.looseObject({ set: z.boolean(), number: z.number() }).transform(({ set, number }) => (set ? number : 0)),
]);

const jobSchema = z.looseObject({
  job_id: z.int(),
  name: z.string().nullish(),
  user_name: z.string().nullish(),
  job_state: z.union([z.string().transform((state) => [state]), z.array(z.string())]),
  state_reason: z.string().nullish(),
  start_time: numberSchema.optional(),
});
type SlurmJob = z.infer<typeof jobSchema>;
const jobsSchema = z.looseObject({ jobs: z.array(jobSchema) });
const submittedSchema = z.looseObject({ job_id: z.int().min(1) });

/** Where an attempt's job id is kept: a hint that saves reading the whole queue, and is believed only with the name. */
const ID_FILE = "slurm.job";

/** Slurm's "Invalid job id specified", and "SlurmJob/step already completing or completed". */
const NO_SUCH_JOB = 2017;
const ENDED_ALREADY = 2021;

const BEFORE = `echo ${MARK}
if [ -e "$1/claim" ]; then echo begun; else echo free; fi
printf '%s\\n' "$PATH" "$HOME"`;

export function slurmRestLauncher(
  shell: Shell,
  resources: SlurmResources & { slurmrestd: string },
): RunLauncher {
  const rest = new SlurmRest(resources.slurmrestd);

  /** The attempt's job, by its id where the folder has one, else by its name among all. */
  async function find(run: Attempt): Promise<SlurmJob | null> {
    const { out } = await script(shell, `echo ${MARK}; cat "$1" 2> /dev/null || :`, idFile(run));
    const id = textAfterMark(out).trim();
    if (/^\d+$/.test(id)) {
      const answer = await rest.ask("GET", `job/${id}`, jobsSchema, [NO_SUCH_JOB]);
      return answer?.jobs.find((job) => isOf(job, run)) ?? null;
    }
    return byName(run);
  }

  async function byName(run: Attempt): Promise<SlurmJob | null> {
    const answer = await rest.ask("GET", "jobs", jobsSchema);
    return answer?.jobs.findLast((job) => isOf(job, run)) ?? null;
  }

  const isOf = ({ name, user_name: user }: SlurmJob, run: Attempt): boolean =>
    name === jobName(run) && (user == null || rest.user === null || user === rest.user);

  const slurm: Scheduler = {
    async submit(_, run) {
      const attempt = attemptFolder(run);
      const before = await script(shell, `${writeScript(run, resources)}${BEFORE}`, attempt);
      if (before.code !== 0) return before;
      const [state, path = "", home = ""] = textAfterMark(before.out).split("\n");
      if (state === "begun") return before;
      try {
        const known = await byName(run);
        const id =
          known !== null && stateOf(known).state !== "gone"
            ? known.job_id
            : (
                await rest.ask("POST", "job/submit", submittedSchema, [], async (version) => ({
                  script: batchScript(run, resources),
                  job: jobRequest(run, resources, version, { PATH: path, HOME: home }),
                }))
              )?.job_id;
        return await script(shell, 'echo "$2" > "$1"', idFile(run), String(id));
      } catch (error) {
        if (error instanceof Unreachable || !(error instanceof InputError)) throw error;
        return refusal(error);
      }
    },
    async ask(_, run) {
      try {
        const job = await find(run);
        return job === null ? queuedState("") : stateOf(job);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        return { state: "silent", reason: error.message, expected: null };
      }
    },
    async remove(_, run, running) {
      try {
        const job = await find(run);
        const state = job === null ? "gone" : stateOf(job).state;
        if (job === null || state === "gone" || (state === "running" && !running)) return;
        await rest.ask("DELETE", `job/${job.job_id}`, z.unknown(), [NO_SUCH_JOB, ENDED_ALREADY]);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        throw new InputError(
          `${shell.place}: a run that has begun was asked, but one that waits is still in the queue: ${error.message}`,
        );
      }
    },
  };
  return folderLauncher(shell, slurm);
}

/** The token, the server with its version, and the partition. */
export async function checkSlurmRest(url: string, partition?: string): Promise<CheckStep[]> {
  const rest = new SlurmRest(url);
  const steps: CheckStep[] = [];
  try {
    const version = await rest.version();
    const user = rest.user === null ? "the token names no user" : `as ${rest.user}`;
    await rest.ask("GET", "ping", z.unknown());
    steps.push({ step: "slurmrestd", verdict: "ok", text: `${url} answers, API ${version}, ${user}` });
    if (/^http:/.test(url) && !/^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname))
      steps.push({
        step: "token",
        verdict: "note",
        text: "SLURM_JWT goes over the network as it is: choose https, or a port that ssh forwards",
      });
    if (partition !== undefined) {
      await rest.ask("GET", `partition/${partition}`, z.unknown());
      steps.push({ step: "partition", verdict: "ok", text: partition });
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const step = steps.length === 0 ? "slurmrestd" : "partition";
    steps.push({ step, verdict: "missing", text: error.message });
  }
  return steps;
}

const idFile = (run: Attempt): string => `${attemptFolder(run)}/${ID_FILE}`;

function textAfterMark(out: Uint8Array): string {
  const text = Buffer.from(out).toString();
  return text.slice(text.lastIndexOf(`${MARK}\n`) + MARK.length + 1);
}

const refusal = ({ message }: InputError): Answer => ({ code: 1, out: new Uint8Array(), err: message });

/** As `squeue` would say it. */
function stateOf({ job_state: states, state_reason: reason, start_time: start = 0 }: SlurmJob): Queued {
  const state = states.includes("CONFIGURING") ? "CONFIGURING" : (states[0] ?? "");
  const expected = start > 0 ? new Date(1000 * start).toISOString() : "";
  return queuedState(`${state}|${expected}|${reason ?? ""}`);
}
