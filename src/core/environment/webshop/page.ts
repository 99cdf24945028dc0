/**
 * The WebShop locator (Appendix "State descriptors and matching"): page type, ordered search keywords, result page,
 * product, sorted selected options and item sub-page; after the purchase only product and options. Reward and products
 * seen before are metadata and do not enter it.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { z } from "zod";
import { compareCodePoints } from "../canonical-text.ts";

/** A page before the purchase; on the start page everything but the type is empty or null. */
export const openPageSchema = z.looseObject({
  page_type: z.enum(["start", "search_results", "item_page", "item_sub_page"]),
  /** The lower-case query, split at single spaces, in order. */
  keywords: z.array(z.string()),
  /** Result page, from 1. */
  page: z.int().nullable(),
  asin: z.string().nullable(),
  options: z.record(z.string(), z.string()),
  /** Description, Features, Reviews or Attributes. */
  sub_page: z.string().nullable(),
});

/** The page after the purchase. */
export const donePageSchema = z.looseObject({
  page_type: z.literal("done"),
  asin: z.string().nullable(),
  options: z.record(z.string(), z.string()),
});

export type OpenPage = z.infer<typeof openPageSchema>;

/** One page of a session, as records keep it under `state.descriptor`. */
export type PageDescriptor = OpenPage | z.infer<typeof donePageSchema>;

/** State key: SHA-256, in lower-case hex, of the page's JSON (no spaces, letters as they are, option pairs sorted). */
export function pageKey(descriptor: PageDescriptor): string {
  const options = Object.entries(descriptor.options).sort(([a], [b]) => compareCodePoints(a, b));
  const { page_type, asin } = descriptor;
  const parts =
    page_type === "done"
      ? [page_type, asin, options]
      : [page_type, descriptor.keywords, descriptor.page, asin, options, descriptor.sub_page];
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts))));
}
