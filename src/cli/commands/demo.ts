import { join } from "node:path";
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { PAPER_SETTINGS } from "../../core/ports.ts";
import { retrieveEpisode } from "../../core/retrieval/index.ts";
import { ModelScorer, ModelTrainer } from "../../engine/native/index.ts";
import { createNodeBackend } from "../../engine/native/node.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { UsageError } from "../command.ts";
import { evidenceWorth, keptOutCases, spread } from "../demo/evidence-worth.ts";
import { openSample, type Sample } from "../demo/sample.ts";
import { percent, plain, signed, table } from "../demo/table.ts";
import { updateStudent } from "../demo/update.ts";
import { interruptible } from "../engine/interrupt.ts";
import { type EngineOptions, engineOptions, number } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";

interface Options extends Omit<EngineOptions, "progress"> {
  sample: string;
  decisions?: number;
  all?: boolean;
  steps: number;
  lr: number;
  endOfTurn: boolean;
}

/** Without a GPU a decision takes seconds: few of each task are measured then, and the table says how many of all. */
const DECISIONS_ON_CPU = 6;

export function register(program: Command): void {
  engineOptions(
    program
      .command("demo")
      .description(
        "The whole loop on the sample: retrieval of one decision, its tokens without and with evidence, what evidence " +
          "is worth on the kept-out tasks, and the student before and after OPD steps. Writes nothing.",
      )
      .option("--sample <folder>", "a folder like the sample's", join(PACKAGE.root, "public/sample"))
      .option("--decisions <count>", "decisions a kept-out task to measure", number(1))
      .option("--all", "measure all of them (the default on a GPU)")
      .option("--steps <count>", "OPD steps a stage", number(0), 2)
      .option(
        "--lr <rate>",
        "learning rate of these steps; ten times the paper's, since they are so few",
        number(0),
        1e-4,
      )
      .option(
        "--no-end-of-turn",
        "no end-of-turn token after the sample's responses, which are text: the numbers of earlier versions",
      ),
    { progress: false },
  ).action(run);
}

async function run(options: Options): Promise<void> {
  if (options.all && options.decisions !== undefined)
    throw new UsageError("give --all or --decisions, not both");
  await interruptible(async (signal) => {
    const print = printLine;
    const sample = await openSample(options.sample, options);
    const backend = await createNodeBackend(options.device, {
      compute: options.compute,
      onNote: progress,
    });
    try {
      const teacher = await ModelScorer.open(backend, openFolder(sample.teacherFolder), { signal });
      const student = await ModelTrainer.open(backend, openFolder(sample.studentFolder), {
        optimizer: "ignore",
      });
      const { tasks } = sample.library;
      print(`# ${sample.title}`);
      print();
      print(
        `${tasks.length} tasks, ${tasks.reduce((n, t) => n + t.sources.length, 0)} sources, ${sample.episodes.length} episodes. ` +
          `Teacher: ${teacher.info.parameters} parameters; student: ${student.info.parameters}; ` +
          `${teacher.info.device} (${teacher.info.adapter}), ${teacher.info.dtype}.`,
      );

      const { episode, decision } = decisionToShow(sample);
      const { record, explanation } = retrieveEpisode(sample.prepared(episode.task), episode)[decision]!;
      print();
      print("## Retrieval");
      print();
      print(`Task ${episode.task}, episode ${episode.episode}, decision ${decision}.`);
      const eligible = explanation.matched.filter((visit) => visit.eligible).length;
      const sources = new Set(explanation.matched.map((visit) => visit.source)).size;
      print(
        `${record.matched_visits} visits of ${sources} sources match its state; ${eligible} are eligible. ${explanation.sentence}`,
      );

      print();
      print("## Tokens of the student's response");
      print();
      print(await tokenTable(sample, teacher, episode, decision, signal));

      print();
      print("## What evidence is worth");
      print();
      const all = await keptOutCases(sample);
      const count =
        options.decisions ??
        (options.all || teacher.info.device === "webgpu" ? all.length : DECISIONS_ON_CPU);
      const worth = await evidenceWorth(
        teacher,
        all,
        spread(all, count),
        (done, total) => progress(`kept-out tasks: ${done} of ${total} decisions`),
        signal,
      );
      print(
        "Log-probability of the matched successful source's next action under the teacher, nats an action, mean",
      );
      print("over decisions of tasks that nothing was trained on:");
      print();
      print(worth.text);

      if (options.steps > 0) {
        print();
        print("## Update");
        print();
        print(await update(sample, options, teacher, student, signal));
      }
    } finally {
      backend.dispose();
    }
  });
}

