import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { librarySummary, taskSummary } from "../../../../test/support/summaries.ts";
import { InputError } from "../../../core/errors.ts";
import { RESULTS_FORMAT } from "../../../core/loop/index.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import type { libraryWorker } from "../../data/library-client.ts";
import type { LibrarySummary, OpenProgress } from "../../data/model.ts";
import { showing } from "../../data/open-libraries.ts";
import { undoList, useUndo } from "../../data/undo.ts";
import type { LibraryLink } from "../../url/library-link.ts";
import { HOME, type Place } from "../../url/place.ts";
import { models } from "../models/models.ts";
import { getUi, setUi } from "../store.ts";
import {
  importAgain,
  importFiles,
  openAddresses,
  openDropped,
  openLinked,
  openSample,
  openShared,
  stopOpening,
} from "./open.ts";
import { useOptimal } from "./optimal.ts";

type Tell = (progress: OpenProgress) => void;

const worker = vi.hoisted(() => ({
  /** What the library worker was asked to open. */
  asked: [] as unknown[][],
  /** What it answers, one after the other; without any it opens what it was asked for. */
  answers: [] as ((tell: Tell) => Promise<LibrarySummary>)[],
  open: null as unknown as (link: LibraryLink) => LibrarySummary,
  stops: 0,
  closed: [] as string[],
  optimal: [] as string[],
}));
vi.mock("../../data/library-client.ts", () => {
  const own = (): LibraryLink => ({ library: `own-${worker.asked.length}`, disk: [], addresses: [] });
  const read = async (asked: unknown[], link: LibraryLink, tell: Tell): Promise<LibrarySummary> => {
    worker.asked.push(asked);
    const answer = worker.answers.shift();
    return answer === undefined ? worker.open(link) : answer(tell);
  };
  return {
    libraryWorker: () =>
      fake<ReturnType<typeof libraryWorker>>({
        openShipped: (name, base, tell) =>
          read(["shipped", name, base], { library: name, disk: [], addresses: [] }, tell),
        openFiles: ({ records, folder, scores }, tell) => {
          const names = records.map(({ file, sidecar }) => [file.name, ...(sidecar ? [sidecar.name] : [])]);
          return read(["files", names, folder, scores.map(({ name }) => name)], own(), tell);
        },
        openAddresses: (addresses, tell) =>
          read(["addresses", ...addresses], { library: "own", disk: [], addresses }, tell),
        openShared: ({ token }, paths, environment, tell) =>
          read(["shared", token, paths, environment], { library: "own", disk: paths, addresses: [] }, tell),
        import: (files, tell, choice) => read(["import", files.map(({ path }) => path), choice], own(), tell),
        stopOpening: async () => {
          worker.stops += 1;
        },
        close: async (id) => void worker.closed.push(id),
        addOptimal: async (library, path) => {
          worker.optimal.push(`${path} of ${library}`);
          return { file: path, decisions: [] };
        },
      }),
  };
});
/** Steps of the browser's history, by how each was made. */
const history = vi.hoisted((): string[] => []);
vi.mock("../../data/navigate.ts", () => ({
  navigate: (change: Partial<Place>, how: "push" | "replace" = "replace") => {
    history.push(how);
    setUi((ui) => showing(ui, { ...ui.place, ...change }));
  },
}));
/** What other parts of the page were given to open. */
const given = vi.hoisted((): string[] => []);
vi.mock("../scoring/what-if-record.ts", () => ({
  openWhatIf: async ({ path }: PathFile) => void given.push(`what-if ${path} in ${getUi().library?.id}`),
}));
vi.mock("../students/open-recorded.ts", async (original) => ({
  ...(await original<object>()),
  openRecorded: async ({ path }: PathFile) => void given.push(`results ${path}`),
}));
vi.mock("../clients.ts", async (original) => ({
  ...(await original<object>()),
  unpackArchive: async ({ path }: { path: string }) =>
    path === "empty.zip"
      ? []
      : ["config.json", "model.safetensors"].map((name) => ({
          path: `${path.slice(0, -4)}/${name}`,
          file: new Blob(["{}"]),
        })),
}));

const ids = () => getUi().libraries.map(({ summary }) => summary.id);
const shown = () => getUi().library?.id ?? null;
const error = (text: string) => ({ kind: "error", text: expect.stringContaining(text) });
function served(token: string | null): void {
  vi.stubGlobal("document", {
    baseURI: "https://page.example/workbench/",
    querySelector: () => (token === null ? null : { content: token }),
  });
}

