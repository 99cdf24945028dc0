import { describe, expect, it } from "vitest";
import { Pending } from "../../../test/support/fake.ts";
import { keeping, MemoryStore, ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { EPISODES, of, options, ROLLOUT, SETTINGS, TASKS } from "../../../test/support/toy-training.ts";
import { DeviceError, InputError } from "../errors.ts";
import { METHODS } from "../method/index.ts";
import { freshData, recordedData } from "./data.ts";
import type { TrainEvent } from "./events.ts";
import { type TrainOptions, train } from "./train.ts";
import { watchedDecision } from "./watched.ts";

const expectedOf = ({ student }: { student: unknown }): ToyModel => {
  if (!(student instanceof ToyModel)) throw new Error("not the toy model");
  return student;
};

describe("stop and resume", () => {
  it.each([1, 2, 3, 4, 5])("a run stopped after step %i goes on to the same numbers", async (at) => {
    const teacher = () => keeping(new ToyModel(1, "teacher"));
    const whole = await train(options({ teacher: teacher() }));
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const first = options({ teacher: teacher(), checkpoints, stop: stop.signal });
    const onEvent = first.onEvent;
    first.onEvent = (event) => {
      onEvent?.(event);
      if (event.type === "updated" && event.step === at) stop.abort();
    };
    expect(await train(first)).toMatchObject({ step: at, finished: false });
    expect(first.events.at(-1)).toMatchObject({ type: "stopped", step: at });
    const second = options({ teacher: teacher(), checkpoints });
    const result = await train(second);
    expect(result).toMatchObject({ step: 6, finished: true });
    expect(second.events[0]).toMatchObject({ type: "start", resumedFrom: at });
    expect((result.student as ToyModel).logits).toEqual((whole.student as ToyModel).logits);
    expect((result.student as ToyModel).momentum).toEqual((whole.student as ToyModel).momentum);
  });

  it("a checkpoint that could not be written leaves the one before, and the student is freed", async () => {
    const checkpoints = new MemoryStore();
    let student: ToyModel | undefined;
    const run = options({
      checkpoints,
      openStudent: async () => {
        student = new ToyModel(2);
        return student;
      },
    });
    run.onEvent = (event) => {
      if (event.type === "updated" && event.step === 3) checkpoints.fail = true;
    };
    await expect(train(run)).rejects.toThrow("disk full");
    expect(student?.disposed).toBe(true);
    expect((await checkpoints.latest())?.state.step).toBe(2);
  });

  it("makes checkpoints as often as asked, and always at a stop and at the end", async () => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints, checkpointEvery: 4 }));
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([4, 6]);
    const stop = new AbortController();
    const stopped = new MemoryStore();
    await train(
      options({
        checkpoints: stopped,
        checkpointEvery: 4,
        stop: stop.signal,
        onEvent: (event) => event.type === "updated" && event.step === 2 && stop.abort(),
      } as Partial<TrainOptions>),
    );
    expect(stopped.saved.map(({ state }) => state.step)).toEqual([2]);
  });

  it.each([
    [{ position: { stage: 9, epoch: 0, batch: 0 } }, "position.stage: expected less than the run's 2 stages"],
    [{ position: { stage: 0, epoch: 2, batch: 0 } }, "position.epoch: expected at most the stage's 1 epochs"],
    [{ position: { stage: 0, epoch: 0, batch: 3 } }, "position.batch: expected less than 3, received 3"],
    [{ position: { stage: 0, epoch: 1, batch: 1 } }, "position.batch: expected less than 1, received 1"],
    [{ step: 5 }, "step: expected at most 2, the batches before its position, received 5"],
  ])("refuses a checkpoint that is not in its schedule: %j", async (changes, message) => {
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const first = options({ checkpoints, stop: stop.signal });
    first.onEvent = (event) => {
      if (event.type === "updated" && event.step === 2) stop.abort();
    };
    await train(first);
    Object.assign(checkpoints.saved.at(-1)!.state, changes);
    await expect(train(options({ checkpoints }))).rejects.toThrow(message);
    await expect(train(options({ checkpoints }))).rejects.toThrow(InputError);
  });

  it("tells of damaged checkpoints that it passed over", async () => {
    class Damaged extends MemoryStore {
      override async latest() {
        const found = await super.latest();
        return found && { ...found, damaged: [{ name: "step-9", reason: "x is missing" }] };
      }
    }
    const checkpoints = new Damaged();
    await train(options({ checkpoints }));
    const again = options({ checkpoints });
    await train(again);
    expect(again.events.map(({ type }) => type)).toEqual(["start", "damaged", "done"]);
    expect(again.events[1]).toMatchObject({ step: 6, checkpoint: "step-9", reason: "x is missing" });
  });

  it("a finished run is not run again", async () => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints }));
    const again = options({ checkpoints });
    expect(await train(again)).toMatchObject({ step: 6, finished: true });
    expect(of(again.events, "updated")).toEqual([]);
  });

  it("does not go on with batches that an earlier version took in another order", async () => {
    const data = recordedData(EPISODES.map((each) => ({ ...each, task: "one" })));
    const checkpoints = new MemoryStore();
    await train(options({ data, checkpoints }));
    const { batches, ...earlier } = checkpoints.saved.at(-1)!.state.fingerprint;
    expect(batches).toMatch(/^[0-9a-f]{64}$/);
    checkpoints.saved.at(-1)!.state.fingerprint = earlier;
    await expect(train(options({ data, checkpoints }))).rejects.toThrow(/it differs in batches;/);
    // Where each task comes once, the order is what it was.
    const single = new MemoryStore();
    await train(options({ checkpoints: single }));
    expect(single.saved.at(-1)!.state.fingerprint).not.toHaveProperty("batches");
  });

  it.each([
    ["data", { data: recordedData(EPISODES.slice(1)) }],
    ["method", { method: METHODS.opd }],
    ["teacher", { fingerprint: { teacher: "other" } }],
  ])("refuses a checkpoint that differs in %s, by name", async (name, overrides) => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints, fingerprint: { teacher: "one" } }));
    await expect(
      train(options({ checkpoints, fingerprint: { teacher: "one" }, ...overrides })),
    ).rejects.toThrow(new RegExp(`another run: it differs in ${name};`));
  });

  it("names the settings that differ, unless the checkpoint is of a version that did not keep them", async () => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints }));
    const { seed } = options({});
    const settings = { ...SETTINGS, learningRate: 0.125 };
    const again = () => train(options({ checkpoints, settings, seed: seed + 1 }));
    await expect(again()).rejects.toThrow(
      `it differs in settings (learning_rate was ${SETTINGS.learningRate}, is 0.125; seed was ${seed}, is ${seed + 1});`,
    );
    delete checkpoints.saved.at(-1)!.state.settings;
    await expect(again()).rejects.toThrow(/it differs in settings;/);
  });

  it.each([
    ["recorded episodes", () => recordedData(EPISODES)],
    ["fresh episodes", () => freshData(TASKS, ROLLOUT)],
  ])(
    "a run over %s that continues a vanilla parent gives the numbers of the one that never stopped",
    async (_, data) => {
      const staged = (...epochs: number[]) => {
        const { stages, ...method } = METHODS["gc-opd"];
        return { ...method, stages: stages.map((stage, n) => ({ ...stage, epochs: epochs[n]! })) };
      };
      const whole = options({ data: data() });
      const expected = await train(whole);
      const kept = new MemoryStore();
      await train(options({ data: data(), method: staged(1, 0), checkpoints: kept }));
      const { folder, state } = (await kept.latest())!;
      const checkpoints = new MemoryStore();
      const child = (overrides: Partial<TrainOptions> = {}) =>
        options({
          data: data(),
          method: staged(0, 1),
          parent: { name: folder.name, step: state.step },
          openStudent: async (own) => ToyModel.open(own ?? folder),
          fingerprint: { parent: "one" },
          checkpoints,
          ...overrides,
        });
      const run = child();
      const result = await train(run);
      expect(run.events[0]).toMatchObject({ resumedFrom: null, parent: { step: 3 }, steps: 6 });
      expect(result).toMatchObject({ step: 6, finished: true });
      expect((result.student as ToyModel).logits).toEqual((expected.student as ToyModel).logits);
      expect((result.student as ToyModel).momentum).toEqual((expected.student as ToyModel).momentum);
      const figures = (events: TrainEvent[]) => ({
        batches: of(events, "step").filter(({ stage }) => stage === 1),
        metrics: of(events, "updated").flatMap(({ stage, step, metrics }) =>
          stage === 1 ? [{ step, metrics }] : [],
        ),
      });
      expect(figures(run.events)).toEqual(figures(whole.events));
      expect(figures(run.events).batches).toHaveLength(3);

      const resumed = child();
      expect(await train(resumed)).toMatchObject({ step: 6, finished: true });
      expect(resumed.events[0]).toMatchObject({ resumedFrom: 6, steps: 6 });
      await expect(train(child({ fingerprint: { parent: "two" } }))).rejects.toThrow(/it differs in parent;/);
    },
  );

  it.each([
    ["recorded episodes", () => recordedData(EPISODES)],
    ["fresh episodes", () => freshData(TASKS, ROLLOUT)],
  ])("a run over %s goes on with a stage of its parent at an epoch, to the same numbers", async (_, data) => {
    const { stages, ...method } = METHODS.opd;
    const opd = (epochs: number, firstEpoch?: number) => ({
      ...method,
      stages: stages.map((stage) => ({
        ...stage,
        epochs,
        ...(firstEpoch === undefined ? {} : { firstEpoch }),
      })),
    });
    const whole = options({ data: data(), method: opd(3) });
    const expected = await train(whole);
    const kept = new MemoryStore();
    await train(options({ data: data(), method: opd(1), checkpoints: kept }));
    const { folder, state } = (await kept.latest())!;
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const child = (overrides: Partial<TrainOptions> = {}) =>
      options({
        data: data(),
        method: opd(2, 1),
        parent: { name: folder.name, step: state.step },
        openStudent: async (own) => ToyModel.open(own ?? folder),
        checkpoints,
        ...overrides,
      });
    // Stopped inside its second epoch, the whole run's third.
    const first = child({ stop: stop.signal });
    const { onEvent } = first;
    first.onEvent = (event) => {
      void onEvent?.(event);
      if (event.type === "updated" && event.step === 7) stop.abort();
    };
    expect(await train(first)).toMatchObject({ step: 7, finished: false });
    expect(checkpoints.saved.at(-1)!.state.position).toEqual({ stage: 0, epoch: 2, batch: 1 });
    const second = child();
    const { student } = await train(second);
    expect(student).toMatchObject({
      logits: expectedOf(expected).logits,
      momentum: expectedOf(expected).momentum,
    });
    expect(first.events[0]).toMatchObject({ steps: 9 });
    const numbers = (...runs: TrainEvent[][]) =>
      runs
        .flatMap((events) => [...of(events, "step"), ...of(events, "updated")])
        .flatMap((event) => {
          const { step, stage, epoch, batch } = event;
          const more = event.type === "step" ? event.units : event.metrics;
          return step > 3 ? [{ step, stage, epoch, batch, more }] : [];
        });
    const sorted = (all: ReturnType<typeof numbers>) => all.toSorted((a, b) => a.step - b.step);
    expect(sorted(numbers(first.events, second.events))).toEqual(sorted(numbers(whole.events)));
    // As a run that begins at its own first epoch it is another one.
    await expect(train(child({ method: opd(2) }))).rejects.toThrow(/it differs in method;/);
    checkpoints.saved.at(-1)!.state.position = { stage: 0, epoch: 0, batch: 0 };
    await expect(train(child())).rejects.toThrow(
      "position.epoch: expected at least the stage's first, 1, received 0",
    );
  });

  it("aborts inside a step when told to", async () => {
    const controller = new AbortController();
    const run = options({ signal: controller.signal });
    run.onEvent = (event) => {
      if (event.type === "scored") controller.abort(new Error("enough"));
    };
    await expect(train({ ...run, batchSize: 1 })).rejects.toThrow("enough");
  });
});

