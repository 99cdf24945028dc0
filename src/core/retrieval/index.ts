export * from "./eligibility.ts";
export { isOfUnknownOutcome, REASON_TEXT, TIE_WORD } from "./explain.ts";
export * from "./minimum-prefix.ts";
export { formatPin, type PinKind, parsePin, pinName } from "./pin.ts";
export * from "./prepare.ts";
export { retrieve, retrieveEpisode } from "./retrieve.ts";
export * from "./selection.ts";
export * from "./terminal-failure.ts";
export type * from "./types.ts";
