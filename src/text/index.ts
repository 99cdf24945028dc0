/** Tokenizer and chat template. */
export type { ChatMessage, ChatOptions } from "./chat-template.ts";
export { textCodec } from "./codec.ts";
export {
  decisionPrompt,
  decisionPromptIds,
  decisionResponseIds,
  type ResponseOptions,
  requireEndOfTurn,
} from "./decision-ids.ts";
export { openTokenizer, TOKENIZER_FILES } from "./folder.ts";
export { hashTokenizer, type TokenizerHashes } from "./hashes.ts";
export { checkShared, type UnsharedIds, unsharedIds, unsharedNote } from "./same-ids.ts";
export {
  checkTokenizerFits,
  loadTokenizer,
  Tokenizer,
  type TokenizerTexts,
  type TokenPiece,
  type TokenSpan,
} from "./tokenizer.ts";
