/** The state of a launched run in the page's words for runs. */
import { BUDGET_EXIT_CODE } from "../../../../core/loop/budget.ts";
import type { JobState } from "../../../../protocol/job-state.ts";
import type { Launched } from "../worker-answers.ts";

/** Exit codes of a shell for SIGINT, SIGKILL and SIGTERM: a time limit, a kill, a shutdown. */
const SIGNALS = [130, 137, 143];

/** Its state as it was last heard: a target that does not answer says nothing of it. */
export function launchedState({ state, code, asked, submitted, doing }: Launched): JobState {
  if (doing?.what === "launch" || doing?.what === "resume") return "starting";
  switch (state) {
    case null:
      return submitted ? "queued" : "lost";
    case "queued":
      return asked === null ? "queued" : "cancelling";
    case "running":
      return asked === null ? "running" : "cancelling";
    case "ended":
      if (code === 0) return "done";
      if (asked !== null || code === BUDGET_EXIT_CODE) return "cancelled";
      return SIGNALS.includes(code ?? 0) ? "lost" : "failed";
    case "lost":
    case "never":
      return asked === null ? "lost" : "cancelled";
  }
}
