/** Actions of the evidence test beside its steps. */
import { type Action, aFreeDevice, type Blocked, needs, noModelAtWork } from "../../compute/action.ts";
import { useOptimal } from "../../compute/open/optimal.ts";
import { shippedName } from "../../url/library-link.ts";
import { scoreSweep } from "./run-sweep.ts";
import { studentComparison } from "./students/run-students.ts";

const inTheTest: Blocked = ({ place }) => (place.view === "evidence-test" ? null : "go to Evidence first");

const theMiniature: Blocked = ({ library }) =>
  library !== null && shippedName(library.link) === "miniature" ? null : "open the miniature world first";

const knownOptimal: Blocked = ({ library }) =>
  library !== null && useOptimal.getState()[library.id] != null ? null : "no optimal actions are known";

export const EVIDENCE_TEST: readonly Action[] = [
  {
    id: "train-students",
    title: "Train the students of the evidence test",
    group: "Train",
    words: "methods compare learn seeds miniature curves",
    blocked: needs(inTheTest, theMiniature, noModelAtWork),
    run: () => void studentComparison.train(),
  },
  {
    id: "stop-students",
    title: "Stop the students of the evidence test",
    group: "Train",
    words: "cancel end",
    blocked: ({ studying }) => (studying === null ? "no student is trained" : null),
    run: () => void studentComparison.stop(),
  },
  {
    id: "evidence-over-k",
    title: "Draw the evidence test over K",
    group: "Train",
    words: "sources budget coverage curve",
    blocked: needs(inTheTest, knownOptimal, aFreeDevice),
    run: () => void scoreSweep("k"),
  },
  {
    id: "evidence-over-coverage",
    title: "Draw the evidence test over coverage",
    group: "Train",
    words: "tasks success share curve",
    blocked: needs(inTheTest, knownOptimal, aFreeDevice),
    run: () => void scoreSweep("coverage"),
  },
  {
    id: "evidence-over-failures",
    title: "Draw the evidence test over the share of failures",
    group: "Train",
    words: "failed records curve",
    blocked: needs(inTheTest, knownOptimal, aFreeDevice),
    run: () => void scoreSweep("failures"),
  },
];
