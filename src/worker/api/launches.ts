/** Runs on targets: launched, followed, ended, resumed and fetched by what `gcopd launch` does the same with. */
import { isAbsolute, join, sep } from "node:path";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { InputError } from "../../core/errors.ts";
import { isThere } from "../../node/file-error.ts";
import { Results } from "../../protocol/files.ts";
import { hours } from "../../protocol/job.ts";
import { LaunchedRun, LaunchedRuns, LaunchScript, Printed } from "../../protocol/launched-run.ts";
import { Plan, PlannedThere } from "../../protocol/plan.ts";
import type { Target } from "../../protocol/target.ts";
import { ApiError } from "../http/errors.ts";
import { configOfRequest } from "../job/command.ts";
import { listResults } from "../job/results.ts";
import { scriptByHand } from "../launch/by-hand.ts";
import type { FollowedRuns, ToldRun } from "../launch/followed-runs.ts";
import { keptPlan, PLANNED, planThere } from "../launch/plan-there.ts";
import { checkThere, remoteConfig } from "../launch/remote-config.ts";
import { type RunRecord, titleSchema } from "../launch/run-record.ts";
import { Unreachable } from "../launch/shell.ts";
import { readTarget } from "../launch/target.ts";
import { answerFile, answerLog, logQuery } from "./results.ts";
import { json, RangeHeader, refusals, security } from "./schemas.ts";

const ROOT = "/api/launches";

function shown({ record, said, cost, doing, problem, ...told }: ToldRun): LaunchedRun {
  const { run, target, attempt, submitted_at: submitted, last } = record;
  return {
    ...{ id: run.id, target: target.name, host: target.is.host ?? null, folder: run.folder },
    ...{
      command: run.command,
      title: run.title ?? null,
      config: told.config,
      attempt,
      created_at: run.created_at,
    },
    submitted: submitted !== null,
    ...{ state: told.state, as_of: last?.at ?? null, unreached: told.unreached, words: told.words },
    ...{ code: last?.code ?? null, asked: last?.asked ?? null },
    ...{ reason: said?.reason ?? null, expected: said?.expected ?? null },
    began_at: last?.began == null ? null : new Date(last.began * 1000).toISOString(),
    ...{ seconds: last?.seconds ?? null, silent: said?.silent ?? null },
    ...{ gpu_hours: cost?.gpuHours ?? null, price: cost?.price ?? null },
    ...{ gpus: target.is.gpus ?? null, price_per_gpu_hour: target.is.price_per_gpu_hour ?? null },
    ...{ doing, problem, fetched_at: told.fetchedAt },
  };
}

const common = { tags: ["launches"], security };
const params = z.object({ id: z.string() });
const body = <B extends z.ZodType>(schema: B) => ({
  required: true,
  content: { "application/json": { schema } },
});

const what = z.strictObject({
  target: z.string(),
  config: z.record(z.string(), z.unknown()).openapi({
    description:
      "A training config. Its paths are absolute, on this machine or on the target, or begin with `target:`.",
  }),
});

const title = titleSchema.meta({ description: "Its name, for people." });

const list = createRoute({
  ...common,
  method: "get",
  path: ROOT,
  summary: "List the runs that were launched from here",
  description:
    "What is known, at once. The targets of runs that go on are then asked, each run at most every few seconds: ask again " +
    "for what they said.",
  responses: { 200: json(LaunchedRuns, "Oldest first."), ...refusals(400) },
});

const submit = createRoute({
  ...common,
  method: "post",
  path: ROOT,
  summary: "Launch a training run on a target",
  description:
    "Answers once the run is written down here; its files are then sent, and the run is submitted: `doing` and `problem` " +
    "tell how far that is. What a kill leaves of it, `resume` goes on with.",
  request: { body: body(what.extend({ title: title.optional() })) },
  responses: { 202: json(LaunchedRun, "The run."), ...refusals(400, 413, 415) },
});

const rename = createRoute({
  ...common,
  method: "patch",
  path: `${ROOT}/{id}`,
  summary: "Give a run another name",
  description: "It is kept on this machine, and not in the run's folder.",
  request: { params, body: body(z.strictObject({ title })) },
  responses: { 200: json(LaunchedRun, "The run under its new name."), ...refusals(400, 404, 413, 415) },
});

const script = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/script`,
  summary: "A launch as a script to read, or to run by hand",
  description: "Contacts nothing and writes nothing.",
  request: { body: body(what) },
  responses: {
    200: json(LaunchScript, "The script."),
    ...refusals(400, 413, 415),
  },
});

const plan = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/plan`,
  summary: "Measure what a launch will cost on its target itself",
  description:
    "Runs `gcopd train --plan` there, with the inputs that a launch would send; under its scheduler, where the target has " +
    "GPUs or a probe is asked for. Nothing stays there. The plan is kept on this machine.",
  request: {
    body: body(
      what.extend({
        probe: z.boolean().default(false).openapi({ description: "Measure its time, too." }),
        kept: z.boolean().default(false).openapi({ description: "Only what was kept: contacts nothing." }),
      }),
    ),
  },
  responses: {
    200: json(PlannedThere, "The cost."),
    ...refusals(400, 413, 415),
  },
});

