import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkOut, openBytes, readText, writeOut, writeRecordsOut } from "./io.ts";
import { RecordSink } from "./record-sink.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gcopd-io-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function collect(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of openBytes(path)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

describe("outputs that cannot be", () => {
  test("an input is not written over, by its name or through a link", async () => {
    const [input, link] = [join(folder, "a"), join(folder, "link")];
    await writeFile(input, "");
    await symlink(input, link);
    for (const out of [input, link])
      await expect(checkOut(out, undefined, "-", join(folder, "none"), input)).rejects.toThrow(
        `${out}: is an input of this command; expected another file to write`,
      );
    await checkOut(join(folder, "b"), input);
  });

  test("pushing records to a file that cannot be opened rejects instead of waiting forever", async () => {
    const sink = new RecordSink(join(folder, "none", "a"));
    const pushing = (async () => {
      await sink.push({ text: "x".repeat(1 << 16) });
      await sink.close();
    })();
    await expect(pushing).rejects.toThrow("the folder to write into does not exist");
  });
});

describe("reading", () => {
  test("bytes of a file", async () => {
    await writeFile(join(folder, "a"), "x".repeat(1_000_000));
    expect(await collect(join(folder, "a"))).toHaveLength(1_000_000);
  });

  test("a missing file, a folder and a file in place of a folder are named", async () => {
    await writeFile(join(folder, "a"), "");
    await expect(collect(join(folder, "none"))).rejects.toThrow(`${folder}/none: no such file`);
    await expect(collect(folder)).rejects.toThrow(`${folder}: is a folder; expected a file`);
    await expect(collect(join(folder, "a", "b"))).rejects.toThrow("a part of the path is not a folder");
    await expect(readText(join(folder, "none"))).rejects.toThrow("no such file");
  });

  test("text must be UTF-8", async () => {
    await writeFile(join(folder, "latin"), new Uint8Array([0xe9]));
    await expect(readText(join(folder, "latin"))).rejects.toThrow("not valid UTF-8");
  });
});

describe("writing", () => {
  test("replaces the file at once and leaves nothing beside it", async () => {
    const out = join(folder, "out");
    await writeFile(out, "old");
    await writeOut(out, ["new ", new TextEncoder().encode("text")]);
    expect(await readFile(out, "utf8")).toBe("new text");
    expect(await readdir(folder)).toEqual(["out"]);
  });

  test("an error midway keeps the old file and leaves nothing half-written", async () => {
    const out = join(folder, "out");
    await writeFile(out, "old");
    await expect(
      writeOut(
        out,
        (function* () {
          yield "half";
          throw new Error("stopped");
        })(),
      ),
    ).rejects.toThrow("stopped");
    expect(await readFile(out, "utf8")).toBe("old");
    expect(await readdir(folder)).toEqual(["out"]);
  });

  test("compresses names that end in .gz", async () => {
    await writeRecordsOut(join(folder, "out.jsonl.gz"), [{ a: 1 }, { b: [2] }]);
    expect(gunzipSync(await readFile(join(folder, "out.jsonl.gz"))).toString()).toBe('{"a":1}\n{"b":[2]}\n');
  });

  test("writes through a symbolic link", async () => {
    await writeFile(join(folder, "real"), "old");
    await symlink(join(folder, "real"), join(folder, "link"));
    await writeOut(join(folder, "link"), ["new"]);
    expect(await readFile(join(folder, "real"), "utf8")).toBe("new");
    await writeOut("/dev/null", ["gone"]);
  });

  test("a folder as the target and a missing folder are refused", async () => {
    await mkdir(join(folder, "sub"));
    await expect(writeOut(join(folder, "sub"), ["x"])).rejects.toThrow(
      "is a folder; expected a file to write",
    );
    await expect(writeOut(join(folder, "no", "out"), ["x"])).rejects.toThrow(
      "the folder to write into does not exist",
    );
  });

  test("a number that JSON cannot hold is refused, not written as null", async () => {
    await expect(writeRecordsOut(join(folder, "o"), [{ logprobs: [0, Number.NaN] }])).rejects.toThrow(
      /logprobs\[1\].*not a finite number/,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test("a process that is told to stop removes what it was writing", async () => {
    const bundle = await mkdtemp(join(tmpdir(), "gcopd-io-bundle-"));
    await build({
      entryPoints: [join(import.meta.dirname, "io.ts")],
      outfile: join(bundle, "io.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
    });
    await writeFile(
      join(bundle, "write.mjs"),
      `import { writeOut } from "./io.mjs";
      await writeOut(process.argv[2], (async function* () {
        yield "half";
        console.log("ready");
        await new Promise(() => setInterval(() => undefined, 1000));
      })());`,
    );
    const child = execFile(process.execPath, [join(bundle, "write.mjs"), join(folder, "out")]);
    await new Promise<void>((resolve, reject) => {
      let errors = "";
      child.stderr!.on("data", (text: string) => {
        errors += text;
      });
      child.stdout!.once("data", () => resolve());
      child.once("exit", () => reject(new Error(errors)));
    });
    expect(await readdir(folder)).toHaveLength(1);
    const ended = new Promise<string | null>((resolve) =>
      child.once("exit", (_code, signal) => resolve(signal)),
    );
    child.kill("SIGTERM");
    expect(await ended).toBe("SIGTERM");
    expect(await readdir(folder)).toEqual([]);
    await rm(bundle, { recursive: true });
  });
});
