/** The decisions of the open library that the page keeps. */
import { libraryWorker } from "../workers/clients.ts";
import { Decisions } from "./decisions.ts";

export const keptDecisions = new Decisions(({ environment, task, episode, decision, selection }) =>
  libraryWorker().decision({ environment, task }, episode, decision, selection),
);
