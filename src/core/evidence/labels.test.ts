/**
 * Every label about a record follows from the record's own flags: all combinations of them, each label held against
 * what a person would say of those flags.
 */
import { describe, expect, it } from "vitest";
import { EPISODE, located, SOURCE } from "../../../test/support/evidence-records.ts";
import { environmentRules } from "../environment/environment.ts";
import type { Episode, Source } from "../record/schema.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieve } from "../retrieval/retrieve.ts";
import { evidenceInput } from "./evidence-input.ts";
import { renderEvidence } from "./render.ts";

/** The flags of one record. */
interface Flags {
  complete: boolean;
  verified: boolean;
  success: boolean;
  /** Undefined where the original makes no claim of its own. */
  reported: boolean | undefined;
  unknown: boolean;
}

const BOTH = [true, false];

const COMBINATIONS: Flags[] = BOTH.flatMap((complete) =>
  BOTH.flatMap((verified) =>
    BOTH.flatMap((success) =>
      [true, false, undefined].flatMap((reported) =>
        BOTH.map((unknown) => ({ complete, verified, success, reported, unknown })),
      ),
    ),
  ),
);

function recordOf({ complete, verified, success, reported, unknown }: Flags, continuous: boolean): Source {
  return {
    ...SOURCE,
    decisions: SOURCE.decisions.map((decision, i) => ({ ...decision, gap_before: !continuous && i === 1 })),
    outcome: {
      ...SOURCE.outcome,
      complete,
      verified,
      success,
      ...(reported === undefined ? {} : { reported_success: reported }),
      ...(unknown ? { outcome_unknown: true } : {}),
    },
  };
}

/** The student shares no state with the record, or the first one. */
const ELSEWHERE: Episode = {
  ...EPISODE,
  decisions: EPISODE.decisions.map((decision) => ({ ...decision, state: located("nowhere") })),
};

/** What retrieval and the teacher's text say of decision 0 with this one record in the library. */
function said(
  environment: string,
  flags: Flags,
  { continuous, shared }: { continuous: boolean; shared: boolean },
) {
  const source = { ...recordOf(flags, continuous), environment };
  const task = prepareTask([source], environmentRules(environment));
  const episode = { ...(shared ? EPISODE : ELSEWHERE), environment };
  const retrieval = retrieve(task, episode, 0);
  const { text } = renderEvidence(evidenceInput(task, episode, retrieval.record));
  const line = (label: string): string | null =>
    new RegExp(`^COMPLETE SOURCE[\\s\\S]*?^${label}: (.*)$`, "m").exec(text)?.[1] ?? null;
  return {
    record: retrieval.record,
    sentence: retrieval.explanation.sentence,
    role: line("Role"),
    verification: line("Verification"),
    anchor: line("Anchor"),
    // The source's own, after the student's.
    outcome: line("Final outcome"),
  };
}

const PLACES = ["scienceworld", "alfworld", "webshop", "mars"].flatMap((environment) =>
  BOTH.flatMap((continuous) => BOTH.map((shared) => ({ environment, continuous, shared }))),
);