/** A decision at which the retained successful source does something else than the student: the first of a kept-out task. */
function decisionToShow(sample: Sample) {
  for (const task of [...sample.keptOutTasks, ...sample.library.tasks.map((entry) => entry.task)]) {
    for (const episode of sample.episodes.filter((e) => e.task === task)) {
      for (const { record } of retrieveEpisode(sample.prepared(task), episode)) {
        const { success } = record;
        if (success?.relation !== "current" || success.position === null) continue;
        const next = sample.prepared(task).source(success.source)?.decisions[success.position]?.action;
        const own = episode.decisions[record.decision]!;
        if (next && own.action !== null && next !== own.action) return { episode, decision: record.decision };
      }
    }
  }
  throw new InputError("has no decision at which a successful source and the student differ", {
    file: sample.folder,
  });
}

async function tokenTable(
  sample: Sample,
  teacher: ModelScorer,
  episode: Sample["episodes"][number],
  decision: number,
  signal: AbortSignal,
): Promise<string> {
  const { codec, tokenizer } = sample;
  const place = { episode: episode.episode, decision };
  const { ids: promptIds } = codec.prompt(episode.decisions[decision]!, episode.environment, place);
  const responseIds = codec.responseIds(episode.decisions[decision]!, episode.environment, place);
  const context = await sample.contexts(episode, { kind: "graph-conditioned", control: "graph" });
  const [vanilla, graph] = await teacher.score(
    [
      { id: "vanilla", promptIds, responseIds },
      { id: "graph", promptIds: context(decision, promptIds, responseIds.length).promptIds, responseIds },
    ],
    { signal },
  );
  return table(
    ["token", "vanilla", "with evidence", "Δ log q"],
    tokenizer
      .pieces(responseIds)
      .map(({ text }, i) => [
        JSON.stringify(text),
        percent(vanilla!.logprobs[i]!),
        percent(graph!.logprobs[i]!),
        signed(graph!.logprobs[i]! - vanilla!.logprobs[i]!),
      ]),
  );
}

async function update(
  sample: Sample,
  options: Options,
  teacher: ModelScorer,
  student: ModelTrainer,
  signal: AbortSignal,
): Promise<string> {
  // The shortest episode that is long enough to be one: the demonstration should not take long.
  const episode = [...sample.episodes]
    .filter(({ decisions }) => decisions.length >= 4)
    .sort((a, b) => a.decisions.length - b.decisions.length)[0]!;
  const { steps, before, after } = await updateStudent(
    sample,
    episode,
    teacher,
    student,
    { ...PAPER_SETTINGS, learningRate: options.lr },
    options.steps,
    (stage, step) => progress(`update: ${stage} step ${step}`),
    signal,
  );
  const sum = (rows: readonly Float32Array[]) =>
    rows.reduce((n, row) => n + row.reduce((m, v) => m + v, 0), 0);
  const tokens = before.reduce((n, row) => n + row.length, 0);
  return [
    `Episode ${episode.episode}, ${episode.decisions.length} decisions, ${tokens} response tokens; learning rate ${options.lr}.`,
    "",
    table(
      ["step", "stage", "loss", "gradient norm", "Σ w A log p before", "after", "change"],
      steps.map(({ stage, report, alignment }) => [
        report.step,
        stage,
        plain(report.loss, 4),
        plain(report.gradNorm, 3),
        plain(alignment.before, 4),
        plain(alignment.after, 4),
        signed(alignment.after - alignment.before, 4),
      ]),
    ),
    "",
    `Mean log-probability of the student's own tokens: ${plain(sum(before) / tokens, 3)} before, ${plain(sum(after) / tokens, 3)} after.`,
  ].join("\n");
}
