/** What differs between two ALFWorld states: their grounded facts, and the won and lost flags. */
import { z } from "zod";
import { compareCodePoints } from "../canonical-text.ts";
import { entryChanges, type StateChange } from "../state-change.ts";

const stateSchema = z.looseObject({
  gamefile: z.string().optional(),
  game: z.string().optional(),
  facts: z.array(z.string()),
  won: z.boolean(),
  lost: z.boolean(),
});

/** Descriptors as `gcopd locate` reads them. Null where one is something else. */
export function factChanges(left: unknown, right: unknown): StateChange[] | null {
  const [a, b] = [stateSchema.safeParse(left), stateSchema.safeParse(right)];
  if (!a.success || !b.success) return null;
  const flags = ({ gamefile, game, won, lost }: z.infer<typeof stateSchema>) => ({
    game: gamefile ?? game ?? "",
    lost: String(lost),
    won: String(won),
  });
  const [before, after] = [new Set(a.data.facts), new Set(b.data.facts)];
  const facts = [...new Set([...before, ...after])].sort(compareCodePoints);
  return [
    ...entryChanges([], flags(a.data), flags(b.data)),
    ...facts.flatMap((fact): StateChange[] => {
      if (before.has(fact) && after.has(fact)) return [];
      return before.has(fact)
        ? [{ at: ["fact"], kind: "removed", left: fact, right: null }]
        : [{ at: ["fact"], kind: "added", left: null, right: fact }];
    }),
  ];
}
