import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { until } from "../../../../test/support/fake.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { withTokenizer } from "../../data/files/model-folder.ts";
import { setUi } from "../store.ts";
import { dismissGone, followFolders, useGoneFolders } from "./gone-folders.ts";
import { modelDigest } from "./model-digest.ts";
import { type Opened, useOwnModels } from "./models.ts";

const own = (folder: FolderFiles): Opened => ({
  ...{ folder, origin: "own", steps: 0 },
  tokenizer: { tokenizerJson: "{}", file: folder.name },
});
const mine = own({ name: "mine", files: new Map([["model.safetensors", new Blob(["weights"])]]) });
const info = {
  model: "mine",
  device: "cpu",
  adapter: "",
  dtype: "f32",
  parameters: 1,
  vocabulary: 2,
} as const;

let tab: Map<string, string>;
let leave = (): void => {};

/** The page is left, and opened again in the same tab. */
function reload(): void {
  leave();
  setUi({ models: { teacher: null, student: null } });
  useOwnModels.setState({ teacher: null, student: null });
  leave = followFolders();
}
const gone = (): (string | undefined)[] => {
  const { teacher, student } = useGoneFolders.getState();
  return [teacher?.name, student?.name];
};

beforeEach(() => {
  tab = new Map();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => tab.get(key) ?? null,
    setItem: (key: string, value: string) => void tab.set(key, value),
  });
  reload();
});
afterEach(() => {
  leave();
  vi.unstubAllGlobals();
});

it("what was open is gone after each reload, until the role has a model of the user's own", async () => {
  useOwnModels.setState({ teacher: mine });
  useOwnModels.setState({ student: own({ ...mine.folder, shared: "models/mine" }) });
  expect(gone()).toEqual([undefined, undefined]);
  for (let reloads = 0; reloads < 2; reloads++) {
    reload();
    expect(gone()).toEqual(["mine", "mine"]);
  }
  expect(useGoneFolders.getState().student?.shared).toBe("models/mine");
  setUi({ models: { teacher: { info, origin: "sample", steps: 0 }, student: null } });
  expect(gone()).toEqual(["mine", "mine"]);
  // One that cannot be opened changes nothing.
  useOwnModels.setState({ teacher: own({ name: "broken", files: new Map() }) });
  useOwnModels.setState({ teacher: null });
  reload();
  expect(gone()).toEqual(["mine", "mine"]);
  setUi({ models: { teacher: { info, origin: "own", steps: 0 }, student: null } });
  expect(gone()).toEqual([undefined, "mine"]);
  setUi({ models: { teacher: null, student: { info, origin: "updated", steps: 1 } } });
  expect(gone()).toEqual([undefined, undefined]);
  reload();
  expect(gone()).toEqual([undefined, undefined]);
});

it("one that was given back before the reload, or dismissed after it, is gone without a word", () => {
  useOwnModels.setState({ teacher: mine, student: mine });
  useOwnModels.setState({ teacher: null });
  reload();
  expect(gone()).toEqual([undefined, "mine"]);
  dismissGone("student");
  reload();
  expect(gone()).toEqual([undefined, undefined]);
});

it("is known by the digest that it is kept by, with the tokenizer that it was opened with", async () => {
  useOwnModels.setState({ teacher: mine });
  await until(() => expect(tab.get("gcopd-own-models")).toContain("digest"));
  reload();
  const kept = withTokenizer(mine.folder, mine.tokenizer);
  expect(useGoneFolders.getState().teacher?.digest).toBe(await modelDigest(kept));
});

it("a tab that remembers nothing, or what no page wrote, has lost nothing", () => {
  for (const text of ["", "{", '{"teacher":3}']) {
    tab.set("gcopd-own-models", text);
    reload();
    expect(gone()).toEqual([undefined, undefined]);
  }
  vi.stubGlobal("sessionStorage", undefined);
  useOwnModels.setState({ teacher: mine });
  reload();
  expect(gone()).toEqual([undefined, undefined]);
});
