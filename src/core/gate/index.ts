/** Does evidence help the teacher? Its probability of an optimal action under each context. */
export * from "./gate-case.ts";
export * from "./gate-record.ts";
export * from "./gate-summary.ts";
