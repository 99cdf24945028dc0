/**
 * WebShop's session logs: one page a line, the actions between them left out. States come from the addresses; there are
 * no page texts, so observations and feedback are empty.
 */
import { z } from "zod";
import { type PageDescriptor, pageKey } from "../../../core/environment/webshop/page.ts";
import { pageOfUrl } from "../../../core/environment/webshop/page-url.ts";
import { InputError } from "../../../core/errors.ts";
import type { Outcome, Source, State } from "../../../core/record/schema.ts";
import { otherSource, type Turn } from "./execution.ts";
import { type FileScope, fileImporter } from "./file-importer.ts";
import { at, check, type Row } from "./rows.ts";
import { actionBetween } from "./webshop-actions.ts";

const rowSchema = z.looseObject({
  page: z.string(),
  url: z.string(),
  goal: z.looseObject({ instruction_text: z.string().nullish() }).nullish(),
  content: z.looseObject({ keywords: z.union([z.array(z.string()), z.string()]).nullish() }).nullish(),
  reward: z.number().nullish(),
});

interface Page {
  descriptor: PageDescriptor;
  session: string;
  instruction: string;
  /** What was searched for on a result page. */
  query: string;
  reward: number | null;
  line: number | undefined;
}

const ROUTES = ["search_results", "item_page", "item_sub_page", "done"];
const DECISION_LIMIT = 15;
const FULL_REWARD = 1 - 1e-9;

/** The session of an address that `pageOfUrl` can read. */
function sessionOf(url: string): string {
  const [first = "", second] = url
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, "")
    .slice(1)
    .split("/");
  return (ROUTES.includes(first) && second !== undefined ? second : first).replace(/[?#].*$/s, "");
}

function readPage({ value, where }: Row): Page {
  const row = check(rowSchema, value, where);
  let descriptor: PageDescriptor;
  try {
    descriptor = pageOfUrl(row.url, "flask");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError(`not a WebShop address: ${error.message}`, at(where, "url"));
  }
  const told = row.content?.keywords;
  const words = Array.isArray(told) ? told : descriptor.page_type === "done" ? [] : descriptor.keywords;
  return {
    descriptor,
    session: sessionOf(row.url),
    instruction: row.goal?.instruction_text ?? "",
    query: words.join(" "),
    reward: row.reward ?? null,
    line: where.line,
  };
}

function stateOf({ descriptor }: Page): State {
  return { key: pageKey(descriptor), mode: "normal", options: {}, descriptor };
}

function outcomeOf(last: Page, decisions: number): Outcome {
  const done = last.descriptor.page_type === "done";
  const score = last.reward ?? 0;
  const success = done && score >= FULL_REWARD;
  return {
    complete: true,
    success,
    score,
    ended: done ? "environment" : decisions >= DECISION_LIMIT ? "horizon" : "technical",
    verified: false,
    reported_success: success,
  };
}

/** A session `fixed_<N>` plays goal N; other sessions have goals of their own. */
function taskOf(session: string): string {
  const goal = /^fixed_(\d+)/.exec(session)?.[1];
  return goal === undefined ? session : `goal${goal}`;
}

function sourceOf(pages: readonly Page[], scope: FileScope): Source {
  const first = pages[0]!;
  const last = pages.at(-1)!;
  const turns: Turn[] = [];
  let gap = false;
  for (const [n, page] of pages.entries()) {
    const next = pages[n + 1];
    if (next === undefined) break;
    const action = actionBetween(page.descriptor, next.descriptor, next.query);
    if (action === null) {
      scope.context.warn(
        scope.path,
        `line ${next.line ?? n + 2}: no single action leads here from the page before; imported with action null and a gap`,
        "url",
      );
    }
    turns.push({
      observation: "",
      action,
      feedback: "",
      score: next.reward ?? 0,
      state: stateOf(page),
      gap,
    });
    gap = action === null;
  }
  const task = taskOf(first.session);
  return withUnknownActions(
    otherSource({
      environment: "webshop",
      task,
      repetition: scope.nextRepetition("webshop", task),
      origin: { session: first.session },
      description: first.instruction,
      initial: "",
      turns,
      finalState: stateOf(last),
      outcome: outcomeOf(last, turns.length),
    }),
  );
}

/** What led from one page to another is not known, but something did: such a decision is not a malformed reply. */
function withUnknownActions(source: Source): Source {
  for (const decision of source.decisions) if (decision.action === null) decision.status = "executed";
  return source;
}

export const webshopSession = fileImporter({
  name: "webshop-session",
  description: "WebShop session logs, one page a line (a file a session), as JSON Lines",
  what: "WebShop session logs",
  recognise: (first) =>
    typeof first.page === "string" && typeof first.url === "string" && "goal" in first ? 0.8 : 0,
  head: /^\s*\{\s*"page"\s*:\s*"[a-z_]+"\s*,\s*"url"\s*:/,
  async *records(rows, scope) {
    let pages: Page[] = [];
    const flush = function* () {
      if (pages.length === 0) return;
      const line = pages[0]!.line;
      yield {
        kind: "source" as const,
        file: scope.path,
        ...(line === undefined ? {} : { line }),
        record: sourceOf(pages, scope),
      };
      pages = [];
    };
    for await (const row of rows) {
      const page = readPage(row);
      const before = pages.at(-1);
      if (
        before !== undefined &&
        (before.session !== page.session || before.descriptor.page_type === "done")
      ) {
        yield* flush();
      }
      pages.push(page);
    }
    yield* flush();
  },
});
