/** The decisions of the open libraries that the page keeps. */

import { Decisions } from "./decisions.ts";
import { libraryWorker } from "./library-client.ts";

export const keptDecisions = new Decisions(
  ({ library, environment, task, episode, decision, selection, endOfTurn }) =>
    libraryWorker().tasks.decision({ library, environment, task }, episode, decision, selection, {
      endOfTurn,
    }),
);
