import { expect, it } from "vitest";
import { readOptimal } from "./known-optimal.ts";

const records = {
  episodePlaces: () => new Map([["own#0", { environment: "e", task: "t", decisions: 2 }]]),
};
const line = { task: "t", episode: "own#0", decision: 0, optimal: ["go", "wait"] };

function read(...lines: object[]) {
  return readOptimal(new Blob(lines.map((each) => `${JSON.stringify(each)}\n`)), "o.jsonl", records);
}

it("reads a line per decision, in the order of the file", async () => {
  const { file, decisions } = await read({ ...line, decision: 1 }, line);
  expect(file).toBe("o.jsonl");
  expect(decisions).toEqual([
    { environment: "e", ...line, decision: 1 },
    { environment: "e", ...line },
  ]);
});

it("refuses an action or a decision that is there twice, which would count double", async () => {
  await expect(read({ ...line, optimal: ["go", "go"] })).rejects.toThrow(
    'o.jsonl, line 1, optimal: "go" is named twice; expected each action once',
  );
  await expect(read(line, { ...line, optimal: ["look"] })).rejects.toThrow(
    'o.jsonl, line 2, decision: decision 0 of episode "own#0" is already on line 1; ids must be unique',
  );
});