describe.each(PLACES)("labels in $environment (continuous $continuous, shared state $shared)", (place) => {
  it.each(COMBINATIONS)(
    "complete $complete, verified $verified, success $success, reported $reported, unknown $unknown",
    (flags) => {
      const { complete, verified, success } = flags;
      const trusted = complete && verified;
      const claims = flags.reported ?? success;
      const refuted = trusted && claims && !success;
      const { record, sentence, role, verification, anchor, outcome } = said(place.environment, flags, place);
      const kept = record.success ?? record.failure;
      expect((verification === null) === (kept === null)).toBe(true);

      // What the sentence must not say, whatever was retained.
      expect(sentence).not.toContain("did not check");
      if (verified) expect(sentence).not.toContain("not verified by replay");
      if (complete) expect(sentence).not.toContain("incomplete");
      if (!refuted) expect(sentence).not.toContain("did not confirm");
      if (sentence.includes("no record of the task claims a success")) expect(claims).toBe(false);
      if (sentence.includes("no record of the task counts as failed")) expect(trusted || claims).toBe(true);
      if (sentence.includes("trusted success of the task")) expect(trusted && success).toBe(true);
      if (sentence.includes("trusted failure of the task")) expect(trusted && !success && !claims).toBe(true);
      expect(sentence).not.toContain("no record of the task takes part");
      if (record.winner === null && record.success === null && trusted && success) {
        expect(sentence).toMatch(
          /the one trusted success of the task, teacher:3, is not eligible .* because/,
        );
      }

      if (kept === null) return;
      // Verification: a verified record is called so, a refuted claim never is.
      expect(/\bverified by replay/.test(verification!)).toBe(verified && !refuted);
      expect(verification!.includes("UNVERIFIED")).toBe(!verified);
      expect(verification!.includes("INCOMPLETE")).toBe(!complete);
      expect(/^complete\b/.test(verification!)).toBe(complete);
      expect(verification!.includes("did NOT confirm its claimed success")).toBe(refuted);

      // Role: only a trusted success is a successful record, only a trusted failure is a failed one.
      expect(role === "successful record").toBe(record.success !== null && trusted && success);
      if (role === "failed record") expect(trusted && !success && !claims).toBe(true);
      if (role?.includes("claimed success")) expect(claims || success).toBe(true);

      // Outcome: only trusted records are labelled plain "success" or "failure".
      expect(outcome!.startsWith("success;")).toBe(trusted && success && claims);
      expect(outcome!.startsWith("failure;")).toBe(trusted && !success && !claims && !flags.unknown);

      // Anchor: it never contradicts the verification above it.
      expect(anchor!.includes("UNVERIFIED")).toBe(kept.relation === "unverified" && !verified);
      expect(anchor!.includes("UNCONFIRMED")).toBe(kept.relation === "unverified" && refuted);
      if (kept.relation === "unverified") {
        expect(anchor).toMatch(/raw/);
        const why = sentence.split("a raw record (")[1]!;
        expect(why.includes("not verified by replay")).toBe(!verified);
        expect(why.includes("incomplete")).toBe(!complete);
        expect(why.includes("did not confirm its claimed success")).toBe(refuted);
      } else expect(anchor).not.toMatch(/raw/i);
    },
  );
});

describe("the outcome of a retained record", () => {
  const outcomeOf = (flags: Partial<Flags>): string => {
    const all = {
      complete: true,
      verified: true,
      success: true,
      reported: undefined,
      unknown: false,
      ...flags,
    };
    const source = recordOf(all, true);
    const reference = {
      source: source.source,
      position: null,
      student_position: null,
      relation: "unaligned" as const,
    };
    const { text } = renderEvidence({
      episode: EPISODE,
      decision: 0,
      retrieval: {
        ...retrieve(prepareTask([], environmentRules("scienceworld")), EPISODE, 0).record,
        success: reference,
      },
      success: source,
      failure: null,
    });
    return /Final outcome: ([^;]*);[^\n]*$/.exec(text)![1]!;
  };

  it.each<[string, Partial<Flags>]>([
    ["success", {}],
    ["success", { reported: true }],
    ["success in replay, which the original file does not report", { reported: false }],
    ["failure", { success: false }],
    ["failure", { success: false, reported: false }],
    ["reported as a success, NOT confirmed by replay", { success: false, reported: true }],
    ["success as recorded, not confirmed", { verified: false }],
    ["success as recorded, not confirmed", { complete: false, reported: true }],
    [
      "success as recorded, which the original file does not report, not confirmed",
      { verified: false, reported: false },
    ],
    ["reported as a success, not confirmed", { complete: false, success: false, reported: true }],
    ["reported as a success, not confirmed", { verified: false, success: false, reported: true }],
    ["no success reported, not confirmed", { complete: false, success: false }],
    ["no success reported, not confirmed", { verified: false, success: false, reported: false }],
    ["unknown, nobody recorded it", { verified: false, success: false, reported: false, unknown: true }],
  ])("is told as %j", (expected, flags) => {
    expect(outcomeOf(flags)).toBe(expected);
  });
});
