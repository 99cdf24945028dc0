import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAPER_SETTINGS } from "../../core/ports.ts";
import { ModelScorer, ModelTrainer } from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { createReferenceBackend } from "../../tensor/index.ts";
import { evidenceWorth, keptOutCases, spread } from "../demo/evidence-worth.ts";
import { openSample, type Sample } from "../demo/sample.ts";
import { table } from "../demo/table.ts";
import { updateStudent } from "../demo/update.ts";

const FOLDER = resolve(import.meta.dirname, "../../../public/sample");
const never = new AbortController().signal;

describe("the sample", () => {
  const backend = createReferenceBackend();
  let sample: Sample;
  let teacher: ModelScorer;

  beforeAll(async () => {
    sample = await openSample(FOLDER);
    teacher = await ModelScorer.open(backend, openFolder(sample.teacherFolder));
  });
  afterAll(() => backend.dispose());

  it("holds ten tasks, two of them kept out of training", () => {
    expect(sample.library.tasks).toHaveLength(10);
    expect(sample.keptOutTasks).toHaveLength(2);
    for (const task of sample.keptOutTasks) expect(sample.library.tasks.map((t) => t.task)).toContain(task);
  });

  it("teaches: evidence raises the matched source's next action by at least 0.5 nats on each kept-out task", async () => {
    const all = await keptOutCases(sample);
    expect(new Set(all.map(({ task }) => task)).size).toBe(2);
    for (const task of sample.keptOutTasks) {
      const cases = all.filter((item) => item.task === task);
      expect(cases.length).toBeGreaterThan(20);
      const { rise, text } = await evidenceWorth(teacher, cases, spread(cases, 3), () => {}, never);
      expect(rise, text).toBeGreaterThan(0.5);
    }
  });

  it("cases score the source's action, whole", async () => {
    for (const item of await keptOutCases(sample)) {
      const [start, end] = item.actionTokens;
      const text = sample.codec.decode(item.responseIds.slice(start, end));
      expect(text).toContain(item.action);
      expect(text.length - item.action.length).toBeLessThanOrEqual(4);
      expect(item.evidencePromptIds.length).toBeGreaterThan(item.promptIds.length);
    }
  });

  it("an update moves Σ w A log p up in every step", async () => {
    const whole = sample.episodes.find(({ episode }) => episode === "lifespan-shortest-lived|51|easy#0")!;
    // Two decisions are a batch; each more is only more of the same.
    const episode = { ...whole, decisions: whole.decisions.slice(0, 2) };
    const student = await ModelTrainer.open(backend, openFolder(sample.studentFolder), {
      optimizer: "ignore",
    });
    const settings = { ...PAPER_SETTINGS, learningRate: 1e-4 };
    const { steps } = await updateStudent(sample, episode, teacher, student, settings, 1, () => {}, never);
    expect(steps.map(({ stage }) => stage)).toEqual(["vanilla", "graph-conditioned"]);
    for (const { alignment } of steps) expect(alignment.after).toBeGreaterThan(alignment.before);
    student.dispose();
  });
});

describe("table", () => {
  it("aligns columns and keeps Markdown's separators out of the cells", () => {
    expect(
      table(
        ["task", "rise"],
        [
          ["boil|1", "+1.20"],
          ["x", "−0.30"],
        ],
      ),
    ).toBe("| task    |  rise |\n| ------- | ----: |\n| boil\\|1 | +1.20 |\n| x       | −0.30 |");
  });
});
