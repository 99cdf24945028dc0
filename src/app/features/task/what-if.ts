/** Changing something by hand: every change is a step of the browser's history, so Back undoes it. */
import type { EvidencePart } from "../../../core/evidence/index.ts";
import type { PinKind } from "../../../core/retrieval/pin.ts";
import type { Pin } from "../../../core/retrieval/types.ts";
import { navigate } from "../../data/navigate.ts";
import { getData } from "../../data/store.ts";
import { samePart } from "../../url/part-name.ts";
import type { WhatIfFields } from "../../url/what-if.ts";

/**
 * Changes what is retrieved. Parts of a retained record that are left out are shown again: they were of the record that
 * was retained before.
 */
export function changeRetrieval(change: Partial<WhatIfFields>): void {
  const leaveOut = getData().place.leaveOut.filter(({ record }) => record === "student");
  navigate({ ...change, leaveOut, part: null }, "push");
}

/** Takes a source out of the library, or lets it take part again. What was chosen by hand from it is no longer chosen. */
export function switchSource(source: string, on: boolean): void {
  const { without, pin, pinFailure } = getData().place;
  const others = without.filter((each) => each !== source);
  changeRetrieval({
    without: on ? others : [...others, source],
    pin: pin?.source === source ? null : pin,
    pinFailure: pinFailure?.source === source ? null : pinFailure,
  });
}

/** Chooses a reference by hand; null leaves the choice to the rules again. */
export function chooseReference(kind: PinKind, pin: Pin | null): void {
  changeRetrieval(kind === "success" ? { pin } : { pinFailure: pin });
}

/** Shows a part of the evidence to the teacher, or leaves it out. */
export function showPart(part: EvidencePart, shown: boolean): void {
  const others = getData().place.leaveOut.filter((each) => !samePart(each, part));
  navigate({ leaveOut: shown ? others : [...others, part], part: null }, "push");
}

/** The teacher reads this text; null: what is rendered. */
export function editEvidence(text: string | null): void {
  navigate({ text, part: null }, "push");
}
