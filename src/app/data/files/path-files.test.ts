import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { isForeign, withoutCommonFolder } from "./path-files.ts";

const file = (path: string, text = "") => ({ path, file: new Blob([text]) });

it("takes the folder away that all files lie in, and no more", () => {
  const names = (...paths: string[]) => {
    const { folder, files } = withoutCommonFolder(paths.map((path) => file(path)));
    return [folder, ...files.map(({ path }) => path)];
  };
  expect(names("a/b/MANIFEST.json", "a/b/entries/x.json")).toEqual(["b", "MANIFEST.json", "entries/x.json"]);
  expect(names("a/x.json", "ab/y.json")).toEqual(["", "a/x.json", "ab/y.json"]);
  expect(names("x.json", "a/y.json")).toEqual(["", "x.json", "a/y.json"]);
  expect(names("a/x.json")).toEqual(["a", "x.json"]);
  expect(names()).toEqual([""]);
});

it("tells records of its own format from other lines; what cannot be read is left to the reader", async () => {
  const ours = '{"task": "x", "format": "gcopd.source.v1"}\n';
  expect(await isForeign(file("a.jsonl", ours))).toBe(false);
  expect(await isForeign({ path: "a.jsonl.gz", file: new Blob([gzipSync(ours)]) })).toBe(false);
  expect(await isForeign(file("a.jsonl", '{"messages": []}\n{'))).toBe(true);
  expect(await isForeign({ path: "a.jsonl.gz", file: new Blob([gzipSync("[1]\n")]) })).toBe(true);
  for (const strange of ["", "{", "\ufeff{}"]) expect(await isForeign(file("a.jsonl", strange))).toBe(false);
});
