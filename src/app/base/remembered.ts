/** What the browser remembers for the user, where it lets a page remember: strings by key, no part of the address. */
import type { z } from "zod";

/** For how long: in all tabs from now on, or for as long as this tab lives, reloads included. */
type Span = "always" | "tab";

const storage = (span: Span): Storage => (span === "tab" ? sessionStorage : localStorage);

/** What was remembered; "" without any. */
export function remembered(key: string, span: Span = "always"): string {
  try {
    return storage(span).getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** What was remembered as JSON; `fallback` without any, and where it is not as the schema says. */
export function rememberedAs<T>(key: string, schema: z.ZodType<T>, fallback: T, span: Span = "always"): T {
  try {
    return schema.safeParse(JSON.parse(remembered(key, span))).data ?? fallback;
  } catch {
    return fallback;
  }
}

/** A page that may not store anything forgets it when it is left. */
export function remember(key: string, value: string, span: Span = "always"): void {
  try {
    storage(span).setItem(key, value);
  } catch {}
}
