/** Teacher and student with tokenizers of their own: which one writes, and when the student is left out. */
import { describe, expect, it } from "vitest";
import { EPISODES, jsonLines, SOURCES, TASK } from "../../../../e2e/own-files.ts";
import { nextRelease, tokenizerFiles } from "../../../../test/support/tokenizers.ts";
import { environmentRules } from "../../../core/environment/environment.ts";
import { loadTokenizer, type TokenizerTexts } from "../../../text/index.ts";
import { LibraryService } from "../worker/library-service.ts";

const QWEN3 = tokenizerFiles("tokenizer");
const QWEN3_5: TokenizerTexts = {
  ...tokenizerFiles("tokenizer-qwen3_5"),
  // The fixture brings no chat template of its own.
  tokenizerConfigJson: QWEN3.tokenizerConfigJson,
};
const [episode] = EPISODES;

async function opened(decision: object = {}) {
  const service = new LibraryService();
  const blob = (records: unknown[]) => new Blob([Uint8Array.from(jsonLines(records))]);
  const decisions = [{ ...episode!.decisions[0]!, ...decision }, episode!.decisions[1]!];
  const { id } = await service.open(
    [
      { kind: "blob", name: "sources.jsonl", blob: blob(SOURCES) },
      { kind: "blob", name: "episodes.jsonl", blob: blob([{ ...episode, decisions }]) },
    ],
    [],
    { title: "own", origin: "own", link: null },
    () => {},
  );
  return { service, ref: { library: id, environment: "scienceworld", task: TASK } };
}

describe("tokenizers of teacher and student", () => {
  it("that read other ids: the teacher's writes what is scored, and the student is left out", async () => {
    const { service, ref } = await opened();
    const fit = service.tasks.setTokenizers({ teacher: QWEN3, student: QWEN3_5 });
    expect(fit.scoring).toMatch(/^tokenizer-qwen3_5: not the token ids of tokenizer: id /);
    expect(fit.training).toMatch(/^tokenizer: not the token ids of tokenizer-qwen3_5: id /);
    const pair = await service.tasks.pair(ref, "own#0", 0);
    const { response, prompt } = episode!.decisions[0]!;
    expect(pair.responseIds).toEqual(loadTokenizer(QWEN3).encode(`${response}<|im_end|>`));
    expect(pair.studentProblem).toBe(fit.scoring);
    const own = await service.tasks.pair(ref, "own#0", 0, {}, { by: "student" });
    expect(own.responseIds).toEqual(loadTokenizer(QWEN3_5).encode(`${response}<|im_end|>`));
    const before = await service.tasks.pair(ref, "own#0", 0, {}, { endOfTurn: false });
    expect(before).toEqual({
      ...pair,
      responseIds: pair.responseIds.slice(0, -1),
      pieces: pair.pieces.slice(0, -1),
    });
    expect(loadTokenizer(QWEN3_5).decode(own.vanillaIds)).toContain(prompt);
    // Whichever student stands beside it, the teacher reads the same.
    service.tasks.setTokenizers({ teacher: QWEN3, student: QWEN3 });
    expect(await service.tasks.pair(ref, "own#0", 0)).toEqual({ ...pair, studentProblem: null });
  });

  it("that differ in added tokens: the student is left out only where one comes up", async () => {
    const next = tokenizerFiles("tokenizer", nextRelease, "next");
    const { service, ref } = await opened({ response: "<tool_call>go</tool_use>" });
    expect(service.tasks.setTokenizers({ teacher: next, student: QWEN3 })).toEqual({
      scoring: null,
      training: null,
    });
    expect((await service.tasks.pair(ref, "own#0", 1)).studentProblem).toBeNull();
    expect((await service.tasks.pair(ref, "own#0", 0)).studentProblem).toMatch(
      /^response\[\d+\]: id 1864 is "<\/tool_use>" in next and "<\/tool_call>" in tokenizer/,
    );
  });

  it("other than the one that recorded the ids: the recorded texts are encoded, and it says so", async () => {
    const recorder = loadTokenizer(QWEN3_5);
    const { response, prompt } = episode!.decisions[0]!;
    const { service, ref } = await opened({
      response_ids: recorder.encode(response),
      prompt_ids: recorder.chatIds([{ role: "user", content: prompt }], {
        addGenerationPrompt: true,
        enableThinking: false,
      }),
    });
    service.tasks.setTokenizers({ teacher: QWEN3, student: QWEN3_5 });
    const pair = await service.tasks.pair(ref, "own#0", 0);
    expect(pair.responseIds).toEqual(loadTokenizer(QWEN3).encode(response));
    expect(loadTokenizer(QWEN3).decode(pair.vanillaIds)).toContain(prompt);
    const { counts, countsNote } = await service.tasks.decision(ref, "own#0", 0);
    expect(counts!.response).toBe(pair.responseIds.length);
    expect(countsNote).toBe(
      "The recorded token ids are not of tokenizer: the recorded texts are encoded with it.",
    );
    service.tasks.setTokenizers({ teacher: QWEN3_5, student: QWEN3 });
    expect((await service.tasks.pair(ref, "own#0", 0)).responseIds).toEqual(recorder.encode(response));
    expect((await service.tasks.decision(ref, "own#0", 0)).countsNote).toBeNull();
  });

  it("other than the one whose log-probabilities were recorded: that one tells whether the turn ended", async () => {
    const few = "नमस्ते दुनिया नमस्ते";
    const [teacher, student] = [loadTokenizer(QWEN3), loadTokenizer(QWEN3_5)];
    const text = teacher.encode(few);
    const drawn = student.encode(few).length;
    expect(Math.abs(drawn - text.length)).toBeGreaterThan(1);
    const responseOf = async (count: number, response = few) => {
      const { service, ref } = await opened({
        response,
        rollout_logprobs: new Array<number>(count).fill(-1),
      });
      service.tasks.setTokenizers({ teacher: QWEN3, student: QWEN3_5 });
      const { counts, countsProblem } = await service.tasks.decision(ref, "own#0", 0);
      if (countsProblem !== null) return countsProblem;
      const { responseIds } = await service.tasks.pair(ref, "own#0", 0);
      expect(counts!.response).toBe(responseIds.length);
      return responseIds;
    };
    expect(await responseOf(drawn)).toEqual(text);
    expect(await responseOf(drawn + 1)).toEqual([...text, teacher.endOfTurnId]);
    // More of the teacher's tokens than a response may have: the student that drew fewer had room to end its turn.
    const many = few.repeat(150);
    const ids = teacher.encode(many);
    expect(ids.length).toBeGreaterThan(environmentRules("scienceworld").limits.responseTokens);
    expect(await responseOf(student.encode(many).length + 1, many)).toEqual([...ids, teacher.endOfTurnId]);
    expect(await responseOf(student.encode(many).length, many)).toEqual(ids);
    expect(await responseOf(3)).toMatch(/rollout_logprobs: 3 log-probabilities; expected \d+/);
  });

  it("that cannot be read leave those before", async () => {
    const { service, ref } = await opened();
    service.tasks.setTokenizers({ teacher: QWEN3, student: QWEN3 });
    const before = await service.tasks.pair(ref, "own#0", 0);
    const broken = { ...QWEN3, tokenizerJson: "{" };
    expect(() => service.tasks.setTokenizers({ teacher: QWEN3_5, student: broken })).toThrow("not JSON");
    expect(await service.tasks.pair(ref, "own#0", 0)).toEqual(before);
  });
});
