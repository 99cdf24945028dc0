import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../core/errors.ts";
import type { Source } from "../../../core/record/schema.ts";
import { describeReport } from "../describe-report.ts";
import { type ImportFiles, memoryFiles } from "../files.ts";
import type { ImportReport } from "../report.ts";
import { chooseImporter, runImport } from "../run-import.ts";

const FOLDER = new URL("../../../../test/fixtures/imports/other/", import.meta.url);

const fixture = (name: string) => new Uint8Array(readFileSync(new URL(name, FOLDER)));

async function fixtureFiles(...names: string[]): Promise<ImportFiles> {
  const contents: Record<string, Uint8Array> = {};
  for (const name of names) {
    if (!name.endsWith("/")) contents[name] = fixture(name);
    else for (const file of await readdir(new URL(name, FOLDER))) contents[file] = fixture(name + file);
  }
  return memoryFiles(contents);
}

function expected(name: string): Record<string, unknown>[] {
  return gunzipSync(fixture(name))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function imported(
  files: ImportFiles,
  format?: string,
): Promise<{ records: unknown[]; report: ImportReport }> {
  const { records, report } = await runImport(files, format === undefined ? {} : { format });
  const all: unknown[] = [];
  for await (const { record } of records) all.push(record);
  return { records: all, report };
}

/** One source, as its file of one row. */
async function only(name: string, content: unknown, format?: string) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const { records, report } = await imported(memoryFiles({ [name]: text }), format);
  return { record: records[0] as Record<string, never>, records, report };
}

describe("samples", () => {
  const cases: [string, string[], string, string][] = [
    ["ETO", ["eto-sharegpt.json"], "eto-sharegpt.expected-sources.jsonl.gz", "sharegpt"],
    ["Parquet, snappy", ["conversations.parquet"], "eto-sharegpt.expected-sources.jsonl.gz", "sharegpt"],
    ["Parquet, plain", ["conversations-plain.parquet"], "eto-sharegpt.expected-sources.jsonl.gz", "sharegpt"],
    ["AgentGym", ["agentgym_alfworld.json"], "agentgym_alfworld.expected-sources.jsonl.gz", "sharegpt"],
    ["OpenAI chat", ["openai-chat.jsonl"], "openai-chat.expected-sources.jsonl.gz", "openai-chat"],
    ["WebShop", ["webshop-sessions/"], "webshop-sessions.expected-sources.jsonl.gz", "webshop-session"],
    [
      "ScienceWorld histories",
      ["scienceworld-histories-0-1.json"],
      "scienceworld-histories.expected-sources.jsonl.gz",
      "scienceworld-history",
    ],
    ["ATIF", ["atif/"], "atif.expected-sources.jsonl.gz", "atif"],
    ["verl", ["verl-rollouts/"], "verl-rollouts.expected-episodes.jsonl.gz", "verl"],
  ];
  it.each(cases)("%s gives its expected records", async (_, names, wanted, format) => {
    const { records, report } = await imported(await fixtureFiles(...names));
    const want = expected(wanted);
    expect(report.format).toBe(format);
    expect(records).toHaveLength(want.length);
    expect(records).toMatchObject(want);
    expect(report.sources + report.episodes).toBe(want.length);
    expect(report.skipped).toEqual([]);
    expect(report.warnings).toEqual([]);
    if (format === "webshop-session") expect(report.unaligned.reasons).toEqual([]);
    else {
      expect(report.unaligned.sources + report.unaligned.episodes).toBe(want.length);
      expect(report.unaligned.reasons).toHaveLength(1);
    }
  });
});

