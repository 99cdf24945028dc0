/** A task of a ScienceWorld or WebShop catalog: an entry, a graph, and a recorder's file of each execution. */

import {
  type Attempt,
  attemptsAfterLast,
  type Source,
  type SourceDecision,
  type State,
} from "../../core/record/schema.ts";
import { sha256Hex } from "../../core/seeded.ts";
import type { GraphEnvironment } from "../import/graph-catalog/source-record.ts";
import { type CatalogFile, claimOf, endReason, jsonFile, sourceKindOf, stepOf } from "./catalog-file.ts";

const VERSIONS = {
  scienceworld: { graph: "physical_graph_v1", codec: "physical_tree_legacy1c_focus_ordered_v1" },
  webshop: { graph: "webshop_graph_v1", codec: "webshop_url_session_v1" },
} as const;

export async function graphTask(
  environment: GraphEnvironment,
  sources: readonly Source[],
): Promise<{ files: CatalogFile[]; row: object }> {
  const { task, task_description: description } = sources[0]!;
  const name = sha256Hex(task).slice(0, 16);
  const files: CatalogFile[] = [];
  const rows: object[] = [];
  const trajectories: object[] = [];
  for (const source of sources) {
    // An execution that broke off has no file of its own: a reader takes one that is there for whole.
    const original = source.outcome.complete
      ? await jsonFile(
          `sources/${name}_r${String(source.repetition).padStart(2, "0")}.json`,
          recorded(environment, source),
        )
      : null;
    if (original !== null) files.push(original);
    const kind = sourceKindOf(source);
    const named = {
      rep: source.repetition,
      source_won: claimOf(source),
      ...(kind === undefined ? {} : { source_kind: kind }),
    };
    rows.push({
      ...named,
      path: original?.path ?? null,
      sha256: original?.sha256 ?? null,
      expected_missing: false,
    });
    const place = { source_path: original?.path ?? null, source_sha256: original?.sha256 ?? null };
    trajectories.push({ ...named, ...place, ...trajectory(environment, source) });
  }
  const graph = await jsonFile(`graphs/${name}.json.gz`, {
    schema_version: VERSIONS[environment].graph,
    gamefile: task,
    codec_version: VERSIONS[environment].codec,
    ...(environment === "webshop" ? { instruction: description } : { task_description: description }),
    ...nodesAndEdges(sources),
    trajectories,
    attempt_branches: sources.flatMap((source) => branches(source)),
  });
  const entry = await jsonFile(`entries/${name}.json`, {
    gamefile: task,
    task_id: name,
    status: "complete",
    graph: {
      path: graph.path,
      sha256: graph.sha256,
      compressed_bytes: graph.bytes.length,
      json_bytes: graph.jsonBytes,
    },
  });
  const successes = sources.filter(({ outcome }) => outcome.verified && outcome.success);
  const row = {
    gamefile: task,
    ...(environment === "webshop" ? { instruction: description } : {}),
    source_files: rows,
    source_success_reps: successes.map(({ repetition }) => repetition),
  };
  return { files: [...files, graph, entry], row };
}

const isEnd = ({ decisions, outcome }: Source, at: number): boolean =>
  outcome.ended === "environment" && at === decisions.length - 1;

/** Steps, with the marks that replay adds where it followed them. */
function steps(environment: GraphEnvironment, source: Source): object[] {
  return source.decisions.map((decision, at) => ({
    step: at + 1,
    step_index: at,
    decision_index: at + 1,
    ...stepOf(decision),
    [environment === "webshop" ? "reward" : "score"]: decision.score,
    done: isEnd(source, at),
    kind: kindOf(decision, source.decisions[at + 1]?.state ?? source.final_state),
    rejection: decision.status === "rejected" ? "rejected" : null,
    env_rejection: null,
    positive_candidate_allowed: decision.entry_allowed !== false,
  }));
}

function kindOf({ status, state }: SourceDecision, next: State | null): string {
  if (status === "malformed") return "format_invalid";
  if (status === "rejected" || status === "binding") return status === "rejected" ? "rejection" : "binding";
  return state !== null && state.key === next?.key ? "unchanged" : "state_change";
}

