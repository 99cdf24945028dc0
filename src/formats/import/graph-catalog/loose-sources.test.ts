import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryFiles } from "../files.ts";
import { chooseImporter } from "../run-import.ts";

const FIXTURES = new URL("../../../../test/fixtures/imports/", import.meta.url);

describe("recorders' files without their catalog", () => {
  it.each([
    ["scienceworld-catalog", "ScienceWorld"],
    ["webshop-catalog", "WebShop"],
  ])("of %s are refused in one line that says what is missing", async (catalog, title) => {
    const folder = new URL(`${catalog}/catalog/sources/`, FIXTURES);
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    expect(names.length).toBeGreaterThan(0);
    const contents = Object.fromEntries(
      names.map((name) => [`sources/${name}`, new Uint8Array(readFileSync(new URL(name, folder)))]),
    );
    await expect(chooseImporter(memoryFiles(contents))).rejects.toThrow(
      `a recorder's file of a ${title} catalog, whose MANIFEST.json is not here`,
    );
  });

  it("are told apart from files of no format", async () => {
    await expect(chooseImporter(memoryFiles({ "a.json": '{"rep": 1}' }))).rejects.toThrow(
      "not in any format that can be imported",
    );
  });
});
