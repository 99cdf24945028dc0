/** graph, retrieve and evidence, on files, as the command line runs them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepStreams } from "../../../test/support/cli.ts";
import { environmentFixture, fixtureFolder } from "../../../test/support/environment-fixture.ts";
import { fixtureEpisodes, fixtureRetrievals, fixtureSources } from "../../../test/support/scienceworld.ts";
import { InputError } from "../../core/errors.ts";
import { UsageError } from "../command.ts";
import { register as evidence } from "./evidence.ts";
import { register as graph } from "./graph.ts";
import { register as retrieve } from "./retrieve.ts";

const fixture = (name: string) => resolve(import.meta.dirname, "../../../test/fixtures", name);
const LIBRARY = fixture("scienceworld/sources.jsonl.gz");
const EPISODES = fixture("scienceworld/episodes.jsonl.gz");
const BOTH = ["--library", LIBRARY, "--episodes", EPISODES];
const expected = fixtureRetrievals();

let folder: string;
let streams: ReturnType<typeof keepStreams>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
  streams = keepStreams();
});

afterEach(() => {
  streams.release();
  rmSync(folder, { recursive: true });
});

async function gcopd(...args: string[]): Promise<void> {
  const program = new Command("gcopd").exitOverride();
  for (const register of [graph, retrieve, evidence]) register(program);
  for (const command of program.commands) command.exitOverride();
  await program.parseAsync(args, { from: "user" });
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

function write(name: string, records: object[]): string {
  const path = join(folder, name);
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(path, name.endsWith(".gz") ? gzipSync(text) : text);
  return path;
}

describe("gcopd retrieve", () => {
  it("writes the expected records of the fixture", async () => {
    const path = join(folder, "retrieval.jsonl");
    await gcopd("retrieve", ...BOTH, "--out", path);
    expect(lines(readFileSync(path, "utf8"))).toStrictEqual(expected);
    expect(streams.out).toBe("");
    expect(streams.err).toBe("1,699 decisions of 73 episodes over 195 sources of 11 tasks\n");
  });

  it.each([
    [
      "alfworld",
      "gcopd: note: %: 2 sources of alfworld left out: the library of its environment holds complete, replay-checked records only\n" +
        "495 decisions of 30 episodes over 87 sources of 5 tasks\n",
    ],
    ["webshop", "262 decisions of 24 episodes over 65 sources of 4 tasks\n"],
  ])("writes the expected records of the %s fixture", async (environment, said) => {
    const library = join(fixtureFolder(environment), "sources.jsonl.gz");
    const episodes = join(fixtureFolder(environment), "episodes.jsonl.gz");
    await gcopd("retrieve", "--library", library, "--episodes", episodes);
    expect(lines(streams.out)).toStrictEqual(environmentFixture(environment).expected);
    expect(streams.err).toBe(said.replace("%", library));
  });

  it("leaves what the environment's library leaves out also out of the graph, and says so", async () => {
    const sources = environmentFixture("alfworld").sources.slice(0, 3);
    const unchecked = sources.map((source) => ({
      ...source,
      task: "other",
      outcome: { ...source.outcome, verified: false },
    }));
    const library = write("s.jsonl", [...sources, ...unchecked]);
    await gcopd("graph", "--library", library, "--json");
    expect(
      JSON.parse(streams.out).tasks.map(({ environment, task, statistics }: Record<string, unknown>) => [
        environment,
        task,
        (statistics as { sources: number }).sources,
      ]),
    ).toEqual([
      ["alfworld", sources[0]!.task, 3],
      ["alfworld", "other", 0],
    ]);
    expect(streams.err).toMatch(/^gcopd: note: [^\n]*s\.jsonl: 3 sources of alfworld left out: [^\n]*\n$/);
  });

  it("treats an environment without rules as custom, and says so once", async () => {
    const custom = <T extends object>(record: T) => ({ ...record, environment: "marsworld" });
    const library = write("s.jsonl", fixtureSources().map(custom));
    const path = write("e.jsonl", fixtureEpisodes().map(custom));
    await gcopd("retrieve", "--library", library, "--episodes", path);
    // The default rules are ScienceWorld's.
    expect(lines(streams.out)).toStrictEqual(expected.map(custom));
    expect(streams.err).toMatch(
      /^gcopd: note: [^\n]*s\.jsonl: environment "marsworld" is custom: [^\n]*\n[^\n]*7 of 1,457 visits [^\n]*\n1,699 decisions/,
    );
  });

  it("adds explanations on request, applies a control, and compresses", async () => {
    const path = join(folder, "retrieval.jsonl.gz");
    await gcopd("retrieve", ...BOTH, "--out", path, "--control", "success-only", "--explain");
    const records = lines(gunzipSync(readFileSync(path)).toString());
    records.forEach(({ explanation, ...record }, i) => {
      expect(record).toStrictEqual({ ...expected[i], failure: null });
      expect(explanation.matched.length).toBe(record.matched_visits);
      expect(explanation.sentence).toMatch(/\.$/);
    });
  });

  it("writes to standard output without --out", async () => {
    const episode = fixtureEpisodes()[0]!;
    await gcopd("retrieve", "--library", LIBRARY, "--episodes", write("e.jsonl", [episode]));
    expect(lines(streams.out)).toStrictEqual(expected.slice(0, episode.decisions.length));
  });

  it("retrieves nothing, with one warning, for a task that the library lacks", async () => {
    const [first, second] = fixtureEpisodes();
    const library = write(
      "s.jsonl",
      fixtureSources().filter((source) => source.task !== first!.task),
    );
    await gcopd("retrieve", "--library", library, "--episodes", write("e.jsonl", [first!, second!]));
    for (const record of lines(streams.out)) {
      expect(record).toMatchObject({ matched_visits: 0, success: null, failure: null });
    }
    expect(
      streams.err.match(/warning: .* has no source of task "find-non-living-thing\|36\|easy"/g),
    ).toHaveLength(1);
  });

  it("refuses bad input with one line and leaves nothing behind", async () => {
    const episode = fixtureEpisodes()[0]!;
    const bad = write("bad.jsonl", [episode, { ...episode, episode: "other", environment: 3 }]);
    const path = join(folder, "out.jsonl");
    await expect(gcopd("retrieve", "--library", LIBRARY, "--episodes", bad, "--out", path)).rejects.toThrow(
      /bad\.jsonl, line 2, environment: expected string, received number/,
    );
    expect(readdirSync(folder)).toEqual(["bad.jsonl"]);
    await expect(gcopd("retrieve", "--library", "-", "--episodes", "-")).rejects.toThrow(UsageError);
    await expect(gcopd("retrieve", ...BOTH, "--control", "best")).rejects.toMatchObject({
      code: "commander.invalidArgument",
    });
  });
});

describe("gcopd evidence", () => {
  const one = ["--episode", "melt|12|easy#1", "--decision", "2"];

  it("prints R_t alone on standard output and asks for a tokenizer to count with", async () => {
    await gcopd("evidence", ...BOTH, ...one);
    expect(streams.out).toMatch(/^STUDENT'S COMPLETE ACTUAL ACTION\/OBSERVATION EXECUTION\n/);
    expect(streams.out).toContain("Student event 3 [CURRENT SCORED DECISION]\n");
    expect(streams.out).toMatch(/Final outcome: .*\n$/);
    expect(streams.err).toContain("the token count needs --tokenizer");
  });

  it("counts tokens, and uses back-references over the limit", async () => {
    const tokenizer = ["--tokenizer", fixture("models/tokenizer")];
    await gcopd("evidence", ...BOTH, ...one, ...tokenizer, "--json");
    const plain = JSON.parse(streams.out);
    expect(plain).toMatchObject({ back_references: false, retrieval: { decision: 2 } });
    expect(plain.tokens).toBeGreaterThan(200);
    expect(streams.err).toContain(
      `${plain.tokens} tokens of evidence, ${plain.tokens + plain.prompt_tokens} with the prompt`,
    );
    streams.out = "";
    const limit = ["--limit", String(plain.tokens + plain.prompt_tokens - 1)];
    await gcopd("evidence", ...BOTH, ...one, ...tokenizer, ...limit, "--json");
    const short = JSON.parse(streams.out);
    expect(short.back_references).toBe(true);
    expect(short.tokens).toBeLessThan(plain.tokens);
    expect(short.text).toContain("[OBS1] ");
    await expect(gcopd("evidence", ...BOTH, ...one, ...tokenizer, "--limit", "100")).rejects.toThrow(
      /does not fit: \d+ tokens, \d+ with back-references, limit 100; evidence is never cut/,
    );
  });

  it("prints hindsight alone under the control", async () => {
    await gcopd("evidence", ...BOTH, ...one, "--control", "hindsight-only");
    expect(streams.out).toMatch(/^<student_hindsight>\n[\s\S]*\n<\/student_hindsight>\n$/);
    expect(streams.out).not.toContain("COMPLETE SOURCE");
  });

  it("names what is not there", async () => {
    await expect(gcopd("evidence", ...BOTH, "--episode", "none", "--decision", "0")).rejects.toThrow(
      /episodes\.jsonl\.gz: no episode "none" among 73/,
    );
    const late = gcopd("evidence", ...BOTH, "--episode", "melt|12|easy#1", "--decision", "99");
    await expect(late).rejects.toThrow(/counted from 0: there is no 99/);
    await expect(late).rejects.toThrow(InputError);
    await expect(gcopd("evidence", ...BOTH, ...one, "--limit", "5")).rejects.toThrow(UsageError);
    await expect(gcopd("evidence", ...BOTH, "--episode", "x", "--decision", "-1")).rejects.toMatchObject({
      code: "commander.invalidArgument",
    });
  });
});

describe("what-ifs", () => {
  const one = ["--episode", "melt|12|easy#1", "--decision", "2"];
  const json = async (...args: string[]) => {
    streams.out = "";
    streams.err = "";
    await gcopd("evidence", ...BOTH, ...args, "--json");
    return JSON.parse(streams.out);
  };

  it("switches a source off, as if the library did not have it", async () => {
    const full = await json(...one);
    const { source } = full.retrieval.success;
    const off = await json(...one, "--without", source);
    expect(off.retrieval.success.source).not.toBe(source);
    const path = write(
      "rest.jsonl",
      fixtureSources().filter((each) => each.source !== source),
    );
    streams.out = "";
    await gcopd("evidence", "--library", path, "--episodes", EPISODES, ...one, "--json");
    expect(JSON.parse(streams.out)).toEqual(off);
    streams.out = "";
    await gcopd("retrieve", ...BOTH, "--without", source, "--without", "teacher:1");
    expect(streams.out).not.toContain(`"${source}"`);
    expect(streams.out).not.toContain('"teacher:1"');
    await expect(gcopd("retrieve", ...BOTH, "--without", "nobody")).rejects.toThrow(
      /sources\.jsonl\.gz: no task has a source "nobody" to leave out/,
    );
  });

  it("takes a reference by hand, or says why not", async () => {
    const { retrieval } = await json(...one);
    const last = retrieval.candidates.at(-1);
    const pin = `${last.source}@${last.position}`;
    const pinned = await json(...one, "--pin", pin);
    expect(pinned.retrieval).toEqual({
      ...retrieval,
      success: { ...last, cost: undefined, student_position: 2, relation: "current" },
    });
    expect(pinned.text).toContain(`COMPLETE SOURCE ACTION/OBSERVATION EXECUTION: ${last.source}\n`);
    expect(streams.err).toContain(`chosen by hand as successful record: ${last.source}`);
    await expect(gcopd("evidence", ...BOTH, ...one, "--pin-failure", pin)).rejects.toThrow(
      /cannot be the failed reference of decision 2 of episode melt\|12\|easy#1: the source succeeded/,
    );
  });

  it("reads a what-if record back, and says when the library is another one", async () => {
    const full = await json(...one);
    const whatIf = { without: [full.retrieval.success.source], leave_out: [{ record: "student", event: 0 }] };
    const changed = await json(...one, "--without", full.retrieval.success.source);
    const saved = write("what-if.jsonl", [{ ...changed.retrieval, what_if: whatIf }]);
    const again = await json("--what-if", saved);
    expect(again.retrieval).toEqual(changed.retrieval);
    expect(again.text).not.toContain("Student event 1\n");
    expect(again.text).toContain("Student event 2\n");
    expect(streams.err).not.toContain("warning");

    const other = write("other.jsonl", [{ ...full.retrieval, what_if: whatIf }]);
    await json("--what-if", other);
    expect(streams.err).toContain("the what-if record was made with another library: it retained");
    const text = write("text.jsonl", [{ ...full.retrieval, what_if: { evidence_text: "Look first." } }]);
    expect((await json("--what-if", text)).text).toBe("Look first.");
    const none = write("none.jsonl", [{ ...full.retrieval, what_if: { evidence_text: "" } }]);
    expect((await json("--what-if", none)).text).toBe("");
    expect(streams.err).toContain("the teacher reads the vanilla context");

    await expect(gcopd("evidence", ...BOTH, "--what-if", saved, ...one)).rejects.toThrow(
      /leave out --episode, --decision/,
    );
    await expect(gcopd("evidence", ...BOTH)).rejects.toThrow(UsageError);
    const plain = write("plain.jsonl", [full.retrieval]);
    await expect(gcopd("evidence", ...BOTH, "--what-if", plain)).rejects.toThrow(/line 1, what_if: missing/);
  });
});

describe("gcopd graph", () => {
  it("prints a table of all tasks with totals", async () => {
    await gcopd("graph", "--library", LIBRARY);
    const rows = streams.out.trimEnd().split("\n");
    expect(rows).toHaveLength(13);
    expect(rows[0]).toMatch(/^task +sources +won +lost/);
    expect(rows.at(-1)).toMatch(/^total +195 +105 +/);
  });

  it("prints one task's states and edges, as text and as JSON", async () => {
    const task = "find-plant|3|easy";
    await gcopd("graph", "--library", LIBRARY, "--task", task);
    expect(streams.out).toMatch(/\nstate +sources +visits/);
    expect(streams.out).toMatch(/\nedge +sources +traversals/);
    streams.out = "";
    await gcopd("graph", "--library", LIBRARY, "--task", task, "--json");
    const { tasks } = JSON.parse(streams.out);
    expect(tasks).toHaveLength(1);
    const { statistics, states, edges } = tasks[0];
    expect(statistics).toMatchObject({
      sources: 18,
      visits: 289,
      states: states.length,
      edges: edges.length,
    });
    expect(states.flatMap((state: { visits: object[] }) => state.visits)).toHaveLength(
      statistics.located_visits,
    );
    expect(states.filter((state: { sources: number }) => state.sources > 1)).toHaveLength(
      statistics.shared_states,
    );
    expect(edges.reduce((sum: number, edge: { traversals: number }) => sum + edge.traversals, 0)).toBe(
      statistics.traversals,
    );
  });

  it("names a task that is not there", async () => {
    await expect(gcopd("graph", "--library", LIBRARY, "--task", "none")).rejects.toThrow(
      /sources\.jsonl\.gz: no task "none" among 11: /,
    );
  });
});
