import { describe, expect, it } from "vitest";
import { EPISODES, jsonLines, SOURCES, TASK } from "../../../../e2e/own-files.ts";
import { tokenizerFiles } from "../../../../test/support/tokenizers.ts";
import { episodeSchema } from "../../../core/record/schema.ts";
import { LibraryService } from "./library-service.ts";

const ABOUT = { title: "own", origin: "own", link: null } as const;
const NAME = { environment: "scienceworld", task: TASK };

const file = (name: string, records: unknown[]) => ({
  kind: "blob" as const,
  name,
  blob: new Blob([Uint8Array.from(jsonLines(records))]),
});

async function twoLibraries() {
  const service = new LibraryService();
  const open = (sources: unknown[]) =>
    service.open([file("sources.jsonl", sources), file("episodes.jsonl", EPISODES)], [], ABOUT, () => {});
  return { service, open, first: await open(SOURCES), second: await open(SOURCES.slice(1)) };
}

it("hands out the planner records beside a library only when asked", async () => {
  const { service, first, second } = await twoLibraries();
  const plan = { ...SOURCES[0]!, source: "planner:0", origin: { kind: "planner" } };
  await service.addPlans(first.id, "plans.jsonl", file("plans.jsonl", [plan]).blob);
  const names = async (library: string, asked?: { plans: boolean }) =>
    (await service.tasks.sources({ ...NAME, library }, asked)).map(({ source }) => source);
  const own = SOURCES.map(({ source }) => source);
  expect(await names(first.id)).toEqual(own);
  expect(await names(first.id, { plans: true })).toEqual([...own, "planner:0"]);
  expect(await names(second.id, { plans: true })).toEqual(own.slice(1));
  expect((await service.tasks.task({ ...NAME, library: first.id })).sources).toHaveLength(own.length);
  await expect(service.addPlans(first.id, "plans.jsonl", new Blob(['{"task":1}']))).rejects.toThrow(
    /plans\.jsonl, line 1/,
  );
});

it("counts a library without the decisions that cannot be measured, and names these", async () => {
  const service = new LibraryService();
  const [episode] = EPISODES;
  const decisions = episode!.decisions.map((each) => ({ ...each, prompt_ids: [1e6] }));
  const { id } = await service.open(
    [
      file("sources.jsonl", SOURCES),
      file("episodes.jsonl", [episode, { ...episode, episode: "own#1", decisions }]),
    ],
    [],
    ABOUT,
    () => {},
  );
  const texts = tokenizerFiles("tokenizer");
  service.tasks.setTokenizers({ teacher: texts, student: texts });
  const { decisions: counted, evidence } = await service.statistics(id, {}, () => {});
  expect([counted?.decisions, evidence?.decisions, evidence?.budget?.withoutPrompt]).toEqual([4, 2, 0]);
  expect(evidence?.unmeasured).toEqual(
    [0, 1].map((decision) => ({
      ...NAME,
      file: "episodes.jsonl, line 2",
      episode: "own#1",
      decision,
      reason: expect.stringMatching(/1000000/),
    })),
  );
});

it("counts every record that it can read, and lists the others with file, line and reason", async () => {
  const service = new LibraryService();
  const [first, second, third] = SOURCES.map((source) => JSON.stringify(source));
  const [episode] = EPISODES;
  const lines = [
    first!.replace('"gap_before":false', '"gap_before":"no"'),
    second!.replace('"gap_before":false', '"gap_before":maybe'),
    third,
    JSON.stringify(episode),
    JSON.stringify({ ...episode, episode: "own#1" }).replace('"executed"', '"perhaps"'),
  ];
  // Larger libraries are shown before their records are checked in full; a white line at the end is not a record.
  const blob = new Blob([`${lines.join("\n")}\n`, " ".repeat(24 << 20)]);
  const { id } = await service.open([{ kind: "blob", name: "large.jsonl", blob }], [], ABOUT, () => {});
  const alone = await service.open(
    [file("s.jsonl", [SOURCES[2]]), file("e.jsonl", [episode])],
    [],
    ABOUT,
    () => {},
  );
  const { unreadable, ...figures } = await service.statistics(id, {}, () => {});
  const { unreadable: none, ...expected } = await service.statistics(alone.id, {}, () => {});
  expect(figures).toEqual(expected);
  expect([figures.recorded, figures.decisions?.episodes, none]).toEqual([1, 1, []]);
  expect(unreadable).toEqual([
    {
      kind: "source",
      file: "large.jsonl",
      line: 1,
      reason: "decisions[0].gap_before: expected boolean, received string",
    },
    { kind: "source", file: "large.jsonl", line: 2, reason: expect.stringMatching(/^not JSON/) },
    {
      kind: "episode",
      file: "large.jsonl",
      line: 5,
      reason: expect.stringMatching(/^decisions\[0\]\.status: /),
    },
  ]);
});

