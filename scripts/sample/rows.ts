/**
 * Training rows for the sample's teacher and student: a prompt, with or without evidence, and a response.
 *
 * A row with evidence takes two executions of one task that meet in a state. One plays the student, its decision at
 * that state is the scored one; the other is the successful record, and its next action there is the response. Both
 * are rendered by the same code that renders evidence for real. Executions are cut to windows around the meeting
 * point, for training only, so that lengths and positions vary.
 */
import { insertEvidenceText, renderEvidence } from "../../src/core/evidence/index.ts";
import { matchingKey } from "../../src/core/graph/index.ts";
import type { Episode, RetrievalRecord, Source } from "../../src/core/record/schema.ts";
import { type InterfaceLines, interfaceLines, promptAt } from "./prompt.ts";
import type { Random } from "./random.ts";
import { collectWords, makeRenaming, type Rename, renameExecution } from "./renaming.ts";

/** The thoughts of the recorded episodes: they say nothing of the action, so a row draws any of them. */
const THOUGHTS = [
  "I should check where I stand before going on.",
  "Nothing here contradicts my plan.",
  "I remember seeing that earlier.",
  "I am not sure, but this seems worth trying.",
  "The task asks for one thing at a time, so I take the next small step.",
  "Let me see what is around first.",
  "This brings me closer to the goal.",
];

export type RowKind = "matched" | "hindsight" | "plain";

export interface Row {
  kind: RowKind;
  /** The user message, evidence included. */
  prompt: string;
  response: string;
}

/** An execution of either kind, seen as decisions only. */
type Execution = Source | Episode;

interface Meeting {
  student: Execution;
  t: number;
  source: Source;
  j: number;
}

export interface TaskRecords {
  task: string;
  sources: Source[];
  episodes: Episode[];
}

interface PreparedTask extends TaskRecords {
  lines: InterfaceLines[];
  /** Visits (execution, position) by matching key. */
  visits: Map<string, { execution: Execution; position: number }[]>;
  /** Successful sources' visits with a next action that meet another execution. */
  entries: { source: Source; position: number; key: string }[];
}

export class RowMaker {
  readonly #tasks: PreparedTask[];
  readonly #words: string[];
  readonly #random: Random;

