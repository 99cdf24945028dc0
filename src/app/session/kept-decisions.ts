/** The decisions of the open libraries that the page keeps. */
import { libraryWorker } from "../workers/library-client.ts";
import { Decisions } from "./decisions.ts";

export const keptDecisions = new Decisions(
  ({ library, environment, task, episode, decision, selection, endOfTurn }) =>
    libraryWorker().decision({ library, environment, task }, episode, decision, selection, { endOfTurn }),
);
