import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { launched } from "../../../../test/support/launched.ts";
import { InputError } from "../../../core/errors.ts";
import { undoList } from "../../data/undo.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import { studentTraining } from "../training/training.ts";
import { workerFollower } from "./follow-worker.ts";
import { pageRuns } from "./internal/page-runs.ts";
import type { Run, Where } from "./run.ts";
import { cancelRun, fetchLaunched, removeRun, renameRun, resumeRun, stopRun } from "./run-actions.ts";
import { getRuns, newRun, putRun, useRuns } from "./runs-store.ts";
import type { Job } from "./worker-answers.ts";
import { worker } from "./worker-client.ts";

/** What was asked of the worker, of this tab's training and archive, and of the other tabs. */
const asked = vi.hoisted((): unknown[][] => []);
vi.mock("./tab-channel.ts", async (original) => ({
  ...(await original<object>()),
  tellTabs: (message: object) => void asked.push(["tabs", message]),
}));
vi.mock("../../data/navigate.ts", () => ({
  navigate: (change: object) => setUi((ui) => ({ place: { ...ui.place, ...change } })),
}));

const ID = "run-1";
const ACTIONS = { stop: stopRun, cancel: cancelRun, resume: resumeRun, remove: removeRun };
let fault: Error | null;
const note =
  <T>(name: string, answer: (...given: never[]) => T) =>
  async (...given: unknown[]): Promise<T> => {
    if (fault !== null) throw fault;
    asked.push([name, ...given.filter((each) => each !== undefined)]);
    return answer(...(given as never[]));
  };
const job = (id: string, title?: string) => ({ id, request: { kind: "train", title } }) as Job;

beforeEach(() => {
  asked.length = 0;
  fault = null;
  vi.spyOn(workerFollower, "takeJob").mockImplementation(({ id, request }) => {
    const run = getRuns().runs[id]!;
    putRun({ ...run, title: request.title ?? run.title });
  });
  vi.spyOn(worker, "act").mockImplementation(note("act", job as never));
  vi.spyOn(worker, "resume").mockImplementation(note("resume", (id: string) => job(id)));
  vi.spyOn(worker, "rename").mockImplementation(note("rename", job as never));
  vi.spyOn(worker, "remove").mockImplementation(note("remove", () => undefined as never));
  const answer = (id: string): ReturnType<typeof launched> => launched({ id });
  vi.spyOn(worker, "actOnLaunched").mockImplementation(note("actOnLaunched", answer));
  vi.spyOn(worker, "resumeLaunched").mockImplementation(note("resumeLaunched", answer));
  vi.spyOn(worker, "fetchLaunched").mockImplementation(note("fetchLaunched", answer));
  vi.spyOn(worker, "removeLaunched").mockImplementation(note("removeLaunched", () => undefined as never));
  vi.spyOn(worker, "renameLaunched").mockImplementation(
    note("renameLaunched", (id: string, title: string) => launched({ id, title })),
  );
  vi.spyOn(studentTraining, "stop").mockImplementation(note("training.stop", () => undefined));
  vi.spyOn(studentTraining, "resume").mockImplementation(note("training.resume", () => undefined));
  vi.spyOn(pageRuns, "remove").mockImplementation(note("page.remove", () => undefined));
  vi.spyOn(pageRuns, "rename").mockImplementation(
    note("page.rename", (id: string, title: string) => putRun({ ...getRuns().runs[id]!, title })),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  useRuns.setState(useRuns.getInitialState());
  setUi({ training: IDLE_TRAINING, notice: null });
});

function put(where: Where, over: Partial<Run> = {}): void {
  putRun(newRun({ id: ID, where, title: "before", config: {}, ...over }));
}
const training = (status: "running" | "idle"): void =>
  setUi({ training: { ...IDLE_TRAINING, status } as ReturnType<typeof getUi>["training"] });

describe("asks where the run is", () => {
  it.each([
    ["stop", "worker", [["act", ID, "stop"]]],
    ["cancel", "worker", [["act", ID, "cancel"]]],
    ["resume", "worker", [["resume", ID]]],
    ["remove", "worker", [["remove", ID]]],
    ["stop", "target", [["actOnLaunched", ID, "stop"]]],
    ["cancel", "target", [["actOnLaunched", ID, "cancel"]]],
    ["resume", "target", [["resumeLaunched", ID]]],
    ["remove", "target", [["removeLaunched", ID]]],
    ["stop", "page", [["training.stop"]]],
    // The first ends after the step, the second at once.
    ["cancel", "page", [["training.stop"], ["training.stop"]]],
    ["resume", "page", [["training.resume", ID]]],
    ["remove", "page", [["page.remove", ID]]],
  ] as const)("%s, %s", async (action, where, expected) => {
    put(where);
    training("running");
    await ACTIONS[action](ID);
    expect(asked).toEqual(expected);
    expect(getUi().notice).toBeNull();
  });
});

it("a run that another tab computes is stopped there", async () => {
  put("page", { stream: "other-tab" });
  training("running");
  await stopRun(ID);
  await cancelRun(ID);
  expect(asked).toEqual([
    ["tabs", { type: "ask", id: ID, what: "stop" }],
    ["tabs", { type: "ask", id: ID, what: "cancel" }],
  ]);
});

it("asks nothing of a run that is gone, or of a training that has ended", async () => {
  await stopRun("gone");
  put("page");
  training("idle");
  await stopRun(ID);
  expect(asked).toEqual([]);
});

it("says what was refused, and leaves the run", async () => {
  put("worker");
  fault = new InputError("the job has ended");
  await removeRun(ID);
  expect(getUi().notice).toMatchObject({ kind: "error", text: expect.stringContaining("the job has ended") });
  expect(getRuns().runs[ID]).toBeDefined();
  setUi({ notice: null });
  await fetchLaunched(ID, false);
  expect(getUi().notice).toMatchObject({ kind: "error" });
});

it("a run that is taken away is in no address and on no chart any more", async () => {
  put("worker");
  setUi((ui) => ({ place: { ...ui.place, run: ID, charted: ["other", ID] } }));
  await removeRun(ID);
  expect(getRuns().runs).toEqual({});
  expect(getUi().place).toMatchObject({ run: null, charted: ["other"] });
});

it.each(["worker", "target", "page"] as const)("renames a run of the %s, and back", async (where) => {
  put(where);
  await renameRun(ID, "  after ");
  expect(getRuns().runs[ID]!.title).toBe("after");
  if (where === "page") expect(asked).toContainEqual(["tabs", { type: "title", id: ID, title: "after" }]);
  await undoList.undoLast();
  expect(getRuns().runs[ID]!.title).toBe("before");
  asked.length = 0;
  await renameRun(ID, " before");
  await renameRun(ID, " ");
  expect(asked).toEqual([]);
});
