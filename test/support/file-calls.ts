/** Where the source calls the file system: as it is written, and as it runs. */
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(import.meta.dirname, "../..");

/** Those that only make a stream, or are no functions. */
const NO_CALLS = /^(createReadStream|createWriteStream|constants|type .*)$/;

/** The lines of a module, as `src/file.ts:12`, that call a function of `node:fs` or a method of a `handle`. */
export function fileCalls(module: string): string[] {
  const text = readFileSync(join(ROOT, module), "utf8");
  const imported = [...text.matchAll(/^import \{([^}]*)\} from "node:fs(?:\/promises)?";/gm)].flatMap(
    ([, names]) => names!.split(",").map((name) => name.trim()),
  );
  const names = imported.filter((name) => name !== "" && !NO_CALLS.test(name));
  const call = new RegExp(`(?<![.\\w#])(?:${[...names, "handle\\.\\w+"].join("|")})\\(`);
  return text
    .split("\n")
    .flatMap((line, n) =>
      call.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line) ? [`${module}:${n + 1}`] : [],
    );
}

/** The line of `src/` that runs, in the form of `fileCalls`; empty where there is none. */
export function callingLine(): string {
  for (const [, place, line] of (new Error().stack ?? "").matchAll(
    /(?:\(|at (?:async )?)((?:file:|\/)[^()\s]+?):(\d+):\d+\)?$/gm,
  )) {
    const file = relative(ROOT, place!.startsWith("file:") ? fileURLToPath(place!) : place!)
      .split(sep)
      .join("/");
    if (/^src\/.*(?<!\.test)\.ts$/.test(file)) return `${file}:${line}`;
  }
  return "";
}
