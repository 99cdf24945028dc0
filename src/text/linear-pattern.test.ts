import { describe, expect, it } from "vitest";
import { patternFault } from "./linear-pattern.ts";

const CL100K =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

describe("patterns of published tokenizers are taken", () => {
  it.each([
    ["GPT-2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"],
    ["GPT-4, Llama 3", CL100K],
    ["Qwen2 to Qwen3", CL100K.replace("{1,3}", "")],
    [
      "Qwen3.5",
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    ],
    [
      "GPT-4o, Llama 4",
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    ],
    [
      "cl100k with possessive quantifiers",
      "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
    ],
    [
      "DeepSeek V3",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    ],
    ["DeepSeek V3, digits", "\\p{N}{1,3}"],
    ["DeepSeek V3, Chinese and Japanese", "[一-龥\u3040-ゟ゠-ヿ]+"],
    ["Falcon", "[0-9][0-9][0-9]"],
    ["BLOOM", " ?[^(\\s|[.,!?…。，、।۔،])]+"],
  ])("%s", (_name, pattern) => {
    expect(patternFault(pattern)).toBeNull();
  });
});

describe("patterns that take longer than their text allows are refused", () => {
  const BOUND = "repeats a part without a bound before one that may fail";
  const VARIES = "repeats a part that can itself match in several ways";
  it.each([
    ["(a+)+$", BOUND],
    ["(?:a+)+", BOUND],
    ["(?:a+b)*", BOUND],
    ["(a|a)*b", VARIES],
    ["(?:a|a){0,20}b", VARIES],
    ["a*a*a*a*b", BOUND],
    ["\\s*[\\r\\n]+", BOUND],
    ["(?=.*x)a", BOUND],
    ["a+(?=b)", BOUND],
    ["(?<=a+)b", BOUND],
    ["(?:a?){30}", VARIES],
    // Fast at the end of a pattern, where nothing comes after them.
    ["(?:\\s+(?!\\S))+", BOUND],
    ["(?:\\s+(?!\\S)|b)*", BOUND],
    ["(?:\\s+(?!\\S))b", BOUND],
    ["(?=\\s+(?!\\S))a", BOUND],
    ["(?:){30}", "repeats a part that can match nothing"],
    [`${"a?".repeat(30)}${"a".repeat(30)}`, "can match in more than 64 ways"],
    ["a{0,1000}b", "can match in more than 64 ways"],
    ["(?:(?:a|b)c|d){2}x", VARIES],
    ["(a)\\1", "refers to another part of itself"],
    ["a+*", "has a quantifier behind a quantifier"],
    ["a{2}{3,}", "has a quantifier behind a quantifier"],
    ["(?m:a)", "has a group of an unknown kind"],
    ["(".repeat(30) + ")".repeat(30), "has more than 20 groups inside each other"],
    ["a".repeat(10_001), "has 10001 characters, at most 10000 are taken"],
    ["(a", "has a ( without its )"],
    ["a)", "has a ) without its ("],
    ["[a", "has a [ without its ]"],
  ])("%s", (pattern, fault) => {
    expect(patternFault(pattern)).toContain(fault);
  });
});