describe("conversations", () => {
  const talk = (...values: string[]) =>
    values.map((value, n) => ({ from: n % 2 === 0 ? "human" : "gpt", value }));

  it("takes no action where a reply has none or several", async () => {
    const { record } = await only("a.json", [
      {
        id: "sciworld_3",
        conversations: talk(
          ...[
            "Rules.",
            "OK",
            "A hall.",
            "I look.",
            "No.",
            "Action: a\nAction: b",
            "No.",
            "Thought: x Action: go",
            "Done.",
          ],
        ),
      },
    ]);
    expect(record).toMatchObject({
      environment: "scienceworld",
      task: "sciworld_3",
      decisions: [
        { action: null, status: "malformed" },
        { action: null, status: "malformed" },
        { action: "go", status: "executed", feedback: "Done." },
      ],
    });
  });

  it("follows ScienceWorld's menus and refusals", async () => {
    const menu =
      "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tlook at  cup\n1:\tlook at tin cup";
    const { record } = await only("a.json", [
      {
        id: "scienceworld_1",
        conversations: talk(
          ...[
            "Rules.",
            "OK",
            "A hall.",
            "Action: look at cup",
            `Observation: ${menu}`,
            "Action: 1",
            "Observation: a tin cup",
          ],
          ...["Action: fly", "Observation: No known action matches that input.", "Action: 1"],
        ),
      },
    ]);
    expect(record).toMatchObject({
      decisions: [
        { action: "look at cup", status: "executed", binding: null },
        { action: "1", status: "binding", binding: "look at tin cup" },
        { action: "fly", status: "rejected" },
        { action: "1", status: "executed", binding: null, feedback: "" },
      ],
    });
  });

  it("refuses an unknown speaker, with file and key", async () => {
    const rows = [{ id: "a_0", conversations: [{ from: "robot", value: "x" }] }];
    await expect(only("a.json", rows)).rejects.toThrow(
      /^a\.json, \[0\]\.conversations\[0\]\.from: expected human, .*received "robot"$/,
    );
  });

  it("takes tool calls and text parts of chats", async () => {
    const call = (args: string) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "act", arguments: args } }],
    });
    const { record, report } = await only("a.jsonl", {
      messages: [
        { role: "user", content: [{ type: "text", text: "This room is called the hall." }] },
        call('{"action": "open door"}'),
        { role: "tool", tool_call_id: "c", content: "The door is now open." },
        call('{"object": "cup", "place": "box"}'),
      ],
    });
    expect(record).toMatchObject({
      environment: "scienceworld",
      task: "chat_0",
      decisions: [
        { action: "open door", feedback: "The door is now open." },
        { action: 'act {"object":"cup","place":"box"}' },
      ],
    });
    expect(report.warnings).toEqual([]);
  });
});

describe("WebShop sessions", () => {
  const shop = "http://127.0.0.1:3000";
  const line = (page: string, path: string, rest: object = {}) =>
    JSON.stringify({ page, url: shop + path, goal: { instruction_text: "find a lamp" }, ...rest });
  const words = "%5B%27lamp%27%5D";

  it("finds the action between any two pages", async () => {
    const item = (options: string) => line("item_page", `/item_page/s1/B01/${words}/2/${options}`);
    const { record, report } = await only(
      "s1.jsonl",
      [
        line("index", "/s1"),
        line("search_results", `/search_results/s1/${words}/1`, { content: { keywords: ["lamp"], page: 1 } }),
        line("search_results", `/search_results/s1/${words}/2`, { content: { keywords: ["lamp"], page: 2 } }),
        item("%7B%7D"),
        item("%7B%27color%27%3A%20%27Red%27%7D"),
        line("item_sub_page", `/item_sub_page/s1/B01/${words}/2/Reviews/%7B%27color%27%3A%20%27Red%27%7D`),
        item("%7B%27color%27%3A%20%27Red%27%7D"),
        line("search_results", `/search_results/s1/${words}/2`),
        line("search_results", `/search_results/s1/${words}/1`),
        line("index", "/s1"),
      ].join("\n"),
    );
    expect((record.decisions as unknown as { action: string }[]).map(({ action }) => action)).toEqual([
      "search[lamp]",
      "click[next >]",
      "click[b01]",
      "click[red]",
      "click[reviews]",
      "click[< prev]",
      "click[< prev]",
      "click[< prev]",
      "click[back to search]",
    ]);
    expect(record).toMatchObject({ task: "s1", outcome: { success: false, ended: "technical", score: 0 } });
    expect(report.warnings).toEqual([]);
  });

  it("leaves a gap where no action leads from page to page", async () => {
    const { record, report } = await only(
      "fixed_7.jsonl",
      [
        line("index", "/fixed_7"),
        line("item_page", `/item_page/fixed_7/B01/${words}/1/%7B%7D`),
        line("index", "/fixed_7"),
      ].join("\n"),
    );
    expect(record).toMatchObject({
      task: "goal7",
      decisions: [
        { action: null, status: "executed", gap_before: false },
        { action: "click[back to search]", gap_before: true },
      ],
    });
    expect(report.warnings).toHaveLength(1);
  });

  it("refuses an address of another site", async () => {
    await expect(only("a.jsonl", line("index", "/a/b/c"))).rejects.toThrow(
      /^a\.jsonl, line 1, url: not a WebShop address: unknown page "a"$/,
    );
  });
});

