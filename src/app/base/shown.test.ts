import { expect, it } from "vitest";
import { Shown } from "./shown.ts";

it("knows the component that was drawn last, until that one is gone", () => {
  const shown = new Shown<string>();
  expect(shown.present).toBeNull();
  const leaveFirst = shown.show("first");
  const leaveSecond = shown.show("second");
  leaveFirst();
  expect(shown.present).toBe("second");
  leaveSecond();
  expect(shown.present).toBeNull();
});

it("answers at once where one is shown, else once with the next, and only the latest question", () => {
  const shown = new Shown<string>();
  const told: string[] = [];
  shown.whenShown((name) => told.push(`lost ${name}`));
  shown.whenShown((name) => told.push(name));
  const leave = shown.show("first");
  shown.whenShown((name) => told.push(`again ${name}`));
  leave();
  shown.show("second");
  expect(told).toEqual(["first", "again first"]);
});
