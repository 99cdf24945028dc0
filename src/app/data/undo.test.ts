import { beforeEach, describe, expect, it } from "vitest";
import { InputError } from "../../core/errors.ts";
import { useHint } from "../base/hint.ts";
import { getUi, setUi } from "../compute/store.ts";
import { offerUndo, undoLast, useUndo } from "./undo.ts";

const labels = (): string[] => useUndo.getState().changes.map(({ label }) => label);

beforeEach(() => {
  useUndo.setState({ changes: [] });
  setUi({ notice: null });
});

describe("undo", () => {
  it("says what was done, and takes back the last change first", async () => {
    const undone: string[] = [];
    offerUndo("One", () => undone.push("one"));
    offerUndo("Two", async () => undone.push("two"));
    expect(getUi().notice).toMatchObject({ text: "Two.", undo: useUndo.getState().changes[1]!.id });
    await undoLast();
    expect(getUi().notice).toBeNull();
    expect(useHint.getState().text).toBe("Undone: Two.");
    await undoLast();
    await undoLast();
    expect(undone).toEqual(["two", "one"]);
  });

  it("keeps a change that cannot be taken back now, and says why", async () => {
    let free = false;
    offerUndo("One", () => {
      if (!free) throw new InputError("a model is at work");
    });
    await undoLast();
    expect(getUi().notice).toEqual({ kind: "error", text: "a model is at work" });
    expect(labels()).toEqual(["One"]);
    free = true;
    await undoLast();
    expect(labels()).toEqual([]);
  });

  it("does not take the way back for a change", async () => {
    offerUndo("One", async () => {
      await Promise.resolve();
      offerUndo("One, back", () => undefined);
    });
    await undoLast();
    expect(labels()).toEqual([]);
  });

  it("keeps one change of a slot, and ten in all", () => {
    offerUndo("Student", () => undefined, "student");
    offerUndo("Other", () => undefined);
    offerUndo("Student again", () => undefined, "student");
    expect(labels()).toEqual(["Other", "Student again"]);
    for (let i = 0; i < 20; i++) offerUndo(`Change ${i}`, () => undefined);
    expect(labels()).toHaveLength(10);
    expect(labels().at(-1)).toBe("Change 19");
  });
});
