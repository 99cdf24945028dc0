/** Environments: their rules, locators, prompts and response parsers. */
export { type FactState, factKey } from "./alfworld/locator.ts";
export { promptCommands, splitResetText } from "./alfworld/prompt.ts";
export * from "./environment.ts";
export type { DecisionPrompt } from "./prompt/chat.ts";
export { decisionPrompt, type PastDecision } from "./prompt/decision-prompt.ts";
export { offeredLists } from "./prompt/offered-lists.ts";
export type { PromptRules } from "./prompt/rules.ts";
export { type PromptInput, studentPrompt } from "./prompt/student-prompt.ts";
export { type PromptTemplate, readPromptTemplate } from "./prompt/template.ts";
export * from "./protocol.ts";
export { isRejection } from "./scienceworld/parser-mode.ts";
export { type PageDescriptor, pageKey } from "./webshop/page.ts";
export { pageOfUrl, type UrlDialect } from "./webshop/page-url.ts";
export { availableActions, type PageActions } from "./webshop/prompt.ts";
