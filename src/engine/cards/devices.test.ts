import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { cardFiles, chosenCards, onCard } from "./devices.ts";

const folders = (files: Record<string, string[]>) => (folder: string) => files[folder] ?? [];

it("finds the cards' device files in the order of their numbers", () => {
  const nvidia = folders({
    "/dev": ["nvidia10", "nvidiactl", "nvidia2", "null", "nvidia-uvm", "nvidia0"],
    "/dev/dri": ["renderD128"],
  });
  expect(cardFiles(nvidia)).toEqual(["/dev/nvidia0", "/dev/nvidia2", "/dev/nvidia10"]);
  expect(cardFiles(folders({ "/dev/dri": ["card0", "renderD129", "renderD128"] }))).toEqual([
    "/dev/dri/renderD128",
    "/dev/dri/renderD129",
  ]);
  expect(cardFiles(() => [])).toEqual([]);
});

it("takes how many or which, and refuses what the host has not", () => {
  const files = ["/dev/nvidia0", "/dev/nvidia1"];
  expect(chosenCards(2, files)).toEqual([0, 1]);
  expect(chosenCards([1], files)).toEqual([1]);
  expect(chosenCards(3, [])).toEqual([0, 1, 2]);
  expect(() => chosenCards(3, files)).toThrow(
    "there is no card 2: this host has 2 (/dev/nvidia0, /dev/nvidia1)",
  );
  expect(() => chosenCards([0, 0], files)).toThrow("a card is named twice");
});

it("hides the other cards' files from a card's process, and from no other", () => {
  // Files that every Linux has stand for the cards.
  const files = ["/dev/zero", "/dev/full", "/dev/random"];
  const read = ["head", "-c", "4", "/dev/random"];
  const [file, ...args] = onCard(2, files, [
    "sh",
    "-c",
    "head -c 4 /dev/zero | wc -c; head -c 4 /dev/random | wc -c",
  ]);
  const inside = execFileSync(file!, args, { encoding: "utf8" }).split("\n").map(Number);
  expect(inside.slice(0, 2)).toEqual([0, 4]);
  expect(execFileSync("head", ["-c", "4", "/dev/zero"])).toHaveLength(4);
  expect(execFileSync(read[0]!, read.slice(1))).toHaveLength(4);
  expect(onCard(0, ["/dev/zero"], ["node", "x"])).toEqual(["node", "x"]);
});
