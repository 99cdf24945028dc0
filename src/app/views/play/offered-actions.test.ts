import { expect, test } from "vitest";
import { filteredActions, hasSearch, offeredActions } from "./offered-actions.ts";

const COMMANDS = ["examine bed 1", "go to bed 1", "go to desk 1", "look"];

test("commands as they are, clickables as clicks, nothing where nothing is listed", () => {
  expect(offeredActions({ commands: COMMANDS })).toEqual(COMMANDS);
  expect(offeredActions({ searchBar: true, clickables: ["back to search", "b01"] })).toEqual([
    "click[back to search]",
    "click[b01]",
  ]);
  expect(offeredActions({ templates: ["open OBJ"], objects: ["door"] })).toEqual([]);
  expect(offeredActions(null)).toEqual([]);
  expect(
    [{ searchBar: true, clickables: [] }, { searchBar: false, clickables: [] }, null].map(hasSearch),
  ).toEqual([true, false, false]);
});

test("words filter in any order and any case; a whole action and a search hide nothing", () => {
  expect(filteredActions(COMMANDS, "BED go")).toEqual(["go to bed 1"]);
  expect(filteredActions(COMMANDS, " ")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "look")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "search[red lamp")).toEqual(COMMANDS);
  expect(filteredActions(COMMANDS, "sing")).toEqual([]);
});
