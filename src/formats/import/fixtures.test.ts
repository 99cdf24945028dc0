import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import {
  expectedLines,
  fixtureContents,
  importAll,
  onExpectedKeys,
} from "../../../test/support/import-fixture.ts";
import { environmentRules } from "../../core/environment/environment.ts";
import type { Episode, RetrievalRecord, ScoreOutput, Source } from "../../core/record/schema.ts";
import { prepareTask } from "../../core/retrieval/prepare.ts";
import { retrieveEpisode } from "../../core/retrieval/retrieve.ts";
import type { ImportedRecord } from "./importer.ts";

function sources(records: ImportedRecord[]): Source[] {
  return records.flatMap((imported) => (imported.kind === "source" ? [imported.record] : []));
}

function episodes(records: ImportedRecord[]): Episode[] {
  return records.flatMap((imported) => (imported.kind === "episode" ? [imported.record] : []));
}

function retrieveAll(library: Source[], rollouts: Episode[], environment: string): RetrievalRecord[] {
  const tasks = new Map(
    [...new Set(library.map(({ task }) => task))].map((task) => [
      task,
      prepareTask(
        library.filter((source) => source.task === task),
        environmentRules(environment),
      ),
    ]),
  );
  return rollouts.flatMap((episode) => {
    const task = tasks.get(episode.task);
    return task === undefined ? [] : retrieveEpisode(task, episode).map(({ record }) => record);
  });
}

const CATALOGS = [
  ["scienceworld-catalog", "scienceworld-catalog", "scienceworld", 51, 376],
  ["scienceworld-catalog-absolute", "scienceworld-catalog", "scienceworld", 16, 100],
  ["alfworld-catalog", "alfworld-catalog", "alfworld", 34, 195],
  ["alfworld-catalog-base", "alfworld-catalog", "alfworld", 16, 91],
  ["webshop-catalog", "webshop-catalog", "webshop", 33, 120],
] as const;

describe.each(CATALOGS)("the fixture %s", (folder, format, environment, count, retrievals) => {
  const expected = expectedLines<Source>(`${folder}/expected-sources.jsonl.gz`);

  it("is recognised, and gives every key of every expected source, in order", async () => {
    const { records, report, format: found } = await importAll(fixtureContents(`${folder}/catalog`));
    expect(found).toBe(format);
    const imported = sources(records);
    expect(imported.length).toBe(count);
    expect(report.sources).toBe(count);
    imported.forEach((source, i) => {
      expect(onExpectedKeys(source, expected[i]), `${source.task} ${source.source}`).toStrictEqual(
        expected[i],
      );
      // A key that the expectation lacks must not hold tries that were never made.
      expect(source.attempts_after_last).toStrictEqual(expected[i]!.attempts_after_last);
    });
  });

  it("gives the expected retrieval records over the imported library", async () => {
    const library = sources((await importAll(fixtureContents(`${folder}/catalog`))).records);
    const tasks = new Set(library.map(({ task }) => task));
    const rollouts = environmentFixture(environment).episodes.filter(({ task }) => tasks.has(task));
    const wanted = expectedLines<RetrievalRecord>(`${folder}/retrieval-expected.jsonl.gz`);
    expect(wanted.length).toBe(retrievals);
    expect(retrieveAll(library, rollouts, environment)).toStrictEqual(wanted);
  });
});

it("imports the collector's ALFWorld files", async () => {
  const expected = expectedLines<Source>("alfworld-sources/expected-sources.jsonl.gz");
  const { records, format } = await importAll(fixtureContents("alfworld-sources/episodes"));
  expect(format).toBe("alfworld-sources");
  const imported = sources(records);
  expect(imported.map((source, i) => onExpectedKeys(source, expected[i]))).toStrictEqual(expected);
});

describe.each(["scienceworld", "alfworld", "webshop"])("the student run of %s", (environment) => {
  const folder = `${environment}-run`;
  const contents = Object.fromEntries(
    Object.entries(fixtureContents(folder)).filter(([path]) => /^(episodes|teacher_scores)\//.test(path)),
  );

  it("gives every key of every expected episode, and every score", async () => {
    const { records, format } = await importAll(contents);
    expect(format).toBe("student-run");
    const imported = new Map(episodes(records).map((episode) => [episode.episode, episode]));
    const expected = expectedLines<Episode>(`${folder}/expected-episodes.jsonl.gz`);
    expect(imported.size).toBe(expected.length);
    for (const episode of expected) {
      expect(onExpectedKeys(imported.get(episode.episode), episode), episode.episode).toStrictEqual(episode);
    }
    const scores = records.flatMap((entry) => (entry.kind === "score" ? [entry.record] : []));
    const wanted = expectedLines<ScoreOutput>(`${folder}/expected-scores.jsonl`);
    expect(new Map(scores.map(({ id, logprobs }) => [id, logprobs]))).toStrictEqual(
      new Map(wanted.map(({ id, logprobs }) => [id, logprobs])),
    );
  });

  it("gives the expected retrieval records over the imported catalog", async () => {
    const library = sources((await importAll(fixtureContents(`${environment}-catalog/catalog`))).records);
    const wanted = expectedLines<RetrievalRecord>(`${folder}/retrieval-expected.jsonl.gz`);
    const named = new Set(wanted.map(({ episode }) => episode));
    const rollouts = episodes((await importAll(contents)).records).filter(({ episode }) =>
      named.has(episode),
    );
    const found = retrieveAll(library, rollouts, environment);
    const order = (a: RetrievalRecord, b: RetrievalRecord) =>
      a.episode < b.episode ? -1 : a.episode > b.episode ? 1 : a.decision - b.decision;
    expect(found.sort(order)).toStrictEqual(wanted.sort(order));
  });
});
