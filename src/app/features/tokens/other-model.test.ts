import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { InputError } from "../../../core/errors.ts";
import type { ComputeClient } from "../../compute/clients.ts";
import { setUi } from "../../compute/store.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { DecisionModel } from "../../data/model.ts";
import { OtherModel, usePickedModel } from "./other-model.ts";

type Clients = ConstructorParameters<typeof OtherModel>[0];
type Library = ReturnType<Clients["library"]>;
type Pair = Awaited<ReturnType<Library["tasks"]["pair"]>>;

/** What the library worker and the models were asked, in order. */
let asked: string[];
let models: Clients["models"];
let library: Library;
let scoreSides: Clients["scoreSides"];
let other: OtherModel;

const folder = (name: string): FolderFiles => ({
  name,
  files: new Map([["tokenizer.json", new Blob([name])]]),
});
const decision = (at: number): DecisionModel =>
  fake<DecisionModel>({
    ...{ library: "l", environment: "e", task: "t", episode: "s", decision: at, selection: {} },
    ...{ endOfTurn: true, counts: null },
  });

beforeEach(() => {
  asked = [];
  library = fakeLibrary({
    setOtherTokenizer: vi.fn(async ({ tokenizerJson }: { tokenizerJson: string }) => {
      asked.push(`tokenizer ${tokenizerJson}`);
      return null;
    }),
    pair: vi.fn(async () => {
      asked.push("pair");
      return { ...fake<Pair>({}), vanillaIds: [1], graphIds: [1, 2], responseIds: [3] };
    }),
  });
  const api = fake<ComputeClient["api"]>({ planOther: async () => fake({}) });
  models = fake<Clients["models"]>({
    ensureTokenizers: async () => undefined,
    askForTokenizer: vi.fn(async () => undefined),
    worker: async () => fake<ComputeClient>({ api }),
    workload: async () => fake({}),
  });
  scoreSides = vi.fn(async () => undefined);
  other = new OtherModel({ models, library: () => library, scoreSides });
  setUi({ decision: decision(0) });
});
afterEach(() => {
  setUi({ decision: null });
  usePickedModel.setState(usePickedModel.getInitialState());
});

const shown = () => {
  const { picked, reading } = usePickedModel.getState();
  return [picked?.folder.name ?? null, reading];
};

it("of two that are picked the last one is shown, though it is read sooner; a fault of the first is not told", async () => {
  const slow = new Pending<FolderFiles>();
  const first = other.pick(() => slow.promise);
  await other.pick(async () => folder("second"));
  expect(shown()).toEqual(["second", false]);
  slow.resolve(folder("first"));
  await first;
  expect(shown()).toEqual(["second", false]);
  const faulty = new Pending<FolderFiles>();
  const third = other.pick(() => faulty.promise);
  other.forget();
  faulty.reject(new InputError("gone"));
  await third;
  expect(shown()).toEqual([null, false]);
});

it("each is read with its own tokenizer, also where two are read at once", async () => {
  await Promise.all([other.pick(async () => folder("a")), other.addSides(folder("b"))]);
  const [sides] = vi.mocked(scoreSides).mock.calls[0]!;
  asked = [];
  const contexts = sides.map((side) => side.context());
  await Promise.all([other.pick(async () => folder("a")), ...contexts]);
  expect(asked.toSorted()).toEqual(["pair", "pair", "pair", "tokenizer a", "tokenizer b", "tokenizer b"]);
  expect(asked.filter((_, n) => n % 2 === 1)).toEqual(["pair", "pair", "pair"]);
});

it("after one that cannot be read the next one is", async () => {
  vi.mocked(library.tasks.pair).mockRejectedValueOnce(new InputError("not these tokens"));
  await expect(other.pick(async () => folder("first"))).rejects.toThrow("not these tokens");
  expect(shown()).toEqual([null, false]);
  await other.pick(async () => folder("second"));
  expect(shown()).toEqual(["second", false]);
});

it("another decision that is shown meanwhile gets no plan of the one before", async () => {
  const slow = new Pending<FolderFiles>();
  const picking = other.pick(() => slow.promise);
  setUi({ decision: decision(1) });
  slow.resolve(folder("late"));
  await picking;
  expect(shown()).toEqual([null, false]);
});

it("one without a tokenizer waits for the user's word, and a response without tokens is refused", async () => {
  const bare = { name: "bare", files: new Map() };
  await other.pick(async () => bare);
  expect(models.askForTokenizer).toHaveBeenCalledWith("other", bare);
  expect([asked, ...shown()]).toEqual([[], null, false]);
  vi.mocked(library.tasks.pair).mockResolvedValueOnce({
    ...fake<Pair>({}),
    ...{ vanillaIds: [1], graphIds: [1], responseIds: [] },
  });
  await expect(other.pick(async () => folder("empty"))).rejects.toThrow("the response has no tokens");
});
