/** The state of a launched run in the page's words for runs. */
import { BUDGET_EXIT_CODE } from "../../../../core/loop/budget.ts";
import { type JobState, SIGNAL_EXIT_CODES } from "../../../../protocol/job-state.ts";
import type { Launched } from "../worker-answers.ts";

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
      if (code === BUDGET_EXIT_CODE) return "cancelled";
      if (code === null || !SIGNAL_EXIT_CODES.includes(code)) return "failed";
      return asked === null ? "lost" : "cancelled";
    case "lost":
    case "never":
      return asked === null ? "lost" : "cancelled";
  }
}