function trajectory(environment: GraphEnvironment, source: Source): object {
  const { decisions, outcome, final_state: last, repetition: rep } = source;
  const { verified, complete, success } = outcome;
  const observations = [...decisions.map(({ observation }) => observation), decisions.at(-1)?.feedback];
  return {
    trusted_complete: verified,
    replayed_won: verified && success,
    trusted_success: verified && success,
    won: verified && success,
    [environment === "webshop" ? "score" : "final_score"]: outcome.score,
    states: [...decisions.map(({ state }) => state), last].map((state, at) => ({
      ...stateFields(state),
      state_t: at,
      visit_id: `r${rep}:t${at}`,
      observation: observations[at] ?? source.initial_observation,
    })),
    steps: steps(environment, source),
    replay_failures: typeof outcome.replay_difference === "string" ? [outcome.replay_difference] : [],
    source_attempt_summary: { accepted_decisions: complete ? decisions.length : null },
  };
}

function stateFields(state: State | null): object {
  if (state === null) return { capture_ok: false, matchable: false };
  const { key, mode, options } = state;
  return { key, node_key: key, interaction: { mode, options }, capture_ok: true, matchable: true };
}

/** The recorder's own file. */
function recorded(environment: GraphEnvironment, source: Source): object {
  const { task, repetition: rep, outcome, origin, decisions, task_description: instruction } = source;
  const attempts = [...decisions.map((decision) => decision.attempts), attemptsAfterLast(source)];
  return {
    gamefile: task,
    rep,
    ...(environment === "webshop" ? { instruction } : {}),
    won: claimOf(source),
    [environment === "webshop" ? "score" : "final_score"]: outcome.score,
    length: decisions.length,
    end_reason: endReason(source),
    initial_observation: source.initial_observation,
    steps: steps(environment, source),
    attempts: attempts.flatMap((made, at) => made.map((attempt) => recordedAttempt(attempt, at + 1))),
    ...(typeof origin.model === "string" ? { sampling_protocol: { model_id: origin.model } } : {}),
  };
}

const recordedAttempt = ({ action, reason, feedback }: Attempt, step: number): object =>
  reason === "format"
    ? { step, type: "format_invalid", reason: feedback }
    : { step, type: "environment_rejection", action, feedback };

/** Tries of an execution without a file of its own. */
function branches(source: Source): object[] {
  if (source.outcome.complete) return [];
  const tried = [...source.decisions.map(({ attempts }) => attempts), attemptsAfterLast(source)];
  return tried.flatMap((attempts, at) =>
    attempts.map(({ action, reason, feedback }) => ({
      rep: source.repetition,
      decision_index: at,
      action,
      feedback,
      format_error: reason === "format" ? feedback : null,
      kind: reason === "format" ? "format_invalid" : "rejection",
    })),
  );
}

/** Nodes by key with the visits that share them, and edges with the steps that take them. */
function nodesAndEdges(sources: readonly Source[]): { nodes: object; edges: object[] } {
  const nodes = new Map<string, { id: string; key: string; members: object[]; reps: Set<number> }>();
  const edges = new Map<
    string,
    { id: string; source: string; target: string; action: string | null; members: object[] }
  >();
  for (const { repetition: rep, decisions, final_state: last } of sources) {
    const keys = [...decisions.map(({ state }) => state), last].map((state) => state?.key ?? null);
    keys.forEach((key, at) => {
      if (key === null) return;
      const node = nodes.get(key) ?? { id: `N${nodes.size}`, key, members: [], reps: new Set() };
      nodes.set(key, node);
      node.members.push({ rep, state_t: at, visit_id: `r${rep}:t${at}` });
      node.reps.add(rep);
    });
    decisions.forEach(({ action }, at) => {
      const [source, target] = [keys[at], keys[at + 1]];
      if (source == null || target == null) return;
      const name = JSON.stringify([source, target, action]);
      const edge = edges.get(name) ?? { id: `E${edges.size}`, source, target, action, members: [] };
      edges.set(name, edge);
      edge.members.push({ rep, step_index: at });
    });
  }
  const shown = [...nodes.values()].map((node) => [node.key, { ...node, reps: [...node.reps] }]);
  return { nodes: Object.fromEntries(shown), edges: [...edges.values()] };
}
