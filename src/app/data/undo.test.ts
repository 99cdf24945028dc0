import { beforeEach, describe, expect, it, vi } from "vitest";
import { InputError } from "../../core/errors.ts";
import { getData, setData } from "./store.ts";
import { UndoList, useUndo } from "./undo.ts";

const labels = (): string[] => useUndo.getState().changes.map(({ label }) => label);
const hint = vi.fn();
let list: UndoList;

beforeEach(() => {
  useUndo.setState({ changes: [] });
  setData({ notice: null });
  list = new UndoList(hint);
});

describe("undo", () => {
  it("says what was done, and takes back the last change first", async () => {
    const undone: string[] = [];
    list.offer("One", () => undone.push("one"));
    list.offer("Two", async () => undone.push("two"));
    expect(getData().notice).toMatchObject({ text: "Two.", undo: useUndo.getState().changes[1]!.id });
    await list.undoLast();
    expect(getData().notice).toBeNull();
    expect(hint).toHaveBeenLastCalledWith("Undone: Two.");
    await list.undoLast();
    await list.undoLast();
    expect(undone).toEqual(["two", "one"]);
  });

  it("keeps a change that cannot be taken back now, and says why", async () => {
    let free = false;
    list.offer("One", () => {
      if (!free) throw new InputError("a model is at work");
    });
    await list.undoLast();
    expect(getData().notice).toEqual({ kind: "error", text: "a model is at work" });
    expect(labels()).toEqual(["One"]);
    free = true;
    await list.undoLast();
    expect(labels()).toEqual([]);
  });

  it("takes what is done while the last change goes back; that one goes back once", async () => {
    const undone = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve)));
    list.offer("One", undone);
    const undoing = list.undoLast();
    list.offer("Two", () => undefined);
    await list.undoLast();
    await undoing;
    expect(undone).toHaveBeenCalledTimes(1);
    expect(labels()).toEqual(["Two"]);
  });

  it("keeps one change of a slot, and ten in all", () => {
    list.offer("Student", () => undefined, "student");
    list.offer("Other", () => undefined);
    list.offer("Student again", () => undefined, "student");
    expect(labels()).toEqual(["Other", "Student again"]);
    for (let i = 0; i < 20; i++) list.offer(`Change ${i}`, () => undefined);
    expect(labels()).toHaveLength(10);
    expect(labels().at(-1)).toBe("Change 19");
  });
});
