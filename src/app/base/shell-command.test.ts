import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { againCommand, shellLine, shellScript } from "./shell-command.ts";

const WORDS = ["plain", "a b", "it's", '"$HOME"', "`date`", "", "new\nline", "*", "~", "-x=1", "#"];

it("is read by a shell word by word, whatever the words hold", () => {
  const print = "process.stdout.write(JSON.stringify([process.env.WHERE, ...process.argv.slice(1)]))";
  const line = shellLine([process.execPath, "-e", print, "--", ...WORDS], { WHERE: "it's; here" });
  const out = execFileSync("sh", ["-c", line], { encoding: "utf8" });
  expect(JSON.parse(out)).toEqual(["it's; here", ...WORDS]);
});

it("writes a config to the letter before its command", () => {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-"));
  try {
    const text = JSON.stringify({ library: "a 'b' $c `d` \\ é" }, null, 2);
    const script = shellScript("my config.json", text, "echo done > done", ["a word first\necho no > no"]);
    expect(script).toMatch(/^# a word first echo no > no\ncat > /);
    execFileSync("sh", ["-c", script], { cwd: folder });
    expect(existsSync(join(folder, "no"))).toBe(false);
    expect(readFileSync(join(folder, "my config.json"), "utf8")).toBe(`${text}\n`);
    expect(readFileSync(join(folder, "done"), "utf8")).toBe("done\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("takes a run again in a folder of its own", () => {
  const command = ["gcopd", "train", "--config", "/d/a b.json", "--out", "/d/out", "--cards", "2"];
  const files = { program: ["/bin/node", "/gcopd.js"], environment: { HF_ENDPOINT: "http://127.0.0.1:1" } };
  expect(againCommand([...command, "--progress", "json"], files, "again")).toBe(
    "HF_ENDPOINT=http://127.0.0.1:1 /bin/node /gcopd.js train --config '/d/a b.json' --out again --cards 2",
  );
});