describe("a device that fails inside a step", () => {
  const lost = () => new DeviceError("The WebGPU device was lost (unknown).", "lost");

  /** The toy student; steps whose number is in `failing` fail that many times, after having changed it. */
  function failing(times: Record<number, number>) {
    const store = new MemoryStore();
    const opened: (number | null)[] = [];
    class Failing extends ToyModel {
      override async step(...args: Parameters<ToyModel["step"]>) {
        const report = await super.step(...args);
        if ((times[report.step] ?? 0) > 0) {
          times[report.step]! -= 1;
          throw lost();
        }
        return report;
      }
    }
    const run = options({
      checkpoints: store,
      openStudent: async (folder) => {
        const from = folder === null ? new ToyModel(2) : await ToyModel.open(folder);
        const student = new Failing(0);
        student.logits.set(from.logits);
        student.momentum.set(from.momentum);
        student.steps = from.steps;
        opened.push(folder === null ? null : from.steps);
        return student;
      },
      reopen: async () => new ToyModel(1, "teacher"),
    });
    return { run, opened };
  }

  it("goes on from its last checkpoint, loses no step and ends at the same numbers", async () => {
    const whole = await train(options());
    const { run, opened } = failing({ 1: 1, 4: 2 });
    const { student, step, finished } = await train(run);
    expect({ step, finished }).toEqual({ step: 6, finished: true });
    expect(opened).toEqual([null, null, 3, 3]);
    expect((student as ToyModel).logits).toEqual((whole.student as ToyModel).logits);
    expect(of(run.events, "updated").map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(of(run.events, "fault").map(({ step, attempt }) => [step, attempt])).toEqual([
      [0, 1],
      [3, 1],
      [3, 2],
    ]);
    expect(of(run.events, "start").map(({ resumedFrom }) => resumedFrom)).toEqual([null, null, 3, 3]);
  });

  it("ends the run when the fault keeps coming back, also with steps taken again between", async () => {
    const { run, opened } = failing({ 3: 99 });
    await expect(train({ ...run, checkpointEvery: 4 })).rejects.toThrow("The WebGPU device was lost");
    expect(opened).toEqual([null, null, null, null]);
    expect(of(run.events, "fault").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it("counts a device that does not open as one more attempt", async () => {
    const { run } = failing({ 2: 1 });
    let times = 0;
    const reopen = async () => {
      times += 1;
      if (times < 3) throw new InputError("no WebGPU device: no adapter was found");
      return new ToyModel(1, "teacher");
    };
    const { step } = await train({ ...run, reopen });
    expect(step).toBe(6);
    expect(of(run.events, "fault").map(({ message }) => message.slice(0, 10))).toEqual([
      "The WebGPU",
      "no WebGPU ",
      "no WebGPU ",
    ]);
  });

  it("ends the run where nothing is kept to go on from", async () => {
    const { run } = failing({ 2: 1 });
    await expect(train({ ...run, checkpoints: null })).rejects.toBeInstanceOf(DeviceError);
    const { run: again } = failing({ 2: 1 });
    await expect(train({ ...again, reopen: undefined })).rejects.toBeInstanceOf(DeviceError);
  });
});

describe("the last checkpoint beside what follows", () => {
  /** A store that holds back the checkpoint of a step until the test lets it go. */
  class Held extends MemoryStore {
    readonly going = new Pending();

    constructor(private readonly step: number) {
      super();
    }

    override async save(...asked: Parameters<MemoryStore["save"]>): Promise<void> {
      if (asked[0].step === this.step) await this.going.promise;
      await super.save(...asked);
    }
  }

  const large = (model: ToyModel) => Object.assign(model, { info: { ...model.info, parameters: 5e9 } });
  const beside = (checkpoints: MemoryStore) =>
    options({
      ...{ checkpoints, keepLastBeside: true },
      openStudent: async (folder) => large(folder === null ? new ToyModel(2) : await ToyModel.open(folder)),
    });

  it("gives the student back before it is kept, and to the same numbers", async () => {
    const checkpoints = new Held(6);
    const run = beside(checkpoints);
    const { kept, student, ...result } = await train(run);
    expect(result).toMatchObject({ step: 6, finished: true });
    expect(checkpoints.saved).toEqual([]);
    checkpoints.going.resolve();
    await kept;
    expect(run.events.slice(-2).map(({ type }) => type)).toEqual(["done", "checkpoint"]);
    const within = new MemoryStore();
    const { kept: nothing } = await train({ ...beside(within), keepLastBeside: false });
    expect(nothing).toBeNull();
    expect(checkpoints.saved).toEqual(within.saved);
    const again = beside(checkpoints);
    const { kept: left, ...ended } = await train(again);
    expect([left, ended.step, of(again.events, "updated")]).toEqual([null, 6, []]);
    expect((ended.student as ToyModel).logits).toEqual((student as ToyModel).logits);
  });

  it("is that of the step where the run was stopped; an abort comes too late for it", async () => {
    const [stop, abort] = [new AbortController(), new AbortController()];
    const checkpoints = new Held(3);
    const run = { ...beside(checkpoints), stop: stop.signal, signal: abort.signal };
    const { onEvent } = run;
    run.onEvent = (event) => {
      onEvent?.(event);
      if (event.type === "updated" && event.step === 3) stop.abort();
    };
    const { kept, finished } = await train(run);
    expect(finished).toBe(false);
    expect(run.events.at(-1)?.type).toBe("stopped");
    abort.abort();
    checkpoints.going.resolve();
    await kept;
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([3]);
    expect(await train(beside(checkpoints))).toMatchObject({ step: 6, finished: true });
  });

  it.each([1, 4])("is kept where a cancel ends the last look, of every %i steps", async (every) => {
    const decisions = [
      watchedDecision(EPISODES[0]!, 0, { codec: toyCodec, trained: true, taskTrained: true }),
    ];
    const cancelled = (checkpoints: MemoryStore) => {
      const abort = new AbortController();
      const openStudent = async () => {
        const model = large(new ToyModel(2));
        model.score = async (requests, asked) => {
          if (model.steps === 6) abort.abort();
          asked?.signal?.throwIfAborted();
          return ToyModel.prototype.score.call(model, requests);
        };
        return model;
      };
      return { ...beside(checkpoints), openStudent, signal: abort.signal, watch: { every, decisions } };
    };
    const checkpoints = new MemoryStore();
    const run = cancelled(checkpoints);
    const { kept, finished, student } = await train(run);
    await kept;
    expect([finished, (student as ToyModel).disposed]).toEqual([true, false]);
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([6]);
    expect(run.events.slice(-2).map(({ type }) => type)).toEqual(["done", "checkpoint"]);
    expect(of(run.events, "held-out").at(-1)?.step).toBeLessThan(6);
    // Where it is written within the run, nothing is left to lose.
    const within = new MemoryStore();
    await expect(train({ ...cancelled(within), keepLastBeside: false })).rejects.toThrow(/abort/i);
    expect(within.saved.map(({ state }) => state.step)).toEqual([6]);
  });

  it("that fails leaves the one before, and the student to whoever has it", async () => {
    const checkpoints = new MemoryStore();
    const run = { ...beside(checkpoints), checkpointEvery: 4 };
    const { onEvent } = run;
    run.onEvent = (event) => {
      onEvent?.(event);
      if (event.type === "done") checkpoints.fail = true;
    };
    const { kept, student } = await train(run);
    await expect(kept).rejects.toThrow("disk full");
    expect((student as ToyModel).disposed).toBe(false);
    expect((await checkpoints.latest())?.state.step).toBe(4);
    expect(run.events.at(-1)?.type).toBe("done");
  });

  it("does not come where the device fails before: the steps since the one before are taken again, three times", async () => {
    const run = {
      ...{ ...beside(new MemoryStore()), checkpointEvery: 4 },
      reopen: async () => new ToyModel(1, "teacher"),
    };
    const { onEvent } = run;
    run.onEvent = (event) => {
      onEvent?.(event);
      if (event.type === "done") throw new DeviceError("The WebGPU device was lost (unknown).", "lost");
    };
    await expect(train(run)).rejects.toThrow("The WebGPU device was lost");
    expect(of(run.events, "fault").map(({ step, attempt }) => [step, attempt])).toEqual([
      [4, 1],
      [4, 2],
      [4, 3],
    ]);
    expect(of(run.events, "checkpoint").map(({ step }) => step)).toEqual([4]);
  });

  it("of a small student is written within the run, as it was", async () => {
    const checkpoints = new MemoryStore();
    const run = options({ checkpoints, keepLastBeside: true });
    const { kept } = await train(run);
    expect(kept).toBeNull();
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(run.events.slice(-2).map(({ type }) => type)).toEqual(["checkpoint", "done"]);
  });
});
