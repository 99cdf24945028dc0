import { expect, it, vi } from "vitest";
import { getUi, setUi } from "../../compute/store.ts";
import { HOME, type Place } from "../../url/place.ts";
import { PAGE } from "./page.ts";

vi.mock("../../data/navigate.ts", async (original) => ({
  ...(await original<object>()),
  navigate: (change: Partial<Place>) => setUi(({ place }) => ({ place: { ...place, ...change } })),
}));

const action = (name: string) => PAGE.find(({ id }) => id === name)!;

it("Esc ends a comparison before it unpins the visit", () => {
  vi.stubGlobal("HTMLElement", class {});
  vi.stubGlobal("document", { activeElement: null });
  const visit = { source: "teacher:0", position: 4 };
  const compared = [{ kind: "source", id: "teacher:0", position: 4 }] as const;
  setUi({ place: { ...HOME, view: "task", visit, compared } });
  action("escape").run();
  expect(getUi().place).toMatchObject({ visit, compared: [] });
  action("escape").run();
  expect(getUi().place.visit).toBeNull();
  expect(action("escape").run()).toBe(false);
});

it("z without a change names the way back for a what-if", () => {
  expect(action("undo").blocked!(getUi())).toBe(
    "there is nothing to undo here; to undo a what-if, go back in the browser",
  );
});
