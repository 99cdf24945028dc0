/** The episode so far: what was seen, thought, done and answered. */
import { environmentRules } from "../../../core/environment/environment.ts";
import type { LiveEpisode } from "../../../core/loop/index.ts";
import type { EpisodeDecision } from "../../../core/record/schema.ts";
import { Scroller } from "../../base/scroller.tsx";
import { LongText } from "../../base/text/long-text.tsx";

export function Transcript({ episode }: { episode: Pick<LiveEpisode, "task" | "start" | "decisions"> }) {
  const { task, start, decisions } = episode;
  return (
    <Scroller className="transcript" label="The episode so far">
      <p className="answer">
        <LongText text={start.observation} />
      </p>
      <ol start={0} aria-live="polite" aria-relevant="additions">
        {decisions.map((decision, t) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a decision is its place
          <li key={t} data-decision={t} ref={t === decisions.length - 1 ? intoView : null}>
            <Decision environment={task.environment} decision={decision} t={t} />
          </li>
        ))}
      </ol>
    </Scroller>
  );
}

/** A further decision is to be seen. */
function intoView(item: HTMLLIElement | null): void {
  item?.scrollIntoView({ block: "nearest" });
}

const NAMES: Record<string, string> = { person: "you", record: "as recorded" };

function Decision({
  environment,
  decision,
  t,
}: {
  environment: string;
  decision: EpisodeDecision;
  t: number;
}) {
  const { action, status, feedback, score, response, observation, by, seed } = decision;
  const read =
    response === undefined ? null : environmentRules(environment).parseResponse(response, observation);
  const who = String(by);
  return (
    <>
      <p className="decision-head note">
        Decision {t}, {NAMES[who] ?? who}
        {typeof seed === "number" && `, seed ${seed}`}
      </p>
      {read?.thought != null && (
        <p className="thought">
          <LongText text={read.thought} first={2000} />
        </p>
      )}
      <p>
        <code className="did">
          <LongText text={action === null ? "no action" : action || "(blank)"} first={2000} />
        </code>
        {status !== "executed" && <span className="status">{status.replace("_", " ")}</span>}
      </p>
      {read?.problem != null && (
        <details>
          <summary>Malformed: {read.problem}</summary>
          <pre className="text">
            <LongText text={response ?? ""} first={2000} />
          </pre>
        </details>
      )}
      <p className="answer">
        <LongText text={feedback} />
      </p>
      {score !== null && score !== 0 && <p className="note">Score {score}</p>}
    </>
  );
}
