import { expect, it } from "vitest";
import { launched } from "../../../../../test/support/launched.ts";
import type { Launched } from "../worker-answers.ts";
import { launchedState } from "./launched-state.ts";

const RUN = launched();

it.each<[Partial<Launched>, string]>([
  [{ submitted: false, state: null, doing: { what: "launch", since: RUN.created_at } }, "starting"],
  [{ submitted: false, state: null }, "lost"],
  [{ state: null }, "queued"],
  [{ state: "queued" }, "queued"],
  [{}, "running"],
  [{ asked: "stop" }, "cancelling"],
  [{ unreached: "box: it does not answer" }, "running"],
  [{ state: "ended", code: 0, asked: "stop" }, "done"],
  [{ state: "ended", code: 143, asked: "stop" }, "cancelled"],
  [{ state: "ended", code: 1, asked: "stop" }, "failed"],
  [{ state: "ended", code: 143 }, "lost"],
  [{ state: "ended", code: 3 }, "cancelled"],
  [{ state: "ended", code: 1 }, "failed"],
  [{ state: "lost" }, "lost"],
  [{ state: "never" }, "lost"],
  [{ state: "never", asked: "cancel" }, "cancelled"],
])("%o is %s", (change, state) => {
  expect(launchedState(launched(change))).toBe(state);
});