describe("ScienceWorld histories", () => {
  const entry = (action: string, score: string, isCompleted = "false") => ({
    action,
    observation: `after ${action}`,
    score,
    isCompleted,
  });
  const run = (...history: object[]) => ({
    taskName: "boil",
    variationIdx: "2",
    taskDescription: "Boil.",
    simplifications: "",
    history,
  });

  it("reads one history as it comes from the environment; a wrong focus is a failure", async () => {
    const { record } = await only(
      "h.json",
      run(entry("look around", "0.0"), entry("focus on air", "-1.0", "true")),
    );
    expect(record).toMatchObject({
      task: "boil|2|",
      initial_observation: "after look around",
      decisions: [{ action: "focus on air", score: -100 }],
      outcome: { success: false, score: -100, ended: "environment" },
    });
  });

  it("rounds as Python does, and keeps a first action that is not a look-around", async () => {
    const { record } = await only("h.json", run(entry("wait", "0.125"), entry("wait", "0.285")));
    expect(record).toMatchObject({ decisions: [{ score: 12, observation: "" }, { score: 28 }] });
  });

  it("refuses a score that is not a number", async () => {
    await expect(only("h.json", run(entry("wait", "high")))).rejects.toThrow(
      /^h\.json, history\[0\]\.score: /,
    );
  });
});

describe("verl rollouts", () => {
  it("takes the environment that any row shows, and keeps other keys", async () => {
    const row = (input: string, output: string, rest: object = {}) =>
      JSON.stringify({ input, output, score: 0, ...rest });
    const { records, report } = await only(
      "12.jsonl",
      [
        row("Decision 4. You see: Nothing.", "<action>look</action>", {
          step: 12,
          reward_model: "rule",
          gts: null,
        }),
        row(
          "Decision 5. You see: You arrive at desk 1. On the desk 1, you see a pen 1.",
          "<action>a</action> <action>b</action>",
        ),
        row("?", "<action>go to desk 1</action>", { score: 55 }),
      ].join("\n"),
    );
    expect(records).toMatchObject([
      {
        episode: "12:0",
        environment: "alfworld",
        decisions: [{ action: "look" }],
        verl: { reward_model: "rule" },
      },
      { episode: "12:1", environment: "alfworld", decisions: [{ action: null, status: "malformed" }] },
      { episode: "12:2", environment: "alfworld", outcome: { success: false, score: 55 } },
    ]);
    expect(report.warnings).toHaveLength(1);
  });
});

describe("malformed replies", () => {
  it("are counted, with the first of them and what its parser finds wrong", async () => {
    const row = (output: string) => `${JSON.stringify({ input: "You see a pen.", output, score: 0 })}\n`;
    const think = row("<think>Look.</think><action>look</action>");
    const files = {
      "1.jsonl": row("<thought>Look.</thought><action>look</action>") + think,
      "2.jsonl": think,
    };
    const { report } = await imported(memoryFiles(files));
    expect(report.malformed).toEqual({
      decisions: 2,
      first: {
        file: "1.jsonl",
        key: 'line 2, episode "1:1", decisions[0]',
        message: "text outside the blocks",
      },
    });
    expect(describeReport(report)).toContain(
      'malformed: 2 of 3 replies, with action null; the first: 1.jsonl, line 2, episode "1:1", decisions[0]: text outside the blocks',
    );
  });

  it("of formats that are kept as sources are counted, too", async () => {
    const messages = ["A hall.", "I look.", "A hall.", "<action>look</action>", "A hall."].map(
      (content, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content }),
    );
    const { report } = await only("a.json", { id: "a", messages });
    expect(report.malformed).toEqual({
      decisions: 1,
      first: {
        file: "a.json",
        key: 'source "other:0" of task "a", decisions[0]',
        message: "the reply holds no action, or several",
      },
    });
  });
});

describe("repetitions", () => {
  const numbers = (records: unknown[]) =>
    (records as Source[]).map(({ environment, task, source, repetition }) =>
      [environment, task, source, repetition].join(" "),
    );
  const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

  it("are counted within a task, through all files", async () => {
    const plan = (game_file: string) => ({ game_file, actions: ["look"] });
    const files = {
      "a.jsonl": lines(plan("x"), plan("y"), plan("x")),
      "b.jsonl": lines(plan("z"), plan("y")),
    };
    const { records } = await imported(memoryFiles(files));
    expect(numbers(records)).toEqual([
      "alfworld x other:0 0",
      "alfworld y other:0 0",
      "alfworld x other:1 1",
      "alfworld z other:0 0",
      "alfworld y other:1 1",
    ]);
  });

  it("are counted within an environment; a row without an id is a task of its own", async () => {
    const chat = (rest: object) => ({ ...rest, messages: [{ role: "user", content: "Hi" }] });
    const rows = lines(
      ...[{ id: 1, environment: "a" }, { id: 1, environment: "b" }, {}, { id: 1, environment: "a" }, {}].map(
        chat,
      ),
    );
    const { records } = await imported(memoryFiles({ "a.jsonl": rows }));
    expect(numbers(records)).toEqual([
      "a 1 other:0 0",
      "b 1 other:0 0",
      "custom chat_2 other:0 0",
      "a 1 other:1 1",
      "custom chat_4 other:0 0",
    ]);
  });
});

