import { expect, it, vi } from "vitest";
import { ToyModel, toyCodec } from "../../../../test/support/toy-model.ts";
import { EPISODES, SETTINGS } from "../../../../test/support/toy-training.ts";
import { DeviceError } from "../../../core/errors.ts";
import { METHODS } from "../../../core/method/index.ts";
import type { FolderReader } from "../../../core/ports.ts";
import { type BlobFolder, BlobFolderWriter, blobFolder } from "../../data/files/blob-folder.ts";
import { type RunEvent, runTraining, type TrainingPlan, type TrainingRun } from "./training-run.ts";

const PLAN: TrainingPlan = {
  ...{ id: "page-000000000000", method: METHODS.opd, settings: SETTINGS, batchSize: 2, seed: 7 },
  ...{ library: "sample", endOfTurn: true, fingerprint: {}, watch: null },
  episodes: EPISODES.map(({ environment, task, episode }) => ({ environment, task, episode })),
};

/** A toy that says how many parameters it has, and counts its copies. */
class Student extends ToyModel {
  copies = 0;
  override readonly info;

  constructor(model: ToyModel, parameters: number) {
    super(0);
    this.info = { ...model.info, parameters };
    this.logits.set(model.logits);
    this.momentum.set(model.momentum);
    this.steps = model.steps;
  }

  override async save(...asked: Parameters<ToyModel["save"]>): Promise<void> {
    this.copies += 1;
    await super.save(...asked);
  }
}

async function folderOf(model: ToyModel): Promise<BlobFolder> {
  const writer = new BlobFolderWriter("opened");
  await model.save(writer);
  return writer.folder!;
}

async function run(
  student: Student,
  asked: Partial<Pick<TrainingRun, "signal" | "stop" | "keepLastBeside">> = {},
) {
  const start = await folderOf(new ToyModel(2));
  const openStudent = vi.fn(
    async (checkpoint: FolderReader | null) =>
      new Student(await ToyModel.open(checkpoint ?? blobFolder(start)), student.info.parameters),
  );
  const events: RunEvent[] = [];
  const never = new AbortController().signal;
  const result = await runTraining({
    ...{ plan: PLAN, codec: toyCodec, teacher: new ToyModel(1, "teacher"), student, start, openStudent },
    records: {
      episode: async (_ref, id) => EPISODES.find(({ episode }) => episode === id)!,
      sources: async () => [],
    },
    ...{ reopen: async () => new ToyModel(1, "teacher"), onBatch: () => undefined },
    ...{ emit: (event) => events.push(event), signal: never, stop: never, ...asked },
  });
  return { ...result, start, openStudent, events };
}

const weightsOf = async (folder: BlobFolder | Awaited<ReturnType<typeof run>>["folder"]) =>
  (await ToyModel.open(blobFolder(await folder))).logits;

it("copies a large student once, and gives back the folder that holds it", async () => {
  const student = new Student(new ToyModel(2), 5e9);
  const { student: trained, folder } = await run(student);
  expect(trained).toBe(student);
  expect(student.steps).toBe(6);
  expect(student.copies).toBe(1);
  expect(await weightsOf(folder)).toEqual(student.logits);
});

it("gives a large student back while it is still written, where that is asked for; its folder comes with the last event", async () => {
  const student = new Student(new ToyModel(2), 5e9);
  const { folder, events } = await run(student, { keepLastBeside: true });
  expect(folder).toBeInstanceOf(Promise);
  const last = () => {
    const event = events.findLast(({ type }) => type === "loop");
    return event?.type === "loop" ? event.event.type : null;
  };
  expect(last()).toBe("done");
  expect(await weightsOf(folder)).toEqual(student.logits);
  expect(last()).toBe("checkpoint");
  const small = await run(new Student(new ToyModel(2), 1e6), { keepLastBeside: true });
  expect(small.folder).not.toBeInstanceOf(Promise);
});

it("keeps a small student after each step", async () => {
  const student = new Student(new ToyModel(2), 1e6);
  await run(student);
  expect(student.copies).toBe(6);
});

it("begins again from the folder that was opened, where the device fails before the first checkpoint", async () => {
  const whole = await run(new Student(new ToyModel(2), 5e9));
  const student = new Student(new ToyModel(2), 5e9);
  const step = vi.spyOn(student, "step");
  step.mockImplementationOnce((...asked) => ToyModel.prototype.step.apply(student, asked));
  step.mockRejectedValueOnce(new DeviceError("The WebGPU device was lost", "lost"));
  const { openStudent, folder } = await run(student);
  expect(openStudent.mock.calls).toEqual([[null]]);
  expect(await weightsOf(folder)).toEqual(await weightsOf(whole.folder));
});

it("gives back what it began with where it was stopped before its first step", async () => {
  const { folder, start, finished } = await run(new Student(new ToyModel(2), 5e9), {
    stop: AbortSignal.abort(),
  });
  expect(finished).toBe(false);
  expect(folder).toBe(start);
});
