import type { PromptTemplate } from "./template.ts";

/** How one environment's user messages are built. */
export interface PromptRules {
  /**
   * What the environment's interface supplies beside task and observation: the lists that a template may name. Null
   * where it is up to the template (a custom environment).
   */
  readonly lists: readonly string[] | null;
  /** The default, from the JSON file beside the rules; a user's own comes from `readPromptTemplate`. */
  readonly template: PromptTemplate;
}
