import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isThere } from "./file-error.ts";

function find(): { root: string; version: string } {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = join(folder, "package.json");
    if (isThere(file)) {
      const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
      if (name === "gcopd") return { root: folder, version: version ?? "0.0.0" };
    }
    const parent = dirname(folder);
    if (parent === folder) throw new Error("the package's own folder was not found above its code");
    folder = parent;
  }
}

/** The installed package: its folder (where `bin/` and `dist/` are) and its version. Found from source and from dist. */
export const PACKAGE = find();
