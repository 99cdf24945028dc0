import { beforeEach, expect, it } from "vitest";
import { fake, Pending } from "../../../../test/support/fake.ts";
import { undoList } from "../../data/undo.ts";
import { getUi, setUi } from "../store.ts";
import { type KeptModel, KeptModels, useKeptModels } from "./kept-models.ts";
import type { Models, Opened } from "./models.ts";

const opened = (name: string, weights: string): Opened => ({
  folder: { name, files: new Map([["model.safetensors", new Blob([weights])]]) },
  tokenizer: { tokenizerJson: "{}", file: name },
  origin: "own",
  steps: 0,
});

let archive: Map<string, KeptModel>;
let room: number;
let held: Pending | null;
let present: Opened | null;
let open: [string, string, string[]][];
let kept: KeptModels;

beforeEach(() => {
  [archive, room, held, present, open] = [new Map(), 9, null, opened("b", "one"), []];
  useKeptModels.setState({ kept: [], keeping: null });
  setUi({ notice: null });
  kept = new KeptModels(
    {
      put: async (model) => {
        await held?.promise;
        if (archive.size >= room) throw new DOMException("full", "QuotaExceededError");
        archive.set(model.id, model);
      },
      all: async () => [...archive.values()],
      remove: async (id) => archive.delete(id),
    },
    fake<Pick<Models, "opened" | "open">>({
      opened: () => present,
      open: async (role, { name, files }) => void open.push([role, name, [...files.keys()]]),
    }),
  );
});

const names = () => useKeptModels.getState().kept.map(({ name }) => name);

it("keeps a model with its tokenizer, and opens it in any role", async () => {
  await kept.keep("teacher");
  expect(getUi().notice).toEqual({ kind: "info", text: "b is kept in this browser." });
  present = opened("a", "two");
  await kept.keep("student");
  expect(names()).toEqual(["a", "b"]);
  const [a] = useKeptModels.getState().kept;
  expect(a!.bytes).toBe(5);
  await kept.open("teacher", a!);
  expect(open).toEqual([["teacher", "a", ["model.safetensors", "tokenizer.json"]]]);
});

it("keeps the same weights once, and others of the same name beside them", async () => {
  await kept.keep("teacher");
  await kept.keep("student");
  expect(names()).toEqual(["b"]);
  expect(kept.has(opened("elsewhere", "one").folder)).toBe(true);
  present = opened("b", "others");
  expect(kept.has(present.folder)).toBe(false);
  await kept.keep("teacher");
  expect(names()).toEqual(["b", "b"]);
});

it("copies one at a time, and tells which", async () => {
  held = new Pending();
  const keeping = kept.keep("teacher");
  expect(useKeptModels.getState().keeping).toBe("teacher");
  await kept.keep("student");
  held.resolve();
  await keeping;
  expect(useKeptModels.getState().keeping).toBeNull();
  expect(archive.size).toBe(1);
});

it("says what to do where there is no room, and keeps what was there", async () => {
  await kept.keep("teacher");
  [room, present] = [1, opened("a", "two")];
  await kept.keep("teacher");
  expect(getUi().notice).toMatchObject({
    kind: "error",
    text: expect.stringContaining("no room for a copy"),
  });
  expect(names()).toEqual(["b"]);
  expect(useKeptModels.getState().keeping).toBeNull();
});

it("gives a removed one back with undo", async () => {
  await kept.keep("teacher");
  const [model] = useKeptModels.getState().kept;
  await kept.remove(model!);
  expect([names(), archive.size]).toEqual([[], 0]);
  await undoList.undoLast();
  expect(names()).toEqual(["b"]);
});

it("has none in a browser that keeps nothing, and keeps none where nothing is open", async () => {
  present = null;
  await kept.keep("teacher");
  expect(archive.size).toBe(0);
  const none = new KeptModels(
    {
      all: () => Promise.reject(new Error("no IndexedDB")),
      put: async () => undefined,
      remove: async () => undefined,
    },
    fake<Pick<Models, "opened" | "open">>({ opened: () => null }),
  );
  await none.look();
  expect(names()).toEqual([]);
});
