/** Environments: their rules, locators and response parsers. */
export * from "./environment.ts";
export { isRejection } from "./scienceworld/parser-mode.ts";
