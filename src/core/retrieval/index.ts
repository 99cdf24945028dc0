export * from "./eligibility.ts";
export { REASON_TEXT } from "./explain.ts";
export * from "./prepare.ts";
export { type RetrieveOptions, retrieve, retrieveEpisode } from "./retrieve.ts";
export type * from "./types.ts";
