/** Collection in WebShop draws malformed replies again; a click on what is not there stays a decision. */
import { EVALUATION_SAMPLING, type Protocol, type Purpose, playProtocols } from "../protocol.ts";

/** The released collection's name for its K = 16 sources. */
const TAG = "teacher_k16";

const COLLECT: Protocol = {
  history: { pairs: 2, from: 1 },
  form: "message",
  sampling: EVALUATION_SAMPLING,
  replies: { malformed: "resample", rejected: "spend", attempts: 64, exhausted: "incomplete" },
  seedText: ({ task, repetition, decision, attempt }) => {
    // Tasks are `goal17`; the released seeds name the number alone.
    const text = `${task.replace(/^goal(?=\d+$)/, "")}|${repetition}|${decision}|${TAG}`;
    return attempt === 0 ? text : `${text}|${attempt}`;
  },
};

export const WEBSHOP_PROTOCOL: Record<Purpose, Protocol> = { collect: COLLECT, ...playProtocols(2) };
