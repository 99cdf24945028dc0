import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { onExpectedKeys } from "../../../test/support/import-fixture.ts";
import type { TextCodec } from "../../core/loop/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { type Stub, type StubKind, startStub } from "../../engine/remote/testing/stub-server.ts";
import { openTokenizer, textCodec } from "../../text/index.ts";

const TOKENIZER = resolve(import.meta.dirname, "../../../test/fixtures/models/tokenizer");
const folder = mkdtempSync(join(tmpdir(), "gcopd-policy-"));
afterAll(() => rmSync(folder, { recursive: true }));

let codec: TextCodec;
beforeAll(async () => {
  codec = textCodec(await openTokenizer(openFolder(TOKENIZER)));
});

const open: Stub[] = [];
afterEach(() => Promise.all(open.splice(0).map((stub) => stub.close())));

/** Takes one of the commands on offer; which one follows from the seed. Whether there are completions is asked without any. */
const respond = (prompt: string, seed: number) => {
  const offered = /^Commands you can give now: (.*)$/m.exec(prompt)?.[1]?.split("; ") ?? ["look"];
  const text = `<action>${offered[seed % offered.length]}</action>`;
  return { text, ids: [...codec.encode(text), codec.endOfTurnId], stop: "stop" as const };
};

async function serve(kind: StubKind, model = "big-teacher"): Promise<string> {
  const stub = await startStub({
    kind,
    models: [model],
    respond: ({ prompt, messages, seed, input_ids, sampling_params }) =>
      kind === "sglang"
        ? respond(codec.decode(Object(input_ids)), Object(sampling_params).sampling_seed)
        : respond(
            messages !== undefined
              ? Object(messages).at(-1).content
              : typeof prompt === "string"
                ? prompt
                : codec.decode(Object(prompt)),
            Number(seed),
          ),
  });
  open.push(stub);
  return stub.url;
}

const config = {
  environment: { name: "alfworld", made: { count: 2, seed: 1 }, max_decisions: 3 },
  tokenizer: TOKENIZER,
};

function run(command: string, out: string, more: object, ...args: string[]) {
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify({ ...config, ...more }));
  return runCli(command, "--config", file, "--out", join(folder, out), ...args);
}

const read = (...path: string[]) => readFileSync(join(folder, ...path), "utf8");

it("a library is collected by a model that another program serves, the same over every protocol", async () => {
  for (const kind of ["vllm", "sglang", "openai", "chat"] as const) {
    const policy = await serve(kind);
    const { code, err } = await run("collect", kind, { policy, repetitions: 2 });
    const name = { openai: "a plain OpenAI completions", chat: "a plain OpenAI chat" };
    expect(err).toContain(`served by ${{ vllm: "vLLM 0.32.0", sglang: "SGLang", ...name }[kind]}`);
    expect(code).toBe(0);
  }
  const library = read("vllm", "sources.jsonl");
  expect(library.trimEnd().split("\n")).toHaveLength(6);
  expect(JSON.parse(library.split("\n")[0]!)).toMatchObject({
    source: "teacher:0",
    origin: { kind: "teacher", model: "big-teacher" },
    outcome: { verified: true },
  });
  for (const kind of ["sglang", "openai", "chat"]) expect(read(kind, "sources.jsonl")).toBe(library);
});

it("a collected library is written as the authors' catalog too, and comes back from it", async () => {
  const out = join(folder, "with-catalog");
  const policy = await serve("vllm");
  const { err } = await run("collect", "with-catalog", { policy, repetitions: 2 }, "--catalog");
  expect(err).toContain(`and as a catalog in ${join(out, "catalog")}`);
  const back = join(folder, "back.jsonl");
  expect((await runCli("import", join(out, "catalog"), "--out", back)).code).toBe(0);
  const [library, again] = [join(out, "sources.jsonl"), back].map((file) =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  expect(again!.map((source, n) => onExpectedKeys(source, library![n]))).toStrictEqual(library);
  const whole = await runCli(
    "export",
    join(out, "sources.jsonl"),
    "--format",
    "catalog",
    "--out",
    join(out, "b"),
  );
  expect(whole.err).toContain("a catalog of 2 tasks in 4 files");
  const streamed = await runCli("export", back, "--format", "catalog", "--out", "-");
  expect(streamed).toMatchObject({ code: 2, err: expect.stringContaining("--out -: a catalog is a folder") });
  const twice = await runCli("export", back, "--format", "catalog", "--out", join(out, "b"));
  expect(twice).toMatchObject({
    code: 1,
    err: expect.stringContaining("already exists; a catalog is a new folder"),
  });
});

it("the run is the model's, wherever it is served", async () => {
  const first = await serve("vllm");
  expect((await run("evaluate", "figures", { seeds: [0] }, "--policy", first)).code).toBe(0);
  const elsewhere = await run("evaluate", "figures", { seeds: [0] }, "--policy", await serve("vllm"));
  expect(elsewhere.code).toBe(0);
  const other = await serve("vllm", "another");
  const refused = await run("evaluate", "figures", { seeds: [0] }, "--policy", other);
  expect(refused.err).toMatch(/run\.json: this folder is of another run: it differs in model;/);
  expect(read("figures", "run.json")).not.toContain(new URL(first).port);
});

it("a finished folder is done without its server, and is still of one run", async () => {
  const policy = await serve("vllm");
  const named = { policy, policy_model: "big-teacher" };
  expect((await run("evaluate", "finished", { seeds: [0], ...named })).code).toBe(0);
  expect((await run("collect", "collected", { repetitions: 1, policy })).code).toBe(0);
  await Promise.all(open.splice(0).map((stub) => stub.close()));
  expect((await run("evaluate", "finished", { seeds: [0], ...named })).code).toBe(0);
  const later = await run("collect", "collected", { repetitions: 1, policy }, "--catalog");
  expect(later).toMatchObject({ code: 0, err: expect.stringContaining("and as a catalog in") });
  const other = await run("evaluate", "finished", { seeds: [0], policy, policy_model: "another" });
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining("it differs in model;") });
  expect((await run("evaluate", "finished", { seeds: [1], ...named })).err).toContain(
    "differs in settings (seeds was [0], is [1]);",
  );
});

it.each([
  [{}, /model: missing; expected the policy's model, or a server at `policy`/],
  [{ policy_model: "x", model: TOKENIZER }, /policy_model: only applies with `policy`/],
  [{ policy: "http://127.0.0.1:9", tokenizer: undefined }, /tokenizer: missing; expected a folder/],
  [
    { policy: "http://127.0.0.1:9", tokenizer: undefined, model: "hub:a/b" },
    /tokenizer: missing; expected a folder/,
  ],
])("%j is refused by its key", async (more, message) => {
  const { code, err } = await run("evaluate", "refused", more);
  expect(code).toBe(1);
  expect(err).toMatch(message);
});
