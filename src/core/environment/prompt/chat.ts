/** What a model reads at a decision: a user message, and the turns before it where the protocol is a chat. */
import type { ChatTurn } from "../../ports.ts";

export interface DecisionPrompt {
  /** The user message h_t of this decision. */
  message: string;
  /** Earlier turns; none in the paper's student protocol. */
  earlier: readonly ChatTurn[];
}
