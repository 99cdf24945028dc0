import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { EvidenceSpan } from "../../../../core/evidence/types.ts";
import { LibraryService } from "../../../data/worker/library-service.ts";
import { evidencePieces } from "./evidence-pieces.ts";

const span = (start: number, end: number): EvidenceSpan => ({
  start,
  end,
  kind: "student",
  part: "event",
  source: null,
  position: 0,
});

it("keeps what lies between spans, and white space with the span before it", () => {
  const text = "one\n\ntwo and three.";
  const pieces = evidencePieces({
    text,
    spans: [span(5, 8), span(0, 3), span(13, 18)],
    backReferences: false,
  });
  expect(pieces.map((piece) => [piece.text, piece.kind])).toEqual([
    ["one\n\n", "student"],
    ["two", "student"],
    [" and ", null],
    ["three", "student"],
    [".", null],
  ]);
});

it("joined again, the pieces are the evidence: nothing is lost or doubled on the screen", async () => {
  const fixture = new URL("../../../../../test/fixtures/scienceworld/", import.meta.url);
  const files = await Promise.all(
    ["sources.jsonl.gz", "episodes.jsonl.gz"].map(async (name) => {
      const blob = new Blob([await readFile(new URL(name, fixture))]);
      return { kind: "blob" as const, name, blob };
    }),
  );
  const service = new LibraryService();
  const about = { title: "fixture", origin: "own", link: null } as const;
  const { id: library, tasks } = await service.open(files, [], about, () => {});
  for (const { environment, task: name } of tasks) {
    const task = { library, environment, task: name };
    const { episodes } = await service.tasks.task(task);
    const episode = episodes.at(-1)!;
    const last = episode.decisions - 1;
    const { evidence, countsProblem } = await service.tasks.decision(task, episode.id, last);
    expect(countsProblem).toBe("no tokenizer is open");
    expect(
      evidencePieces(evidence)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(evidence.text);
  }
});
