import { describe, expect, it } from "vitest";
import { EPISODE, inputFor, located, SOURCE, scienceworld } from "../../../test/support/evidence-records.ts";
import { InputError } from "../errors.ts";
import type { Attempt, Episode, Source } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { evidenceInput } from "./evidence-input.ts";
import { renderEvidence } from "./render.ts";

describe("renderEvidence", () => {
  it("prints the paper's order and labels, everything recorded, and no thought", () => {
    expect(renderEvidence(inputFor([SOURCE], EPISODE, 1)).text).toBe(
      `STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION
Events count from 1. The observation before an event is the feedback printed just before it, unless the event prints its own.
Initial observation: A hallway.
Student event 1
Recorded action: eat door
Status: rejected by the environment, not executed
Actual feedback: You cannot.
Student event 2 [CURRENT SCORED DECISION]
Recording gap: not continuous from the previous event
Recorded action: none (the response held no executable action)
Status: malformed response, nothing executed
Actual feedback: Answer with one action.
Final outcome: failure; score 0; stopped at the decision limit after 2 decisions
COMPLETE SOURCE ACTION/OBSERVATION EXECUTION: teacher:3
Role: successful record
Origin: teacher
Verification: complete and verified by replay
Anchor: historical; source event 1 shares the state of student event 1, earlier than the scored decision, student event 2
Initial observation: A hallway.
Source event 1 [MATCHED STATE]
Noncommitted attempt (rejected, not part of the execution): go kitchn
Attempt feedback: Unknown action.
Noncommitted attempt (unreadable, not part of the execution): none (the response held no executable action)
Attempt feedback: Unreadable.
Recorded action: go to kitchen
Actual feedback: You move to the kitchen.
Source event 2
Observation: You move to the kitchen. 
Recorded action: 0 (stood for: pick up orange)
Actual feedback: You take the orange.
Final outcome: success; score 100; ended by the environment after 2 decisions`,
    );
  });

  it("labels each relation and each standing of a record", () => {
    const anchor = (sources: Source[], episode = EPISODE, decision = 0) =>
      /^Verification: .*\nAnchor: .*$/m.exec(renderEvidence(inputFor(sources, episode, decision)).text)![0];
    expect(anchor([SOURCE])).toContain(
      "Anchor: current; source event 1 shares the state of student event 1, the scored decision",
    );
    const elsewhere = { ...EPISODE, decisions: EPISODE.decisions.map((d) => ({ ...d, state: null })) };
    expect(anchor([SOURCE], elsewhere)).toContain("Anchor: unaligned; no source event is matched");
    const raw: Source = { ...SOURCE, outcome: { ...SOURCE.outcome, verified: false, complete: false } };
    expect(anchor([raw])).toBe(
      "Verification: INCOMPLETE, UNVERIFIED by replay\n" +
        "Anchor: UNVERIFIED raw record, unaligned; no source event is matched to a student event",
    );
    expect(renderEvidence(inputFor([raw], EPISODE, 0)).text).toContain(
      "Final outcome: success as recorded, not confirmed; score 100",
    );
  });

  it("marks a matched terminal visit as the end of the source", () => {
    const there: Episode = {
      ...EPISODE,
      decisions: EPISODE.decisions.map((d, t) => (t === 0 ? { ...d, state: located("done") } : d)),
    };
    const { text, spans } = renderEvidence(inputFor([SOURCE], there, 0));
    expect(text).toContain(
      "Source event 3 [MATCHED STATE]\nRecorded action: none (the execution ends in this state)\nFinal outcome: success",
    );
    expect(spans.find((span) => span.kind === "success" && span.position === 2)).toMatchObject({
      part: "event",
    });
  });

  it("prints attempts after the last decision before the outcome, labelled, and ignores what is none", () => {
    const tries: Attempt[] = [
      { action: "open sky", reason: "rejected", feedback: "No such thing." },
      { action: null, reason: "format", feedback: "Unreadable." },
    ];
    const { text, spans } = renderEvidence(inputFor([{ ...SOURCE, attempts_after_last: tries }], EPISODE, 1));
    expect(text).toContain(`Actual feedback: You take the orange.
Source event 3
Noncommitted attempt (rejected, not part of the execution): open sky
Attempt feedback: No such thing.
Noncommitted attempt (unreadable, not part of the execution): none (the response held no executable action)
Attempt feedback: Unreadable.
Recorded action: none (the execution ends in this state)
Final outcome: success; score 100; ended by the environment after 2 decisions`);
    expect(spans.find((span) => span.kind === "success" && span.position === 2)?.part).toBe("event");
    const plain = renderEvidence(inputFor([SOURCE], EPISODE, 1)).text;
    for (const other of [[], null, "none", [{ action: 3 }]]) {
      expect(renderEvidence(inputFor([{ ...SOURCE, attempts_after_last: other }], EPISODE, 1)).text).toBe(
        plain,
      );
    }
  });

  it("puts the successful record before the failed one", () => {
    const lost: Source = {
      ...SOURCE,
      source: "teacher:9",
      outcome: { ...SOURCE.outcome, success: false, score: 5 },
    };
    const { spans, text } = renderEvidence(inputFor([lost, SOURCE], EPISODE, 1));
    expect([...new Set(spans.map((span) => span.kind))]).toEqual(["student", "success", "failure"]);
    expect(text.indexOf("EXECUTION: teacher:3")).toBeLessThan(text.indexOf("EXECUTION: teacher:9"));
  });

  it("wraps hindsight alone in its tags and shows no source", () => {
    const input = { ...inputFor([SOURCE], EPISODE, 1), control: "hindsight-only" as const };
    const { text, spans } = renderEvidence({
      ...input,
      retrieval: { ...input.retrieval, success: null },
      success: null,
    });
    expect(text).toMatch(/^<student_hindsight>\nSTUDENT'S [\s\S]*2 decisions\n<\/student_hindsight>$/);
    expect(text).not.toContain("SOURCE");
    expect(text.slice(spans[0]!.start)).toMatch(/^STUDENT'S/);
    expect(text.slice(0, spans.at(-1)!.end)).toMatch(/after 2 decisions$/);
  });

  it("refuses records that are not those retrieval retained", () => {
    const input = inputFor([SOURCE], EPISODE, 1);
    expect(() => renderEvidence({ ...input, success: null })).toThrow(
      "decision 1 of episode e retains teacher:3 as its successful record, got none",
    );
    expect(() => renderEvidence({ ...input, failure: SOURCE })).toThrow(InputError);
    expect(() => renderEvidence({ ...input, decision: 0 })).toThrow(/is of decision 1/);
    expect(() => renderEvidence({ ...input, decision: 9 })).toThrow(/there is no decision 9/);
    const task = prepareTask([], scienceworld);
    expect(() => evidenceInput(task, EPISODE, input.retrieval)).toThrow(/names source teacher:3/);
  });
});