describe("other forms", () => {
  it("reads expert plans", async () => {
    const { record } = await only("train_expert.jsonl", {
      game_file: "a/b/game.tw-pddl",
      target: "put a mug on the desk",
      actions: ["go to shelf 1", "take mug 1 from shelf 1"],
    });
    expect(record).toMatchObject({
      environment: "alfworld",
      task: "a/b/game.tw-pddl",
      decisions: [{ action: "go to shelf 1" }, { action: "take mug 1 from shelf 1" }],
      outcome_unknown: true,
    });
  });

  it("names a format that nothing fits", async () => {
    await expect(chooseImporter(memoryFiles({ "a.json": '{"x": 1}' }))).rejects.toThrow(
      /^a\.json: not in any format that can be imported; known are /,
    );
  });

  it("tells the fault of a damaged Parquet file in one line", async () => {
    const bytes = fixture("conversations.parquet").slice(0, 2000);
    await expect(imported(memoryFiles({ "a.parquet": bytes }), "sharegpt")).rejects.toThrow(InputError);
  });
});

describe("a given environment", () => {
  const sources = async (
    contents: Record<string, string>,
    options: { environment?: string } = {},
  ): Promise<{ environment: string; statuses: string[] }[]> => {
    const { records } = await runImport(memoryFiles(contents), options);
    const found: { environment: string; statuses: string[] }[] = [];
    for await (const imported of records) {
      if (imported.kind === "score") continue;
      const { environment, decisions } = imported.record;
      found.push({ environment, statuses: decisions.map(({ status }) => status) });
    }
    return found;
  };
  const chat = (...texts: string[]) =>
    `${JSON.stringify({
      messages: texts.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content })),
    })}\n`;
  const plain = chat(
    "You see a box.",
    "<action>open box</action>",
    "Nothing happens.",
    "<action>wait</action>",
  );
  const shopped = chat(
    "Find a shirt.",
    "<action>search[shirt]</action>",
    "results",
    "<action>click[a]</action>",
  );

  it("is taken where nothing tells, with its rules", async () => {
    expect(await sources({ "a.jsonl": plain })).toEqual([
      { environment: "custom", statuses: ["executed", "executed"] },
    ]);
    expect(await sources({ "a.jsonl": plain }, { environment: "alfred" })).toEqual([
      { environment: "alfworld", statuses: ["rejected", "executed"] },
    ]);
    const row = { input: "Go on.", output: "<thought>x</thought><action> </action>" };
    expect(await sources({ "7.jsonl": `${JSON.stringify(row)}\n` }, { environment: "scienceworld" })).toEqual(
      [{ environment: "scienceworld", statuses: ["malformed"] }],
    );
    const talk = {
      id: "train_17",
      conversations: [
        { from: "human", value: "Hi" },
        { from: "gpt", value: "ok" },
      ],
    };
    expect(await sources({ "t.json": JSON.stringify([talk]) }, { environment: "webshop" })).toEqual([
      { environment: "webshop", statuses: [] },
    ]);
  });

  it.each([
    [
      "what the actions show",
      { "a.jsonl": shopped },
      'a.jsonl, line 1, environment: is a recording of "webshop"',
    ],
    [
      "an id that names another",
      { "t.json": JSON.stringify([{ id: "alfworld_3", conversations: [{ from: "human", value: "Hi" }] }]) },
      'is a recording of "alfworld", not of "scienceworld" as given',
    ],
    [
      "a format that says it",
      {
        "p.jsonl": `${JSON.stringify({ environment: "webshop", messages: [{ role: "user", content: "Hi" }] })}\n`,
      },
      'is a recording of "webshop"',
    ],
  ])("is refused by %s", async (_, contents, message) => {
    await expect(
      sources(contents as Record<string, string>, { environment: "scienceworld" }),
    ).rejects.toThrow(message);
  });

  it("must be a name", async () => {
    await expect(sources({ "a.jsonl": plain }, { environment: " " })).rejects.toThrow("--environment");
  });
});
