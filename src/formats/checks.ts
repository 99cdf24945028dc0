/** What a schema cannot say: lengths that must agree, and ids that must be unique within a file. */
import { InputError } from "../core/errors.ts";
import type { RecordKind, RecordKinds } from "./kinds.ts";

type Where = { file: string; line?: number };
type Lined = { file: string; line: number };

function sameLength(
  first: readonly unknown[],
  firstKey: string,
  second: readonly unknown[],
  secondKey: string,
  where: Where,
): void {
  if (first.length === second.length) return;
  throw new InputError(
    `${first.length} values for ${second.length} ${secondKey}; expected one for each response token`,
    { ...where, key: firstKey },
  );
}

/** Arrays that hold one value a response token must be as long as the response; an optimal action counts once. */
export function checkLengths<K extends RecordKind>(kind: K, record: RecordKinds[K], where: Where): void {
  if (kind === "episode") {
    const { decisions } = record as RecordKinds["episode"];
    for (let t = 0; t < decisions.length; t++) {
      const { rollout_logprobs, response_ids } = decisions[t]!;
      if (rollout_logprobs === undefined || response_ids === undefined) continue;
      if (rollout_logprobs.length !== response_ids.length) {
        sameLength(rollout_logprobs, `decisions[${t}].rollout_logprobs`, response_ids, "response_ids", where);
      }
    }
  } else if (kind === "step-input") {
    const { teacher_logprobs, rollout_logprobs, response_ids } = record as RecordKinds["step-input"];
    sameLength(teacher_logprobs, "teacher_logprobs", response_ids, "response_ids", where);
    sameLength(rollout_logprobs, "rollout_logprobs", response_ids, "response_ids", where);
  } else if (kind === "optimal") {
    const { optimal } = record as RecordKinds["optimal"];
    const again = optimal.find((action, i) => optimal.indexOf(action) < i);
    if (again !== undefined)
      throw new InputError(`${JSON.stringify(again)} is named twice; expected each action once`, {
        ...where,
        key: "optimal",
      });
  }
}

/** Finds ids that occur twice in one file. Keep one for each file. */
export class UniqueIds {
  readonly #lines = new Map<string, number>();

  /** `InputError` that names both lines when the record's id was there before. */
  check<K extends RecordKind>(kind: K, record: RecordKinds[K], where: Lined): void {
    const identity = identityOf(kind, record);
    if (identity === undefined) return;
    const key = JSON.stringify([kind, ...identity.parts]);
    const earlier = this.#lines.get(key);
    if (earlier !== undefined) {
      throw new InputError(`${identity.words} is already on line ${earlier}; ids must be unique`, {
        ...where,
        key: identity.key,
      });
    }
    this.#lines.set(key, where.line);
  }
}

function identityOf<K extends RecordKind>(
  kind: K,
  record: RecordKinds[K],
): { key: string; parts: (string | number)[]; words: string } | undefined {
  switch (kind) {
    case "source": {
      const { environment, task, source } = record as RecordKinds["source"];
      return {
        key: "source",
        parts: [environment, task, source],
        words: `source ${JSON.stringify(source)} of task ${JSON.stringify(task)}`,
      };
    }
    case "episode": {
      const { episode } = record as RecordKinds["episode"];
      return { key: "episode", parts: [episode], words: `episode ${JSON.stringify(episode)}` };
    }
    case "retrieval":
    case "optimal": {
      const { episode, decision } = record as RecordKinds["retrieval"];
      return {
        key: "decision",
        parts: [episode, decision],
        words: `decision ${decision} of episode ${JSON.stringify(episode)}`,
      };
    }
    case "score-input":
    case "score-output": {
      const { id } = record as RecordKinds["score-input"];
      return { key: "id", parts: [id], words: `id ${JSON.stringify(id)}` };
    }
    default:
      return undefined;
  }
}
