import { expect, it, vi } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import { player, usePlay } from "../../compute/games/play.ts";
import { setPlayMode } from "../../compute/games/play-mode.ts";
import { getUi, setUi } from "../../compute/store.ts";
import { undoList, useUndo } from "../../data/undo.ts";
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

it("z takes back the last decision of the game that is in front, and nothing else there", () => {
  type Shown = NonNullable<ReturnType<typeof usePlay.getState>["episode"]>;
  const z = action("undo-here");
  const change = vi.fn();
  const decision = vi.spyOn(player, "undo").mockResolvedValue();
  undoList.offer("The student was updated", change);
  setUi({ place: { ...HOME, view: "play" } });
  usePlay.setState({ episode: fake<Shown>({ decisions: [fake<Shown["decisions"][0]>({})] }) });
  expect(z.blocked!(getUi())).toBeNull();
  z.run();
  expect([decision.mock.calls.length, change.mock.calls.length]).toEqual([1, 0]);
  usePlay.setState({ episode: fake<Shown>({ decisions: [] }) });
  expect(z.blocked!(getUi())).toBe("nothing was decided yet");
  setPlayMode("runs");
  expect(z.blocked!(getUi())).toBeNull();
  z.run();
  expect([decision.mock.calls.length, change.mock.calls.length]).toEqual([1, 1]);
  usePlay.setState(usePlay.getInitialState());
  setPlayMode("episode");
  useUndo.setState({ changes: [] });
});
