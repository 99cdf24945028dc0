import { describe, expect, it } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import type { MemoryPlan } from "../../../tensor/index.ts";
import { showPlan, useMemory } from "../../compute/models/memory.ts";
import { type UiState, useUi } from "../../compute/store.ts";
import { chooseResponses } from "../../compute/training/training-form.ts";
import { ACTIONS, GROUPS } from "./index.ts";

describe("the table of actions", () => {
  it("has each id, each title and each key once", () => {
    for (const names of [
      ACTIONS.map(({ id }) => id),
      ACTIONS.map(({ title }) => title),
      ACTIONS.flatMap(({ keys }) => keys ?? []),
    ]) {
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    }
  });

  it("leaves arrows, Enter and the like to what has the focus", () => {
    const keys = ACTIONS.flatMap(({ keys }) => keys ?? []);
    expect(keys.filter((key) => key !== "Escape" && !/^(Mod\+)?\S$/u.test(key))).toEqual([]);
  });

  it("starts what the training form would start", () => {
    const ui = useUi.getState();
    const update = ACTIONS.find(({ id }) => id === "update")!;
    const missing = () => update.blocked!({ ...ui, place: { ...ui.place, view: "training" } });
    expect(missing()).toBe("open a student decision first");
    chooseResponses("live");
    expect(missing()).toBe("open a library first");
    chooseResponses("recorded");
  });

  it("starts no run whose plan does not fit, and says why", async () => {
    const update = ACTIONS.find(({ id }) => id === "update")!;
    const problem = "the job needs more than it may take";
    const plan = fake<MemoryPlan>({});
    await showPlan("train", async () => ({ plan, problem, uncounted: [], passes: {} }));
    const { place, ...ui } = useUi.getState();
    const decision = fake<NonNullable<UiState["decision"]>>({});
    const training = { ...ui, decision, place: { ...place, view: "training" as const } };
    expect(update.blocked!(training)).toBe(problem);
    useMemory.setState(useMemory.getInitialState());
    expect(update.blocked!(training)).toBeNull();
  });

  it("is written alike: a title of one line without a full stop, a reason that ends a sentence", () => {
    const ui = useUi.getState();
    for (const { id, title, group, blocked } of ACTIONS) {
      expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(title).toMatch(/^\p{Lu}[^\n]{2,60}[^.\n]$/u);
      expect(GROUPS).toContain(group);
      const missing = blocked?.(ui) ?? null;
      if (missing !== null) expect(missing).toMatch(/^\p{Ll}[^\n]+[^.\n]$/u);
    }
  });
});
