/** Runs whose models are read from the hub: a gated or private one needs a token, which is never copied. */

/** Whether a config names its teacher or its student at the hub, as `hub:OWNER/NAME`. */
export function namesHubModel({ teacher, student }: Readonly<Record<string, unknown>>): boolean {
  return [teacher, student].some((model) => typeof model === "string" && model.startsWith("hub:"));
}

/** For a script, as a comment. */
export const TOKEN_COMMENT = "set HF_TOKEN if the model of the hub is gated or private: no token is copied";

/** For a person, beside what is copied. */
export const TOKEN_SENTENCE =
  "A model of the hub that is gated or private needs HF_TOKEN set in that shell: no token is copied.";