const take = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/import`,
  summary: "Take over a run that another machine launched",
  request: {
    body: body(
      z.strictObject({
        target: z.string(),
        folder: z.string().openapi({ description: "The run's folder on the target." }),
      }),
    ),
  },
  responses: { 201: json(LaunchedRun, "The run."), ...refusals(400, 413, 415) },
});

const act = (name: "stop" | "cancel" | "resume", summary: string) =>
  createRoute({
    ...common,
    method: "post",
    path: `${ROOT}/{id}/${name}`,
    summary,
    request: { params },
    responses: {
      202: json(
        LaunchedRun,
        "The run; `doing` tells while its target is asked, `problem` why it could not be.",
      ),
      ...refusals(404, 409),
    },
  });

const stop = act("stop", "Ask a run to end after its step; takes one that waits out of the queue");
const cancel = act("cancel", "Ask a run to end now");
const resume = createRoute({
  ...act("resume", "Go on from the last checkpoint, or submit what was not submitted"),
  request: {
    params,
    body: {
      content: {
        "application/json": {
          schema: z.strictObject({
            target: z.string().optional().openapi({
              description: "Where it goes on: its folder is brought there over this machine.",
            }),
            cards: z.int().min(1).optional(),
            hours: hours.optional(),
          }),
        },
      },
    },
  },
});

const fetched = createRoute({
  ...common,
  method: "post",
  path: `${ROOT}/{id}/fetch`,
  summary: "Copy a run's results into this machine's data folder",
  request: {
    params,
    body: {
      content: {
        "application/json": { schema: z.strictObject({ checkpoints: z.boolean().default(false) }) },
      },
    },
  },
  responses: {
    202: json(LaunchedRun, "The run; its results are listed when `doing` is over."),
    ...refusals(404, 409),
  },
});

const remove = createRoute({
  ...common,
  method: "delete",
  path: `${ROOT}/{id}`,
  summary: "Take a run out of the list, with what was fetched of it",
  description: "Its folder on the target stays, and can be imported again. A run that goes on goes on.",
  request: { params },
  responses: { 204: { description: "It is gone from here." }, ...refusals(404, 409) },
});

const events = createRoute({
  ...common,
  method: "get",
  path: `${ROOT}/{id}/events`,
  summary: "What an attempt printed, from an offset on",
  description: "`progress` with an object that it printed, `output` with `{text}` for any other line.",
  request: {
    params,
    query: z.object({
      attempt: z.coerce.number().int().min(1),
      from: z.coerce.number().int().min(0).default(0).openapi({ description: "Bytes." }),
    }),
  },
  responses: { 200: json(Printed, "Whole lines."), ...refusals(400, 404) },
});

const log = createRoute({
  ...common,
  method: "get",
  path: `${ROOT}/{id}/log`,
  summary: "Fetch the standard error of an attempt, as far as it is known here",
  request: { params, query: logQuery },
  responses: {
    200: { description: "The log.", content: { "text/plain": { schema: z.string() } } },
    ...refusals(400, 404),
  },
});

const results = createRoute({
  ...common,
  method: "get",
  path: `${ROOT}/{id}/results`,
  summary: "List the files that were fetched of a run's output",
  request: { params },
  responses: {
    200: json(Results, "The files, by path."),
    ...refusals(404),
  },
});

const file = createRoute({
  ...common,
  method: "get",
  path: `${ROOT}/{id}/results/file`,
  summary: "Fetch one of these files",
  description: "`Range: bytes=…` fetches a part.",
  request: { params, query: z.object({ path: z.string().min(1) }), headers: RangeHeader },
  responses: {
    200: { description: "The file.", content: { "application/octet-stream": { schema: z.string() } } },
    206: { description: "The part.", content: { "application/octet-stream": { schema: z.string() } } },
    ...refusals(400, 404, 416),
  },
});

/** @param jobsDir inputs of the page lie below it, and do not stay there */
export function launchRoutes(app: OpenAPIHono, followed: FollowedRuns, jobsDir: string): void {
  const { runs } = followed;
  const remoteOf = (config: Record<string, unknown>, target: Target, where: string) =>
    remoteConfig(configOfRequest(config, where), target, {
      file: where,
      absolute: (path) => {
        if (isAbsolute(path)) return path;
        throw new InputError(`expected an absolute path, or target:PATH, got ${JSON.stringify(path)}`, {
          file: where,
        });
      },
      passing: (path) => path.startsWith(jobsDir + sep),
    });
  const placed = async ({ target: name, config }: z.infer<typeof what>, where: string) => {
    const target = { name, is: readTarget(name) };
    return { target, ...(await remoteOf(config, target.is, where)) };
  };
  /** Packs a run that a fault left before that. What is not here any more is named. */
  const packAgain = async (record: RunRecord, where: string): Promise<void> => {
    const given = runs.config(record.run.id);
    if (given === null || !runs.isUnpacked(record)) return;
    const { config, carried, there } = await remoteOf(given, record.target.is, where);
    await checkThere(record.target, there, where);
    await runs.pack(record, { config, carried });
  };
  const outFolder = (id: string): string => {
    const folder = runs.fetched(followed.get(id).record.run.id);
    if (!isThere(folder)) throw new ApiError(404, `run ${id}: its results were not fetched`);
    return join(folder, "out");
  };

  app.openapi(list, (c) => c.json({ launches: followed.list().map(shown) }, 200));
  app.openapi(script, async (c) => {
    const { target, ...remote } = await placed(c.req.valid("json"), `POST ${ROOT}/script`);
    return c.json({ script: scriptByHand(target, remote), bytes: remote.bytes }, 200);
  });
  app.openapi(plan, async (c) => {
    const where = `POST ${ROOT}/plan`;
    const { probe, kept, ...asked } = c.req.valid("json");
    const { target, config, carried, there } = await placed(asked, where);
    const folder = join(runs.folder, "..", PLANNED);
    if (!kept) await checkThere(target, there, where);
    const found = kept
      ? keptPlan(folder, { target, config })
      : await planThere(folder, { target, config, carried }, { probe, signal: c.req.raw.signal });
    const measured = found && { at: found.at, plan: Plan.parse(found.plan) };
    return c.json({ measured }, 200);
  });
  app.openapi(submit, async (c) => {
    const where = `POST ${ROOT}`;
    const { title: name, ...asked } = c.req.valid("json");
    const { target, config, carried, there } = await placed(asked, where);
    const intended = await runs.intend({ target, config, given: asked.config, title: name });
    const told = followed.launch(intended, asked.config, async (record) => {
      // What cannot be asked now is kept, so that `resume` can send it.
      const unreached = await checkThere(target, there, where).then(
        () => null,
        (error: unknown) => {
          if (error instanceof Unreachable) return error;
          throw error;
        },
      );
      await runs.pack(record, { config, carried });
      if (unreached !== null) throw unreached;
      await runs.submit(record);
    });
    return c.json(shown(told), 202);
  });
  app.openapi(rename, (c) => {
    const { id } = c.req.valid("param");
    followed.get(id);
    runs.rename(id, c.req.valid("json").title);
    return c.json(shown(followed.get(id)), 200);
  });
  app.openapi(take, async (c) => {
    const { target, folder } = c.req.valid("json");
    const { run } = await runs.import(folder, { name: target, is: readTarget(target) });
    return c.json(shown(followed.get(run.id)), 201);
  });
  for (const [route, doing] of [
    [stop, "stop"],
    [cancel, "cancel"],
  ] as const)
    app.openapi(route, (c) => {
      const { id } = c.req.valid("param");
      return c.json(shown(followed.act(id, doing, () => runs.ask(id, doing))), 202);
    });
  app.openapi(resume, (c) => {
    const { id } = c.req.valid("param");
    const { target: name, cards, hours } = c.req.valid("json");
    const target = name === undefined ? undefined : { name, is: readTarget(name) };
    const args = Object.entries({ cards, hours }).flatMap(([key, value]) =>
      value === undefined ? [] : [`--${key}`, String(value)],
    );
    const told = followed.act(id, "resume", async (record) => {
      if (target === undefined || target.name === record.target.name)
        await packAgain(record, `POST ${ROOT}/${id}/resume`);
      await runs.resume(id, { target, args });
    });
    return c.json(shown(told), 202);
  });
  app.openapi(fetched, (c) => {
    const { id } = c.req.valid("param");
    const { checkpoints } = c.req.valid("json");
    return c.json(shown(followed.act(id, "fetch", () => runs.fetchHere(id, { checkpoints }))), 202);
  });
  app.openapi(remove, (c) => {
    followed.forget(c.req.valid("param").id);
    return c.body(null, 204);
  });
  app.openapi(events, (c) => {
    const { attempt, from } = c.req.valid("query");
    return c.json(followed.printed(c.req.valid("param").id, attempt, from), 200);
  });
  app.openapi(log, async (c) => {
    const { id } = c.req.valid("param");
    const { attempt = followed.get(id).record.attempt, tail } = c.req.valid("query");
    return answerLog(c, followed.log(id, attempt), tail, `run ${id}: nothing of its log is known here yet`);
  });
  app.openapi(results, async (c) => {
    const folder = outFolder(c.req.valid("param").id);
    return c.json({ folder, files: await listResults(folder) }, 200);
  });
  app.openapi(file, async (c) => {
    const { id } = c.req.valid("param");
    return answerFile(c, outFolder(id), c.req.valid("query").path, `GET ${ROOT}/${id}/results/file`);
  });
}
