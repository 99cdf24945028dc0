import { describe, expect, it } from "vitest";
import { liveGame, recordedGames, rows } from "../../../test/support/alfworld-games.ts";
import { splitResetText } from "../../core/environment/alfworld/prompt.ts";
import { Episode } from "./episode.ts";
import { Game } from "./game.ts";

interface Trace {
  game: string;
  command: string | null;
  feedback: string;
  admissible_commands: string[];
  facts?: string[];
  won: boolean;
  done: boolean;
  key: string;
}

interface Recording {
  task: string;
  reset_feedback: string;
  initial_observation: string;
  decisions: { action: string | null; feedback: string; state: { key: string } | null }[];
  final_state: { key: string } | null;
  outcome: { success: boolean; complete?: boolean };
}

/** Steps through traces; each state as the engine recorded it beside ours. */
function* compared(traces: readonly Trace[], open: (trace: Trace) => Game) {
  let game: Game | undefined;
  let name = "";
  let episode: Episode | undefined;
  for (const trace of traces) {
    if (game === undefined || trace.game !== name) game = open(trace);
    name = trace.game;
    if (trace.command === null || episode === undefined) episode = new Episode(game);
    const { feedback, won } = trace.command === null ? episode.opening() : episode.step(trace.command);
    const { admissible_commands, facts, key, done } = trace;
    yield {
      ours: {
        feedback,
        admissible: episode.admissible(),
        won,
        done: won,
        key: episode.key(name),
        facts: facts && episode.facts(),
      },
      theirs: {
        feedback: trace.feedback,
        admissible: admissible_commands,
        won: trace.won,
        done,
        key,
        facts,
      },
      trace,
    };
  }
}

describe("recorded by TextWorld 1.7.0", () => {
  it("976 states of ten made games: text, admissible commands, flags, key", () => {
    const traces = rows<Trace>("live/alfworld/traces.jsonl.gz");
    expect(traces).toHaveLength(976);
    for (const { ours, theirs, trace } of compared(
      traces,
      ({ game, feedback }) => new Game(liveGame(game, feedback), game),
    ))
      expect(ours, `${trace.game}: ${trace.command}`).toEqual(theirs);
  });

  it("282 states of five games, one of them with plain ids: the facts too", () => {
    const games = recordedGames();
    const traces = rows<Trace>("alfworld/engine-traces.jsonl.gz");
    expect(traces).toHaveLength(282);
    for (const { ours, theirs, trace } of compared(traces, ({ game }) => games.get(game)!))
      expect(ours, `${trace.game}: ${trace.command}`).toEqual(theirs);
  });

  it.each([
    ["sources", 87],
    ["episodes", 30],
  ])("the %s of the fixture library", (name, count) => {
    const games = recordedGames();
    const recordings = rows<Recording>(`alfworld/${name}.jsonl.gz`);
    expect(recordings).toHaveLength(count);
    for (const { task, reset_feedback, decisions, final_state, outcome } of recordings) {
      const episode = new Episode(games.get(task)!);
      let turn = episode.opening();
      expect(turn.feedback).toBe(reset_feedback);
      for (const { action, feedback, state } of decisions) {
        if (state !== null) expect(episode.key(task)).toBe(state.key);
        // A malformed response never reached the engine.
        if (action === null) continue;
        turn = episode.step(action);
        expect(turn.feedback).toBe(feedback);
      }
      if (final_state !== null) expect(episode.key(task)).toBe(final_state.key);
      if (outcome.complete !== false) expect(turn.won).toBe(outcome.success);
    }
  });

  it("the opening's task sentence is told from its observation", () => {
    for (const { reset_feedback, initial_observation } of rows<Recording>("alfworld/episodes.jsonl.gz"))
      if (reset_feedback.includes("Your task is to:"))
        expect(splitResetText(reset_feedback).observation).toBe(initial_observation);
  });
});