let opened: number;
beforeEach(() => {
  opened = 0;
  Object.assign(worker, { asked: [], answers: [], stops: 0, closed: [], optimal: [] });
  worker.open = (link) => librarySummary(link, [taskSummary("melt", 0)], { id: `library-${++opened}` });
  [history.length, given.length] = [0, 0];
  setUi({ libraries: [], library: null, place: HOME, opening: null, notice: null, pendingFolder: null });
  setUi({ scoring: { status: "idle" } });
  useUndo.setState({ changes: [] });
  useOptimal.setState({}, true);
  served(null);
  vi.stubGlobal("location", new URL("https://page.example/workbench/"));
  vi.spyOn(models, "takeShipped").mockResolvedValue();
  vi.spyOn(models, "ensureTokenizers").mockResolvedValue();
  vi.spyOn(models, "open").mockImplementation(async (role, { name, files }) => {
    given.push(`${role} ${name}: ${[...files.keys()].join(", ")}`);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Holds the next opening back until the test ends it. */
function hold(): Pending<LibrarySummary> & { tell?: Tell } {
  const pending: Pending<LibrarySummary> & { tell?: Tell } = new Pending();
  worker.answers.push((tell) => {
    pending.tell = tell;
    return pending.promise;
  });
  return pending;
}
const fail = (reason: Error): void => void worker.answers.push(() => Promise.reject(reason));

const file = (path: string, content: string | object = { format: "gcopd.source.v1" }): PathFile => ({
  path,
  file: new File(
    [typeof content === "string" ? content : `${JSON.stringify(content)}\n`],
    path.split("/").at(-1)!,
  ),
});
const INDEX = { format: "gcopd.index.v1" };
const SCORES = { id: "s", logprobs: [-1] };
const OPTIMAL = { optimal: ["go"], decision: 0 };
const WHAT_IF = { format: "gcopd.retrieval.v1", what_if: {} };
const model = (folder: string): PathFile[] => [
  file(`${folder}/config.json`, { model_type: "llama" }),
  file(`${folder}/model.safetensors`, "weights"),
];

describe("an opening", () => {
  it("shows how far it is, then the library; the last words of the worker change nothing any more", async () => {
    const held = hold();
    const opening = openSample();
    await until(() => expect(held.tell).toBeDefined());
    expect(getUi().opening).toMatchObject({ label: "Opening the sample…", done: 0 });
    held.tell!({ label: "Reading", done: 3, total: 5, unit: "records" });
    expect(getUi().opening).toMatchObject({ label: "Reading", done: 3, total: 5 });
    held.resolve(worker.open({ library: "sample", disk: [], addresses: [] }));
    await opening;
    held.tell!({ label: "Reading", done: 5, total: 5, unit: "records" });
    expect([shown(), getUi().opening]).toEqual(["library-1", null]);
    expect(worker.asked).toEqual([["shipped", "sample", "https://page.example/workbench/sample/"]]);
    expect(models.takeShipped).toHaveBeenCalledWith({ library: "sample", disk: [], addresses: [] });
  });

  it("that fails leaves what is open, and says why", async () => {
    await openSample();
    fail(new InputError("line 3 is no record"));
    await openDropped([file("a.jsonl")]);
    expect(getUi()).toMatchObject({ opening: null, notice: error("line 3 is no record") });
    expect([ids(), shown()]).toEqual([["library-1"], "library-1"]);
  });

  it("that is stopped is no fault, and leaves what is open", async () => {
    await openSample();
    const held = hold();
    const opening = openAddresses("https://a.example/a.jsonl");
    await until(() => expect(held.tell).toBeDefined());
    stopOpening();
    expect(worker.stops).toBe(1);
    held.reject(new DOMException("the opening was stopped", "AbortError"));
    await opening;
    expect(getUi()).toMatchObject({ opening: null, notice: { kind: "info", text: "Opening was stopped." } });
    expect(shown()).toBe("library-1");
    stopOpening();
    expect(worker.stops).toBe(1);
  });

  it("waits for the one that is under way, also where that fails", async () => {
    const held = hold();
    const first = importFiles([file("first.txt", "x")]);
    const second = importFiles([file("second.txt", "x")]);
    await until(() => expect(held.tell).toBeDefined());
    expect(worker.asked).toHaveLength(1);
    held.reject(new InputError("no recording"));
    await Promise.all([first, second]);
    expect(worker.asked.map(([, files]) => files)).toEqual([["first.txt"], ["second.txt"]]);
    expect([shown(), getUi().opening]).toEqual(["library-1", null]);
  });

  it("needs no tokenizer: without one there are no token counts", async () => {
    vi.mocked(models.ensureTokenizers).mockRejectedValue(new InputError("tokenizer.json: not JSON"));
    vi.mocked(models.takeShipped).mockRejectedValue(new InputError("manifest.json: the server answered 404"));
    await openSample();
    expect(shown()).toBe("library-1");
    expect(getUi().notice).toBeNull();
  });
});

describe("a shipped library", () => {
  it("that is open is shown from its start, and not read again", async () => {
    await openSample();
    await openDropped([file("a.jsonl")]);
    history.length = 0;
    await openSample();
    expect(worker.asked).toHaveLength(2);
    expect([shown(), history]).toEqual(["library-1", ["push"]]);
    setUi((ui) => ({ place: { ...ui.place, task: "melt" } }));
    await openSample();
    expect(getUi().place.task).toBeNull();
  });

  it("is not asked for while another library opens", async () => {
    const held = hold();
    const opening = openAddresses("https://a.example/a.jsonl");
    await until(() => expect(held.tell).toBeDefined());
    const sample = openSample();
    held.resolve(worker.open({ library: "own", disk: [], addresses: ["https://a.example/a.jsonl"] }));
    await Promise.all([opening, sample]);
    expect(worker.asked.map(([what]) => what)).toEqual(["addresses"]);
  });
});

describe("addresses", () => {
  it("are opened together, and refused where a page may not fetch one: then none is asked for", async () => {
    await openAddresses(" https://a.example/a.jsonl\n http://localhost/b.jsonl ");
    expect(worker.asked).toEqual([["addresses", "https://a.example/a.jsonl", "http://localhost/b.jsonl"]]);
    await openAddresses("https://a.example/a.jsonl http://b.example/b.jsonl");
    expect(worker.asked).toHaveLength(1);
    expect(getUi().notice).toMatchObject(error("http://b.example/b.jsonl: expected an https:// address"));
    setUi({ notice: null });
    await openAddresses("  \n");
    expect([worker.asked.length, getUi().notice]).toEqual([1, null]);
  });
});

describe("what a worker shares", () => {
  it("is opened with its token; a page that no worker serves says so", async () => {
    await openShared(["runs/a.jsonl"]);
    expect(worker.asked).toEqual([]);
    expect(getUi().notice).toMatchObject(error("this page is not served by a worker"));
    served("secret");
    await openShared(["runs/a.jsonl"]);
    expect(worker.asked).toEqual([["shared", "secret", ["runs/a.jsonl"], null]]);
    expect(getUi().libraries[0]!.imported).toEqual({ from: ["runs/a.jsonl"], environment: null });
  });
});

it.each<[string, Partial<LibraryLink>, unknown[] | null]>([
  ["files of the worker's disk", { disk: ["a/"] }, ["shared", "secret", ["a/"], null]],
  ["addresses", { addresses: ["https://a.example/"] }, ["addresses", "https://a.example/"]],
  [
    "a shipped library",
    { library: "miniature-30" },
    ["shipped", "miniature-30", "https://page.example/workbench/miniature/"],
  ],
  ["dropped files, which no page has by itself", { library: "own-0123456789ab" }, null],
])("opens what a link leads into, at the place that it names: %s", async (_, part, asked) => {
  served("secret");
  const link = {
    library: asked === null || part.library !== undefined ? null : "own",
    disk: [],
    addresses: [],
    ...part,
  };
  setUi({ place: { ...HOME, ...link, task: "melt" } });
  await openLinked(link);
  expect(worker.asked).toEqual(asked === null ? [] : [asked]);
  expect(shown()).toBe(asked === null ? null : "library-1");
  expect([getUi().place.task, history]).toEqual(["melt", []]);
});

it.each<[string, Partial<LibraryLink>]>([
  ["files of the worker's disk", { library: "own", disk: ["a/"] }],
  ["addresses", { library: "own", addresses: ["https://a.example/"] }],
  ["a shipped library", { library: "miniature" }],
])("where one has left a link before it is open, one stays where one is: %s", async (_, part) => {
  served("secret");
  await openSample();
  const link = { library: null, disk: [], addresses: [], ...part };
  setUi((ui) => showing(ui, { ...HOME, ...link }));
  const held = hold();
  const opening = openLinked(link);
  await until(() => expect(held.tell).toBeDefined());
  setUi((ui) => showing(ui, { ...HOME, library: "sample", task: "melt" }));
  history.length = 0;
  held.resolve(worker.open(link));
  await opening;
  expect(ids()).toEqual(["library-1", "library-2"]);
  expect([shown(), getUi().place.task, history]).toEqual(["library-1", "melt", []]);
});

describe("dropped files", () => {
  it("of records are one library, each with the index beside it, and the lists of scores", async () => {
    await openDropped([
      file("runs/b/episodes.jsonl.index.jsonl", INDEX),
      file("runs/a/sources.jsonl"),
      file("runs/b/episodes.jsonl", { format: "gcopd.episode.v1" }),
      file("runs/scores.jsonl", SCORES),
    ]);
    expect(worker.asked).toEqual([
      [
        "files",
        [["sources.jsonl"], ["episodes.jsonl", "episodes.jsonl.index.jsonl"]],
        "runs",
        ["scores.jsonl"],
      ],
    ]);
    expect(getUi().notice).toBeNull();
  });

  it("that are of no use beside the records are named", async () => {
    const others = ["a.txt", "b.txt", "c.txt", "d.txt"].map((name) => file(name, "x"));
    await openDropped([file("sources.jsonl"), ...others]);
    expect(worker.asked.map(([what]) => what)).toEqual(["files"]);
    const text = "Not used beside the records: a.txt, b.txt, c.txt and 1 more.";
    expect(getUi().notice).toMatchObject({ kind: "info", text });
    // What was read again can still be taken back.
    worker.answers.push(async () => worker.open(getUi().library!.link));
    await openDropped([file("sources.jsonl"), others[0]!]);
    expect(getUi().notice).toMatchObject({
      text: expect.stringMatching(/was read again\. Not used beside the records: a\.txt\.$/),
      undo: expect.any(Number),
    });
    fail(new InputError("line 3 is no record"));
    await openDropped([file("sources.jsonl"), others[0]!]);
    expect(getUi().notice).toMatchObject({ kind: "error", text: "line 3 is no record" });
  });

  it.each([
    ["scores", file("scores.jsonl", SCORES), "scores.jsonl: lists of teacher scores: open them together"],
    ["an index", file("a/s.jsonl.index.jsonl", INDEX), "a/s.jsonl.index.jsonl: the index of a file"],
    ["an archive without a model", file("empty.zip", "x"), "empty.zip: expected a model folder"],
    ["optimal actions", file("o.jsonl", OPTIMAL), "o.jsonl: optimal actions of student decisions"],
  ])("that mean nothing by themselves are refused: %s", async (_, each, line) => {
    await openDropped([each]);
    expect(getUi().notice).toMatchObject(error(line));
    expect([worker.asked, given]).toEqual([[], []]);
  });

  it("of other programs are imported, where no records came with them", async () => {
    await openDropped([file("log/run.jsonl", { messages: [] }), file("log/config.json", { env: "webshop" })]);
    // Not every config.json is a model's.
    expect(worker.asked).toEqual([["import", ["log/run.jsonl", "log/config.json"], {}]]);
    expect(given).toEqual([]);
  });

  it("of models open in the role that their folders are called by; the others wait for the user", async () => {
    await openDropped([...model("my-Student"), ...model("teacher-8B"), ...model("qwen")]);
    expect(given).toEqual([
      "student my-Student: config.json, model.safetensors",
      "teacher teacher-8B: config.json, model.safetensors",
    ]);
    expect(getUi().pendingFolder?.name).toBe("qwen");
    expect(worker.asked).toEqual([]);
  });

  it("of an archive are a model, too; beside them, records are opened first", async () => {
    vi.mocked(models.open).mockImplementation(async (role) => void given.push(`${role} beside ${shown()}`));
    await openDropped([file("student.zip", "x"), ...model("teacher"), file("sources.jsonl")]);
    expect(given).toEqual(["student beside library-1", "teacher beside library-1"]);
    expect(getUi().notice).toBeNull();
  });

  it("that belong to a library are given to the one that comes with them", async () => {
    await openSample();
    const results = `{\n  "format": "${RESULTS_FORMAT}"}`;
    await openDropped([
      file("what-if.jsonl", WHAT_IF),
      file("optimal.jsonl", OPTIMAL),
      file("results.json", results),
      file("sources.jsonl"),
    ]);
    expect(given).toEqual(["what-if what-if.jsonl in library-2", "results results.json"]);
    expect(worker.optimal).toEqual(["optimal.jsonl of library-2"]);
    expect(Object.keys(useOptimal.getState())).toEqual(["library-2"]);
    expect(getUi().notice?.text).toBe("The students of results.json are drawn in Evidence now.");
    await openDropped([file("what-if.jsonl", WHAT_IF)]);
    expect(given.at(-1)).toBe("what-if what-if.jsonl in library-2");
  });

  it("go nowhere where those records do not open, and the reason stays; a model opens all the same", async () => {
    await openSample();
    for (const records of ["sources.jsonl", "log/run.txt"]) {
      fail(new InputError("line 3 is no record"));
      await openDropped([
        file("what-if.jsonl", WHAT_IF),
        file("optimal.jsonl", OPTIMAL),
        file("results.json", `{\n  "format": "${RESULTS_FORMAT}"}`),
        file(records, records === "log/run.txt" ? "x" : undefined),
      ]);
      expect(getUi().notice).toMatchObject(error("line 3 is no record"));
    }
    expect([given, worker.optimal, ids()]).toEqual([[], [], ["library-1"]]);
    vi.mocked(models.open).mockImplementation(async (role) => void given.push(`${role} beside ${shown()}`));
    fail(new InputError("line 3 is no record"));
    await openDropped([...model("teacher"), file("sources.jsonl")]);
    expect(given).toEqual(["teacher beside library-1"]);
    expect(getUi().notice).toMatchObject(error("line 3 is no record"));
  });

  it("with several what-ifs open none of them", async () => {
    await openSample();
    await openDropped([file("a.jsonl", WHAT_IF), file("b.jsonl", WHAT_IF)]);
    expect(getUi().notice).toMatchObject(error("a.jsonl, b.jsonl: several what-if records"));
    expect(given).toEqual([]);
  });
});

describe("imported again, as those of an environment", () => {
  it("recordings take the place of the library that they were, which undo brings back", async () => {
    await openSample();
    await openDropped([file("log/run.txt", "x")]);
    await openDropped([file("sources.jsonl")]);
    await importAgain("library-2", "webshop");
    expect(worker.asked.at(-1)).toEqual(["import", ["log/run.txt"], { environment: "webshop" }]);
    expect([ids(), shown()]).toEqual([["library-1", "library-4", "library-3"], "library-4"]);
    expect(getUi().libraries[1]!.imported).toMatchObject({ environment: "webshop" });
    // It can be said once more.
    await importAgain("library-4", "alfworld");
    expect(worker.asked.at(-1)).toEqual(["import", ["log/run.txt"], { environment: "alfworld" }]);
    await undoList.undoLast();
    expect(ids()).toContain("library-4");
  });

  it("those of the worker's disk are read there again", async () => {
    served("secret");
    await openShared(["runs/"]);
    await importAgain("library-1", "webshop");
    expect(worker.asked.at(-1)).toEqual(["shared", "secret", ["runs/"], "webshop"]);
    expect(ids()).toEqual(["library-2"]);
    expect(getUi().libraries[0]!.imported).toEqual({ from: ["runs/"], environment: "webshop" });
  });

  it("what was not imported, or is closed, is left", async () => {
    await openSample();
    await importAgain("library-1", "webshop");
    await importAgain("gone", "webshop");
    expect(worker.asked).toHaveLength(1);
  });

  it("that fail leave the library as it was", async () => {
    await openDropped([file("log/run.txt", "x")]);
    fail(new InputError("log/run.txt: no recording of webshop"));
    await importAgain("library-1", "webshop");
    expect([ids(), shown()]).toEqual([["library-1"], "library-1"]);
    expect(getUi().libraries[0]!.imported).toMatchObject({ environment: null });
    expect(getUi().notice).toMatchObject(error("no recording of webshop"));
  });
});
