/** The environments that have rules of their own, by the name that records write. */
import { ALFWORLD } from "./alfworld/rules.ts";
import { customRules } from "./custom/rules.ts";
import type { EnvironmentRules } from "./rules.ts";
import { SCIENCEWORLD } from "./scienceworld/rules.ts";
import { WEBSHOP } from "./webshop/rules.ts";

const ENVIRONMENTS: ReadonlyMap<string, EnvironmentRules> = new Map(
  [SCIENCEWORLD, ALFWORLD, WEBSHOP].map((rules) => [rules.name, rules]),
);

/** Names of the environments that have rules of their own. Every other name is a custom environment. */
export function environmentNames(): string[] {
  return [...ENVIRONMENTS.keys()];
}

/** True for an environment without rules of its own: its records bring their keys, the default rules apply. */
export function isCustomEnvironment(name: string): boolean {
  return !ENVIRONMENTS.has(name);
}

/** One line for a person that says how records of a custom environment are treated. */
export function customEnvironmentNote(name: string): string {
  return (
    `environment ${JSON.stringify(name)} is custom: its state keys are taken as recorded, ` +
    "with the default rules (terminal entries admitted, continuity checked, unverified fallback)"
  );
}

/** The rules of the environment that records call `name`; those of a custom environment for any other name. */
export function environmentRules(name: string): EnvironmentRules {
  return ENVIRONMENTS.get(name) ?? customRules(name);
}
