/** How far one job of the shown decision is, or why it failed. */
import { type ScoringJob, useUi } from "../../compute/store.ts";
import { ScoringProgress } from "./scoring-panel.tsx";

export function JobProgress({ job, at }: { job: ScoringJob; at: string }) {
  const scoring = useUi((ui) => ui.scoring);
  if (scoring.status === "idle" || scoring.job !== job || scoring.key !== at) return null;
  if (scoring.status !== "failed") return <ScoringProgress job={job} />;
  return (
    <p className="fault panel-note" role="alert">
      {scoring.message}
    </p>
  );
}
