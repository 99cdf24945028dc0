import { expect, it } from "vitest";
import { EVERYTHING, HOSTILE, hostileText } from "../../test/support/hostile.ts";
import fc from "../../test/support/property.ts";
import { plainLine, plainText } from "./plain-text.ts";

it("spells what a terminal would obey, and nothing else", () => {
  expect(plainText(HOSTILE.terminal)).toBe(
    "\\u001b[31mred\\u001b[0m\\u001b]0;title\\u0007\\u001b[2J\\u001b[1A\\u000doverwritten",
  );
  expect(plainText("one\r\ntwo\tthree\n\u009b2J\u202e")).toBe("one\r\ntwo\tthree\n\\u009b2J\\u202e");
  expect(plainLine("one\r\ntwo\t")).toBe("one\\u000d\\u000atwo\\u0009");
  for (const text of [HOSTILE.markup, HOSTILE.emoji, HOSTILE.combining, "שלום مرحبا"]) {
    expect(plainText(text)).toBe(text);
    expect(plainLine(text)).toBe(text);
  }
});

it("leaves JSON the JSON that it is", () => {
  const record = { text: EVERYTHING, [EVERYTHING]: 1 };
  expect(JSON.parse(plainText(JSON.stringify(record, null, 2)))).toEqual(record);
  fc.assert(
    fc.property(hostileText, (text) => {
      const written = plainText(JSON.stringify([text]));
      expect(written).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      expect(JSON.parse(written)).toEqual([text]);
    }),
  );
});
