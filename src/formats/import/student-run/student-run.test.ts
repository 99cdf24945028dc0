import { describe, expect, it } from "vitest";
import { fixtureContents, importAll } from "../../../../test/support/import-fixture.ts";
import type { Episode } from "../../../core/record/schema.ts";
import { blobFiles, memoryFiles } from "../files.ts";

const NAME = "c826e0f72047a19e26daedb5ad29b60c";

type Json = Record<string, unknown>;

/** One episode of the ScienceWorld run, and its scores, with changes. */
function run(edit: (episode: Json, scores: Json) => void = () => undefined): Record<string, string> {
  const contents = fixtureContents("scienceworld-run");
  const parse = (path: string) => JSON.parse(Buffer.from(contents[path]!).toString("utf8")) as Json;
  const episode = parse(`episodes/${NAME}.json`);
  const scores = parse(`teacher_scores/${NAME}.json`);
  edit(episode, scores);
  return {
    [`episodes/${NAME}.json`]: JSON.stringify(episode),
    [`teacher_scores/${NAME}.json`]: JSON.stringify(scores),
  };
}

async function episodeOf(edit?: (episode: Json) => void): Promise<Episode> {
  const { records } = await importAll(run(edit));
  const first = records[0]!;
  if (first.kind !== "episode") throw new Error("the first record is not an episode");
  return first.record;
}

describe("a student's run", () => {
  it("is the same dropped on a page as read from a folder, whatever folder it was dropped in", async () => {
    const contents = run();
    const dropped = Object.entries(contents).map(([path, text]) => ({
      path: `dropped/step_12/${path}`,
      file: new Blob([text]),
    }));
    const fromPage = await importAll(blobFiles(dropped));
    const fromFolder = await importAll(memoryFiles(contents));
    expect(fromPage.records.map(({ kind, record }) => ({ kind, record }))).toStrictEqual(
      fromFolder.records.map(({ kind, record }) => ({ kind, record })),
    );
    expect(fromPage.report.scores).toBe(6);
  });

  it("keeps the prompt, the response, its tokens and what the run says of itself", async () => {
    const episode = await episodeOf();
    expect(episode).toMatchObject({ policy_version: 12, repetition: 1, episode: NAME });
    const { prompt, prompt_ids, response, response_ids, rollout_logprobs, graph_reference } =
      episode.decisions[0]!;
    expect(prompt).toContain("You are an agent in a text world");
    expect(response).toContain("<action>open door to kitchen</action>");
    expect(prompt_ids?.length).toBe(433);
    expect(response_ids?.length).toBe(rollout_logprobs?.length);
    expect(graph_reference).toEqual({ case: "graph_inside_with_success_suffix" });
  });

  it("ends as the outcome says: by the environment, at the limit, or broken off", async () => {
    const ended = async (edit: (episode: Json) => void) => (await episodeOf(edit)).outcome;
    expect(
      (
        await ended((episode) =>
          Object.assign(episode.final_outcome as Json, {
            won: false,
            done: false,
            decision_limit_reached: true,
          }),
        )
      ).ended,
    ).toBe("horizon");
    expect(
      await ended((episode) =>
        Object.assign(episode, {
          technical_incomplete: true,
          final_score: undefined,
          final_outcome: undefined,
        }),
      ),
    ).toEqual({ complete: false, success: false, score: 100, ended: "technical", verified: false });
  });

  it("has no state where the capture failed, the parser is in doubt, or a menu is empty", async () => {
    const episode = await episodeOf((value) => {
      const states = (value.steps as { physical_state_before: Json }[]).map(
        (step) => step.physical_state_before,
      );
      states[0]!.capture_ok = false;
      delete states[1]!.matchable;
      (states[2]!.interaction as Json).mode = "unknown";
      (states[3]!.interaction as Json).mode = "pending_menu";
      states[4]!.interaction = { mode: "pending_menu", options: { "0": "go to kitchen" } };
    });
    expect(episode.decisions.map(({ state }) => state?.mode ?? null)).toEqual([
      ...[null, null, null, null],
      ...["pending_menu", "normal"],
    ]);
  });

  it.each<[string, (episode: Json, scores: Json) => void, RegExp]>([
    [
      "an unknown kind of task",
      (episode) => (episode.gamefile = "chess"),
      /gamefile: expected a task of ScienceWorld/,
    ],
    ["a turn too few", (_, scores) => (scores.turns as Json[]).pop(), /turns: 5 turns for 6 decisions/],
    [
      "a log-probability too few",
      (_, scores) => ((scores.turns as Json[])[2]!.teacher_response_logprobs as number[]).pop(),
      /turns\[2\]\.teacher_response_logprobs: \d+ values for \d+ response_ids/,
    ],
    [
      "a rollout log-probability too many",
      (episode) => ((episode.steps as Json[])[1]!.rollout_logprobs as number[]).push(-1),
      /episodes\/c826\w+\.json, decisions\[1\]\.rollout_logprobs: \d+ values for \d+ response_ids/,
    ],
    [
      "an id that is not an integer",
      (episode) => (((episode.steps as Json[])[0]!.prompt_ids as number[])[3] = 1.5),
      /steps\[0\]\.prompt_ids\[3\]: expected integer, received 1\.5/,
    ],
  ])("is refused in one line for %s", async (_, edit, message) => {
    await expect(importAll(run(edit))).rejects.toThrow(message);
  });

  it("warns when scores stand alone or were made for another prompt", async () => {
    const contents = run((_, scores) => ((scores.turns as Json[])[0]!.prompt_length = 1));
    const { report } = await importAll(contents);
    expect(report.warnings).toEqual([
      {
        file: `teacher_scores/${NAME}.json`,
        key: "turns[0].prompt_length",
        message: "1, but the student's prompt has 433 tokens",
      },
    ]);
    delete contents[`episodes/${NAME}.json`];
    const alone = await importAll(contents);
    expect(alone.report).toMatchObject({ episodes: 0, scores: 6 });
    expect(alone.report.warnings[0]?.message).toContain("no episode with this name");
  });
});
