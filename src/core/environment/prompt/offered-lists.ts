import type { Offered } from "../../ports.ts";
import { promptCommands } from "../alfworld/prompt.ts";
import { availableActions } from "../webshop/prompt.ts";

/** What an environment offers as the lists that prompt templates name; none where it offers nothing. */
export function offeredLists(offered: Offered | null): Record<string, readonly string[]> {
  if (offered === null) return {};
  if ("commands" in offered) return { admissible_commands: promptCommands(offered.commands) };
  if ("templates" in offered) return { action_templates: offered.templates, objects: offered.objects };
  const { searchBar, clickables } = offered;
  return { available_actions: availableActions({ has_search_bar: searchBar, clickables }) };
}
