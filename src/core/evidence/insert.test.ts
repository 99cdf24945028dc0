import { describe, expect, it } from "vitest";
import { InputError } from "../errors.ts";
import { evidenceInsert, insertEvidence, insertEvidenceText } from "./insert.ts";

describe("insertEvidence", () => {
  it("puts the ids before the last end of turn and leaves all others", () => {
    const prompt = [1, 9, 2, 3, 9, 4, 5];
    expect(insertEvidence(prompt, [7, 8], 9)).toEqual([1, 9, 2, 3, 7, 8, 9, 4, 5]);
    expect(prompt).toEqual([1, 9, 2, 3, 9, 4, 5]);
    expect(insertEvidence([9], [], 9)).toEqual([9]);
  });

  it("refuses a prompt without an end of turn and evidence with one", () => {
    expect(() => insertEvidence([1, 2], [7], 9)).toThrow(InputError);
    expect(() => insertEvidence([1, 9], [7, 9], 9)).toThrow(/would end the user's message/);
  });
});

describe("insertEvidenceText", () => {
  it("does the same in text", () => {
    const prompt = "<|im_start|>user\nAct.<|im_end|>\n<|im_start|>assistant\n";
    expect(insertEvidenceText(prompt, "R")).toBe(
      "<|im_start|>user\nAct.\nR\n<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(insertEvidenceText("a<|im_end|>b<|im_end|>c", "R")).toBe("a<|im_end|>b\nR\n<|im_end|>c");
  });

  it("adds to the end of a bare user message", () => {
    expect(insertEvidenceText("Act.", "$& R")).toBe("Act.\n$& R\n");
    expect(evidenceInsert("R")).toBe("\nR\n");
  });
});