  constructor(tasks: readonly TaskRecords[], random: Random) {
    this.#random = random;
    this.#tasks = tasks.map(prepare);
    this.#words = collectWords(
      tasks.flatMap(({ sources }) =>
        sources.flatMap((source) => [
          source.task_description,
          ...source.decisions.flatMap((decision) => [decision.feedback, decision.action ?? ""]),
        ]),
      ),
    );
  }

  /** A decision of a recorded episode as it was: prompt and response unchanged (for the student). */
  recorded(): Row {
    for (;;) {
      const episode = this.#random.pick(this.#random.pick(this.#tasks).episodes);
      const decision = this.#random.pick(episode.decisions);
      if (decision.prompt !== undefined && decision.response !== undefined) {
        return { kind: "plain", prompt: decision.prompt, response: decision.response };
      }
    }
  }

  /** A next-action row without evidence. */
  plain(): Row {
    const random = this.#random;
    const rename = makeRenaming(random, this.#words, random.chance(0.6) ? 0 : 0.9);
    for (;;) {
      const task = random.pick(this.#tasks);
      const source = random.pick(task.sources);
      const t = random.below(Math.max(1, source.decisions.length));
      const action = source.decisions[t]?.action;
      if (action === undefined || action === null) continue;
      const prompt = promptAt(
        renameExecution(source, rename),
        t,
        renameLines(random.pick(task.lines), rename),
      );
      return { kind: "plain", prompt, response: this.#response(rename(action)) };
    }
  }

  /** A row in which the matched successful record tells the next action. */
  matched(longest: number): Row {
    const random = this.#random;
    for (;;) {
      const task = random.pick(this.#tasks);
      const meeting = this.#meeting(task);
      if (meeting === null) continue;
      const rename = this.#renaming();
      const student = this.#window(meeting.student, meeting.t, longest);
      const source = this.#window(meeting.source, meeting.j, longest);
      return this.#withEvidence(
        "matched",
        renameExecution(student.record, rename),
        student.position,
        { source: renameExecution(source.record, rename), position: source.position },
        renameLines(random.pick(task.lines), rename),
        rename(meeting.source.decisions[meeting.j]?.action ?? ""),
      );
    }
  }

  /** A row with the successful student's own hindsight and no record: its action stands. */
  hindsight(longest: number): Row {
    const random = this.#random;
    for (;;) {
      const task = random.pick(this.#tasks);
      const execution = random.pick<Execution>([...task.sources, ...task.episodes]);
      if (!execution.outcome.success || execution.decisions.length === 0) continue;
      const t = random.below(execution.decisions.length);
      const action = execution.decisions[t]?.action;
      if (action === null || action === undefined) continue;
      const rename = this.#renaming();
      const student = this.#window(execution, t, longest);
      return this.#withEvidence(
        "hindsight",
        renameExecution(student.record, rename),
        student.position,
        null,
        renameLines(random.pick(task.lines), rename),
        rename(action),
      );
    }
  }

  #renaming(): Rename {
    return makeRenaming(this.#random, this.#words, this.#random.pick([0, 0.5, 0.9, 0.9, 1, 1]));
  }

  /** Half of the meetings are chosen where the student did something else: there the record has to win. */
  #meeting(task: PreparedTask): Meeting | null {
    const random = this.#random;
    if (task.entries.length === 0) return null;
    const wantsDifferent = random.chance(0.6);
    for (let tries = 0; tries < 40; tries++) {
      const { source, position, key } = random.pick(task.entries);
      const { execution, position: t } = random.pick(task.visits.get(key) ?? []);
      if (execution === source || t >= execution.decisions.length) continue;
      const different = execution.decisions[t]?.action !== source.decisions[position]?.action;
      if (different !== wantsDifferent && tries < 30) continue;
      return { student: execution, t, source, j: position };
    }
    return null;
  }

  /** A random stretch of an execution around a position, at most `longest` decisions; often the whole. */
  #window<T extends Execution>(
    record: T,
    position: number,
    longest: number,
  ): { record: T; position: number } {
    const random = this.#random;
    const count = record.decisions.length;
    if (count <= longest && random.chance(0.4)) return { record, position };
    const before = Math.min(position, random.below(Math.ceil(longest / 2) + 1));
    const after = Math.min(count - 1 - position, random.below(Math.ceil(longest / 2) + 1));
    const decisions = record.decisions.slice(position - before, position + after + 1);
    return {
      record: {
        ...record,
        decisions,
        initial_observation: decisions[0]?.observation ?? record.initial_observation,
      },
      position: before,
    };
  }

  #withEvidence(
    kind: RowKind,
    student: Execution,
    t: number,
    success: { source: Source; position: number } | null,
    lines: InterfaceLines,
    action: string,
  ): Row {
    const episode: Episode = { ...student, format: "gcopd.episode.v1", episode: "student" } as Episode;
    const retrieval: RetrievalRecord = {
      format: "gcopd.retrieval.v1",
      environment: episode.environment,
      task: episode.task,
      episode: episode.episode,
      decision: t,
      case: success ? "matched_success" : "unmatched_success",
      matched_visits: success ? 1 : 0,
      candidates: [],
      winner: null,
      success: success
        ? {
            source: success.source.source,
            position: success.position,
            student_position: t,
            relation: "current",
          }
        : null,
      failure: null,
    };
    const { text } = renderEvidence({
      episode,
      decision: t,
      retrieval,
      success: success?.source ?? null,
      failure: null,
    });
    return {
      kind,
      prompt: insertEvidenceText(promptAt(episode, t, lines), text),
      response: this.#response(action),
    };
  }

  #response(action: string): string {
    return `<thought>${this.#random.pick(THOUGHTS)}</thought><action>${action}</action>`;
  }
}

function renameLines(lines: InterfaceLines, rename: Rename): InterfaceLines {
  return { forms: lines.forms, objects: rename(lines.objects) };
}

function prepare(records: TaskRecords): PreparedTask {
  const visits: PreparedTask["visits"] = new Map();
  for (const execution of [...records.sources, ...records.episodes]) {
    execution.decisions.forEach((decision, position) => {
      const key = matchingKey(decision.state);
      if (key === null) return;
      const there = visits.get(key);
      if (there) there.push({ execution, position });
      else visits.set(key, [{ execution, position }]);
    });
  }
  const entries = records.sources
    .filter((source) => source.outcome.success)
    .flatMap((source) =>
      source.decisions.flatMap((decision, position) => {
        const key = matchingKey(decision.state);
        const usable = decision.status === "executed" || decision.status === "binding";
        if (key === null || !usable || !decision.action || (visits.get(key)?.length ?? 0) < 2) return [];
        return [{ source, position, key }];
      }),
    );
  const prompts = records.episodes.flatMap((e) => e.decisions.flatMap((d) => (d.prompt ? [d.prompt] : [])));
  return { ...records, visits, entries, lines: prompts.map(interfaceLines) };
}
