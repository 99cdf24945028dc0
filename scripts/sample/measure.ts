/**
 * What the sample's models do, measured on all of it (a GPU takes minutes, a processor a day):
 * evidence on every matched decision of every task, and one graph-conditioned epoch of the student.
 *
 *     node scripts/run.mjs scripts/sample/measure.ts [--sample public/sample] [--lr 1e-5] [--batch 32] [--no-end-of-turn]
 */
import { parseArgs } from "node:util";
import { openSample } from "../../src/cli/demo/sample.ts";
import { plain, signed, table } from "../../src/cli/demo/table.ts";
import { batchRows } from "../../src/core/loop/index.ts";
import { scoreSourceActions, sourceActionCases } from "../../src/core/loop/source-action.ts";
import { responseObjective } from "../../src/core/objective/index.ts";
import { PAPER_SETTINGS } from "../../src/core/ports.ts";
import { shuffled } from "../../src/core/seeded.ts";
import { ModelScorer, ModelTrainer } from "../../src/engine/native/index.ts";
import { createNodeBackend } from "../../src/engine/native/node.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "public/sample" },
    lr: { type: "string", default: "1e-5" },
    batch: { type: "string", default: "32" },
    device: { type: "string", default: "webgpu" },
    "no-end-of-turn": { type: "boolean", default: false },
  },
});
const sample = await openSample(values.sample, { endOfTurn: !values["no-end-of-turn"] });
const backend = await createNodeBackend(values.device as "webgpu" | "cpu", { onNote: console.error });
const teacher = await ModelScorer.open(backend, openFolder(sample.teacherFolder));
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);

{
  const began = performance.now();
  const rows = [];
  for (const { task } of sample.library.tasks) {
    const cases = [];
    for (const episode of sample.episodes.filter((e) => e.task === task)) {
      cases.push(...(await sourceActionCases(sample.prepared(task), episode, sample.contexts, sample.codec)));
    }
    if (cases.length === 0) continue;
    const results = await scoreSourceActions(teacher, cases);
    const mean = (pick: (r: (typeof results)[number]) => number) =>
      results.reduce((sum, r) => sum + pick(r), 0) / results.length;
    rows.push([
      task,
      sample.keptOutTasks.includes(task) ? "kept out" : "trained on",
      results.length,
      plain(mean((r) => r.without)),
      plain(mean((r) => r.with)),
      signed(mean((r) => r.with - r.without)),
      results.filter((r) => r.with > r.without).length,
    ]);
  }
  console.log(table(["task", "", "decisions", "without", "with evidence", "rise", "rose in"], rows));
  console.log(`\n${seconds(began)} s on ${teacher.info.device} (${teacher.info.adapter})\n`);
}

/** One graph-conditioned epoch: Σ w A log p with the advantages held as they are before it. */
for (const lr of [Number(values.lr), 10 * Number(values.lr), 0]) {
  const began = performance.now();
  const student = await ModelTrainer.open(backend, openFolder(sample.studentFolder), { optimizer: "ignore" });
  const rows = batchRows(sample.episodes, sample.codec);
  const byEpisode = new Map<string, Awaited<ReturnType<typeof sample.contexts>>>();
  for (const episode of sample.episodes) {
    byEpisode.set(
      episode.episode,
      await sample.contexts(episode, { kind: "graph-conditioned", control: "graph" }),
    );
  }
  const requests = rows.map(({ promptIds, responseIds }, n) => ({ id: String(n), promptIds, responseIds }));
  const teacherLogprobs = (
    await teacher.score(
      rows.map((row, n) => ({
        id: String(n),
        promptIds: byEpisode.get(row.episode.episode)!(row.decision, row.promptIds, row.responseIds.length)
          .promptIds,
        responseIds: row.responseIds,
      })),
    )
  ).map((r) => r.logprobs);
  const before = (await student.score(requests)).map((r) => r.logprobs);
  const order = shuffled(sample.episodes.length, 1);
  const batch = Number(values.batch);
  for (let at = 0; at < order.length; at += batch) {
    const chosen = new Set(order.slice(at, at + batch).map((n) => sample.episodes[n]!.episode));
    const places = rows.flatMap((row, n) => (chosen.has(row.episode.episode) ? [n] : []));
    const tokens = new Map<string, number>();
    for (const n of places) {
      const { episode, responseIds } = rows[n]!;
      tokens.set(episode.episode, (tokens.get(episode.episode) ?? 0) + responseIds.length);
    }
    const report = await student.step(
      places.map((n) => ({
        episode: rows[n]!.episode.episode,
        decision: rows[n]!.decision,
        promptIds: rows[n]!.promptIds,
        responseIds: rows[n]!.responseIds,
        teacherLogprobs: teacherLogprobs[n]!,
        rolloutLogprobs: null,
        weight: 1 / (chosen.size * tokens.get(rows[n]!.episode.episode)!),
      })),
      { ...PAPER_SETTINGS, learningRate: lr },
    );
    console.log(
      `lr ${lr}, step ${report.step}: loss ${plain(report.loss, 4)}, gradient norm ${plain(report.gradNorm, 3)}`,
    );
  }
  const after = (await student.score(requests)).map((r) => r.logprobs);
  const held = (logprobs: readonly Float32Array[]) =>
    rows.reduce((total, row, n) => {
      const { advantage } = responseObjective(before[n]!, teacherLogprobs[n]!, before[n]!, row.weight, 0.2);
      return total + advantage.reduce((sum, a, t) => sum + row.weight * a * logprobs[n]![t]!, 0);
    }, 0);
  const changed = after.some((row, n) => row.some((value, t) => value !== before[n]![t]));
  console.log(
    `lr ${lr}: one graph-conditioned epoch over ${sample.episodes.length} episodes, ${rows.length} decisions: ` +
      `Σ w A log p ${plain(held(before), 5)} before, ${plain(held(after), 5)} after (${signed(held(after) - held(before), 5)}); ` +
      `log-probabilities ${changed ? "changed" : "bit-equal"}; ${seconds(began)} s\n`,
  );
  student.dispose();
}
backend.dispose();
process.exit(0);