it("counts the tasks that have a sampled success under each selection", async () => {
  const service = new LibraryService();
  const planned = { ...SOURCES[0]!, task: "planned", source: "planner:0", origin: { kind: "planner" } };
  const { id } = await service.open([file("sources.jsonl", [...SOURCES, planned])], [], ABOUT, () => {});
  const selections = [
    {},
    { sourcesPerTask: 1 },
    { subset: { successTasks: 0 } },
    { subset: { failures: 0 } },
  ];
  const first = SOURCES.some(({ repetition, outcome }) => repetition === 0 && outcome.success) ? 1 : 0;
  expect(await service.coverage(id, selections)).toEqual({ tasks: 2, covered: [1, first, 0, 1] });
});

describe("several libraries", () => {
  it("keep tasks of one name apart, in what is asked before and after", async () => {
    const { service, first, second } = await twoLibraries();
    expect(first.id).not.toBe(second.id);
    const winner = async (library: string) =>
      (await service.tasks.decision({ library, ...NAME }, "own#0", 0)).retrieval.record.success?.source;
    expect(await winner(first.id)).toBe("teacher:0");
    expect(await winner(second.id)).toBe("teacher:2");
    expect(await winner(first.id)).toBe("teacher:0");
    const task = await service.tasks.task({ library: second.id, ...NAME });
    expect([task.library, task.sources.map(({ id }) => id)]).toEqual([second.id, ["teacher:1", "teacher:2"]]);
    const figures = await service.statistics(second.id, {}, () => {});
    expect(figures.recorded).toBe(2);
    const { sources } = await service.tasks.recordLines(second.id, [{ ...NAME, episode: "own#0" }]);
    expect((await sources.text()).trimEnd().split("\n")).toHaveLength(2);
  });

  it("are called by what is in their files, in any order of them", async () => {
    const { service, open, first, second } = await twoLibraries();
    expect(first.link).toEqual({
      library: expect.stringMatching(/^own-[0-9a-f]{12}$/),
      disk: [],
      addresses: [],
    });
    expect(second.link).not.toEqual(first.link);
    const again = await open(SOURCES);
    expect([again.link, again.id === first.id]).toEqual([first.link, false]);
    const turned = await service.open(
      [file("b.jsonl", EPISODES), file("a.jsonl", SOURCES)],
      [],
      ABOUT,
      () => {},
    );
    expect(turned.link).toEqual(first.link);
  });

  it("end one by one", async () => {
    const { service, first, second } = await twoLibraries();
    service.close(first.id);
    await expect(service.tasks.task({ library: first.id, ...NAME })).rejects.toThrow("not open any more");
    await expect(service.statistics(first.id, {}, () => {})).rejects.toThrow("not open any more");
    expect((await service.tasks.task({ library: second.id, ...NAME })).sources).toHaveLength(2);
  });
});

it("gives the teacher evidence for a decision that nobody has made yet, without the episode's own execution", async () => {
  const { service, first } = await twoLibraries();
  const texts = tokenizerFiles("tokenizer");
  service.tasks.setTokenizers({ teacher: texts, student: texts });
  const [episode] = EPISODES;
  const begun = episode!.decisions[0]!;
  const pending = {
    ...episode!.decisions[1]!,
    action: null,
    status: "malformed",
    feedback: "",
    response: "",
  };
  const running = episodeSchema.parse({
    ...episode,
    decisions: [begun, pending],
    final_state: null,
    outcome: { complete: false, success: false, score: null, ended: "technical", verified: false },
  });
  const { promptIds, evidence } = await service.tasks.presentContext({ ...NAME, library: first.id }, running);
  expect(evidence).toContain("COMPLETE SOURCE ACTION/OBSERVATION EXECUTION: teacher:0");
  expect(evidence).not.toContain("STUDENT'S COMPLETE");
  const vanilla = await service.tasks.pair({ ...NAME, library: first.id }, "own#0", 1);
  expect(promptIds.length).toBeGreaterThan(vanilla.vanillaIds.length);
});
