import { expect, it, vi } from "vitest";
import { EPISODES, jsonLines, SOURCES, TASK } from "../../../../e2e/own-files.ts";
import { tokenizerFiles } from "../../../../test/support/tokenizers.ts";
import { renderEvidence } from "../../../core/evidence/render.ts";
import { retrieve } from "../../../core/retrieval/retrieve.ts";
import { LibraryService } from "./library-service.ts";

vi.mock("../../../core/evidence/render.ts", { spy: true });
vi.mock("../../../core/retrieval/retrieve.ts", { spy: true });

it("retrieves and renders a decision once for each selection, until another tokenizer is opened", async () => {
  const service = new LibraryService();
  const blob = new Blob([...SOURCES, ...EPISODES].map((record) => Uint8Array.from(jsonLines([record]))));
  const about = { title: "own", origin: "own", link: null } as const;
  const { id } = await service.open([{ kind: "blob", name: "own.jsonl", blob }], [], about, () => {});
  const tokenizer = (name: "tokenizer" | "tokenizer-qwen3_5") => {
    const texts = tokenizerFiles(name);
    service.tasks.setTokenizers({ teacher: texts, student: texts });
  };
  const ref = { library: id, environment: "scienceworld", task: TASK };
  const cost = async (ask: () => Promise<unknown>) => {
    vi.mocked(retrieve).mockClear();
    vi.mocked(renderEvidence).mockClear();
    await ask();
    return [vi.mocked(retrieve).mock.calls.length, vi.mocked(renderEvidence).mock.calls.length];
  };
  const open = async (selection: object) => {
    const { counts } = await service.tasks.decision(ref, "own#0", 1, selection);
    const { graphIds } = await service.tasks.pair(ref, "own#0", 1, selection);
    expect(counts?.graph).toBe(graphIds.length);
  };
  tokenizer("tokenizer");
  const control = "hindsight-only";
  expect(await cost(() => open({ control }))).toEqual([2, 2]);
  expect(await cost(() => open({}))).toEqual([0, 0]);
  expect(await cost(() => open({ control, without: [SOURCES[0]!.source] }))).toEqual([1, 1]);
  tokenizer("tokenizer-qwen3_5");
  expect(await cost(() => open({}))).toEqual([1, 1]);
});
