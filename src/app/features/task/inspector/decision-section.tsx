/** What the student saw and did. */

import { LongText } from "../../../base/text/long-text.tsx";
import { beginning, shownText } from "../../../base/text/shown-text.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { CompareButton } from "../compare/compare-button.tsx";
import { PlayOnButton } from "./play-on-button.tsx";

export function DecisionSection({ decision }: { decision: DecisionModel }) {
  const { action, status, library, environment, task } = decision;
  const ref = { library, environment, task };
  return (
    <section className="part" aria-labelledby="student-title">
      <div className="part-head">
        <h2 id="student-title">What the student saw and did</h2>
        <CompareButton visit={{ kind: "episode", id: decision.episode, position: decision.decision }} />
        <PlayOnButton
          record={{ ...ref, kind: "episode", id: decision.episode }}
          position={decision.decision}
        />
      </div>
      <dl className="facts">
        <dt>saw</dt>
        <dd>
          <Folded text={decision.observation} />
        </dd>
        <dt>did</dt>
        <dd>
          <code>
            <LongText text={action === null ? "no action" : action || "(blank)"} first={2000} />
          </code>
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
          <pre className="text">
            <LongText text={decision.prompt} />
          </pre>
        </details>
      )}
    </section>
  );
}

/** How much of its first line represents a folded text, in UTF-16 units. */
const FIRST_LINE = 200;

/** Long texts fold to their first line; nothing is left out. */
export function Folded({ text }: { text: string }) {
  const end = text.slice(0, FIRST_LINE).search(/\r?\n/);
  if (end < 0 && text.length < FIRST_LINE) return <LongText text={text} />;
  return (
    <details className="folded">
      <summary>
        <bdi>{shownText(end < 0 ? `${beginning(text, FIRST_LINE)}…` : text.slice(0, end))}</bdi>
      </summary>
      <pre className="text">
        <LongText text={text} />
      </pre>
    </details>
  );
}
