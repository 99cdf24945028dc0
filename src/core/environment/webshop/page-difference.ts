/** What differs between two WebShop pages, field by field of their descriptors. */
import { entryChanges, type StateChange } from "../state-change.ts";
import { donePageSchema, openPageSchema } from "./page.ts";

/** The fields that enter the key, as text; null for what is not a page. */
function fields(
  descriptor: unknown,
): { page: Record<string, string>; options: Record<string, string> } | null {
  const done = donePageSchema.safeParse(descriptor);
  if (done.success) {
    const { page_type, asin, options } = done.data;
    return { page: named({ page_type, product: asin }), options };
  }
  const open = openPageSchema.safeParse(descriptor);
  if (!open.success) return null;
  const { page_type, keywords, page, asin, options, sub_page } = open.data;
  const result = page === null ? null : String(page);
  return {
    page: named({
      page_type,
      keywords: keywords.length === 0 ? null : keywords.join(" "),
      "result page": result,
      product: asin,
      "sub-page": sub_page,
    }),
    options,
  };
}

function named(values: Record<string, string | null>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null ? [] : [[name === "page_type" ? "page" : name, value]],
    ),
  );
}

/** Descriptors as records keep them. Null where one is something else. */
export function pageChanges(left: unknown, right: unknown): StateChange[] | null {
  const [a, b] = [fields(left), fields(right)];
  if (a === null || b === null) return null;
  return [...entryChanges([], a.page, b.page), ...entryChanges(["option"], a.options, b.options)];
}
