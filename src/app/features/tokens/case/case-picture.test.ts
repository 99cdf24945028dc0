import { describe, expect, it } from "vitest";
import { computedOn, scoredSide } from "../../../../../test/support/token-scores.ts";
import { roughly, wrapped, xmlText } from "../../../base/export/svg-text.ts";
import { casePicture } from "./case-picture.ts";
import { caseTable } from "./case-table.ts";

const DECISION = { environment: "scienceworld", task: "melt|12|easy", episode: "e_1", decision: 4 };

function tableOf(pieces: string[]) {
  const side = (key: string, p: number) => {
    const logprobs = pieces.map(() => Math.log(p));
    return computedOn(scoredSide(key, logprobs), { model: "qwen3_a", device: "webgpu" });
  };
  const ids = pieces.map((_, i) => i);
  const sides = [side("vanilla", 0.9769), side("graph", 0.2681)];
  return caseTable(DECISION, "full method", { pieces, ids, sides }, "whole");
}

describe("casePicture", () => {
  it("has the paper's figures, the model, the evidence and the files", () => {
    const { svg, width, height } = casePicture(tableOf(["look"]), ["episodes.jsonl.gz"], roughly);
    for (const text of [
      "97.69%",
      "26.81%",
      "−1.293",
      "look",
      "qwen3_a (f32, WebGPU)",
      "full method",
      "episodes.jsonl.gz",
    ])
      expect(svg.replace(/<\/text><text[^>]*>/g, " ")).toContain(text);
    expect(svg).toContain(`width="${width}" height="${height}"`);
    expect(svg).toContain("Helvetica");
    expect(svg).not.toMatch(/Student|NaN|undefined/);
  });
  it("is well-formed whatever the tokens are, and says how much of a long one is left out", () => {
    const hostile = [
      "<script>alert(1)</script>",
      "&amp;",
      '"',
      "\u0000\u001b",
      "\ud83d",
      "\uffff",
      "שלום\u202e",
      "x".repeat(100_000),
    ];
    const { svg, width } = casePicture(tableOf(hostile), ["<b>&"], roughly);
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).toMatch(/…⟨[\d,]+ more/);
    expect(width).toBeLessThan(1000);
    expect(svg).not.toMatch(/\p{Cs}/u);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids them
    expect(svg).not.toMatch(/[\u0000-\u0008\ufffe\uffff]/);
    // Every mark of XML is one of ours.
    expect(svg.match(/<(?!\/?(svg|rect|text|line|g)\b)/g)).toBeNull();
  });
});

describe("wrapped", () => {
  it("breaks at spaces, and inside of what is too wide", () => {
    expect(wrapped("aa bb cc", 5, (text) => text.length)).toEqual(["aa bb", "cc"]);
    expect(wrapped("aaaaaaaa b", 5, (text) => text.length)).toEqual(["aaaaa", "aaa b"]);
    expect(wrapped("", 5, (text) => text.length)).toEqual([]);
  });
  it("escapes what XML cannot hold", () => {
    expect(xmlText('<a b="c">&\u0001\ud800')).toBe("&lt;a b=&quot;c&quot;&gt;&amp;\ufffd\ufffd");
  });
});
