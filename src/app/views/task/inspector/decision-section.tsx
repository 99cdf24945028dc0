/** What the student saw and did. */
import type { DecisionModel } from "../../../model.ts";

export function DecisionSection({ decision }: { decision: DecisionModel }) {
  const { action, status } = decision;
  return (
    <section className="part" aria-labelledby="decision-title">
      <h2 id="decision-title">Decision {decision.decision}</h2>
      <dl className="facts">
        <dt>saw</dt>
        <dd>
          <Folded text={decision.observation} />
        </dd>
        <dt>did</dt>
        <dd>
          <code>{action === null ? "no action" : action || "(blank)"}</code>
          {status !== "executed" && <span className="status">{status.replace("_", " ")}</span>}
        </dd>
        <dt>got</dt>
        <dd>
          <Folded text={decision.feedback} />
        </dd>
      </dl>
      {decision.prompt !== null && (
        <details>
          <summary>The student’s whole context hₜ</summary>
          <pre className="text">{decision.prompt}</pre>
        </details>
      )}
    </section>
  );
}

/** Long texts fold to their first line; nothing is left out. */
export function Folded({ text }: { text: string }) {
  const [first = "", ...rest] = text.split("\n");
  if (rest.length === 0 && first.length < 200) return <>{first}</>;
  return (
    <details className="folded">
      <summary>{first}</summary>
      <pre className="text">{text}</pre>
    </details>
  );
}
