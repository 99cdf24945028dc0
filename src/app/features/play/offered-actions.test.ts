import { expect, test } from "vitest";
import type { Offered } from "../../../core/ports.ts";
import {
  beginningOf,
  filteredActions,
  hasSearch,
  menuEntries,
  narrowedToOne,
  offeredActions,
} from "./offered-actions.ts";

const COMMANDS = ["examine bed 1", "go to bed 1", "go to desk 1", "look"];

const turn = (offered: Offered | null, options: Record<string, string> = {}) => ({
  offered,
  state: { key: "", mode: "normal", options },
});

test("commands as they are, clickables as clicks, nothing where nothing is listed", () => {
  expect(offeredActions(turn({ commands: COMMANDS }), "go")).toEqual(COMMANDS);
  expect(offeredActions(turn({ searchBar: true, clickables: ["back to search", "b01"] }), "")).toEqual([
    "click[back to search]",
    "click[b01]",
  ]);
  expect(offeredActions(turn(null), "")).toEqual([]);
  expect(
    [{ searchBar: true, clickables: [] }, { searchBar: false, clickables: [] }, null].map(hasSearch),
  ).toEqual([true, false, false]);
});

test("words filter in any order and any case; a whole action and a search hide nothing", () => {
  expect(filteredActions(COMMANDS, "BED go")).toEqual(["go to bed 1"]);
  expect(filteredActions(COMMANDS, " ")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "look")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "look", true)).toEqual(["look"]);
  expect(filteredActions(COMMANDS, "search[red lamp")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "sing")).toEqual([]);
});

test("words that leave one action choose it; a whole action, a search and no words at all do not", () => {
  const chooses = (actions: readonly string[], text: string): boolean =>
    narrowedToOne(actions, filteredActions(actions, text));
  expect(
    ["BED go", "go to bed 1 ", "go", "sing", "", "search[lamp"].map((text) => chooses(COMMANDS, text)),
  ).toEqual([true, false, false, false, false, false]);
  expect(["wai", "wait", " ", "search[lamp"].map((text) => chooses(["wait"], text))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("templates as they are, and with every object in every place once words are typed", () => {
  const offered = {
    templates: ["wait", "open OBJ", "move OBJ to OBJ"],
    objects: ["door", "$& cup", "door"],
  };
  expect(offeredActions(turn(offered), " ")).toEqual(offered.templates);
  expect(offeredActions(turn(offered), "o")).toEqual([
    ...["wait", "open door", "open $& cup"],
    ...["move door to door", "move door to $& cup", "move $& cup to door", "move $& cup to $& cup"],
  ]);
  expect(["move OBJ to OBJ", "open door", "wait"].map(beginningOf)).toEqual(["move ", null, null]);
});

test("the entries of an open menu, each for its number", () => {
  const open = turn({ templates: ["wait"], objects: [] }, { 0: "look at a", 1: "look at b" });
  expect(offeredActions(open, "")).toEqual(["0: look at a", "1: look at b"]);
  expect(menuEntries(open.state).get("1: look at b")).toBe("1");
  expect(menuEntries(null).size).toBe(0);
});
