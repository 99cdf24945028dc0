/** Collection in ScienceWorld keeps accepted actions only: what is malformed or rejected is drawn again. */
import { type Protocol, type Purpose, playProtocols } from "../protocol.ts";

const COLLECT: Protocol = {
  history: { pairs: 2, from: 2 },
  form: "chat",
  sampling: { temperature: 0.4, topP: 1, topK: 20 },
  replies: { malformed: "resample", rejected: "restore", attempts: 5, exhausted: "failed" },
  seedText: ({ task, repetition, decision, attempt }) => `${task}|${repetition}|${decision}|${attempt}`,
};

export const SCIENCEWORLD_PROTOCOL: Record<Purpose, Protocol> = { collect: COLLECT, ...playProtocols(5) };
