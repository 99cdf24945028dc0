/** A task of an ALFWorld catalog: one JSON file with its sources, its visits and its edges. */

import type { Source } from "../../core/record/schema.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { type CatalogFile, claimOf, endReason, jsonFile, sourceKindOf, stepOf } from "./catalog-file.ts";

const CODEC = "alf_pddl_relative_v1";

export async function alfworldTask(
  sources: readonly Source[],
  index: number,
): Promise<{ files: CatalogFile[]; row: object }> {
  const { task, task_description: description } = sources[0]!;
  const visits: Record<string, { rep: number; index: number }[]> = {};
  const edges: object[] = [];
  for (const source of sources) {
    const keys = keysOf(source);
    keys.forEach((key, at) => {
      if (key === null) return;
      const same = visits[key] ?? [];
      visits[key] = same;
      same.push({ rep: source.repetition, index: at });
    });
    source.decisions.forEach(({ action, feedback }, at) => {
      const [from, to] = [keys[at], keys[at + 1]];
      if (from != null && to != null)
        edges.push({ source_key: from, target_key: to, rep: source.repetition, index: at, action, feedback });
    });
  }
  const file = await jsonFile(`${sha256Hex(task)}.json`, {
    gamefile: task,
    task_index: index,
    codec: CODEC,
    K: sources.length,
    task_description: description,
    sources: sources.map((source) => catalogSource(source, index)),
    visits,
    edges,
    internal_observations: [],
    trusted: sources.filter(({ outcome }) => outcome.verified).length,
  });
  const row = { gamefile: task, task_index: index, catalog: file.path, sha256: file.sha256 };
  return { files: [file], row };
}

const keysOf = ({ decisions, final_state: last }: Source): (string | null)[] => [
  ...decisions.map(({ state }) => state?.key ?? null),
  last?.key ?? null,
];

function catalogSource(source: Source, index: number): object {
  const { task, repetition: rep, outcome, decisions, origin } = source;
  const keys = keysOf(source);
  const kind = sourceKindOf(source);
  const won = outcome.ended === "environment" && outcome.success;
  return {
    gamefile: task,
    task_index: index,
    rep,
    won,
    trusted_complete: outcome.verified,
    trusted_success: outcome.verified && outcome.success,
    source_won: claimOf(source),
    initial_key: keys[0],
    steps: decisions.map((decision, at) => ({
      ...stepOf(decision),
      key_before: keys[at],
      key_after: keys[at + 1],
      env_step_called: decision.status !== "malformed",
      rejection: decision.status === "rejected",
    })),
    source_attempt_summary: { accepted_decisions: outcome.complete ? decisions.length : null },
    end_reason: endReason(source),
    codec: CODEC,
    ...(kind === undefined ? {} : { source_kind: kind }),
    ...(typeof origin.model === "string" ? { model: origin.model } : {}),
  };
}
