import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { sha256OfParts } from "../../node/sha256.ts";
import { makeGame } from "../../simulator/alfworld/generate.ts";
import { gameFile, openGameFile } from "./open-game-file.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-game-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a game's keys are hashed by Node", async () => {
  const file = join(folder, "game.tw-pddl");
  writeFileSync(file, JSON.stringify(makeGame(1, "small")));
  expect((await openGameFile(gameFile(file))).hash).toBe(sha256OfParts);
});
