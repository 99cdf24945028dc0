/** Raw WebShop captures to locators: an address in either dialect, or a page descriptor. */
import { z } from "zod";
import { InputError } from "../../errors.ts";
import { describeIssue } from "../../record/describe-issue.ts";
import { checkCapture, requireName } from "../capture.ts";
import type { Located } from "../rules.ts";
import { donePageSchema, openPageSchema, type PageDescriptor, pageKey } from "./page.ts";
import { pageOfUrl } from "./page-url.ts";

const captureSchema = z.looseObject({
  case: z.string().optional(),
  id: z.string().optional(),
  /** A page's address, which takes precedence over a descriptor beside it. */
  url: z.string().optional(),
  dialect: z.enum(["flask", "text_env"]).optional(),
  descriptor: z.unknown().optional(),
});

/** Locator of one raw capture. Every page can match. */
export function locatePage(raw: unknown, where: { file?: string; line?: number } = {}): Located {
  const { capture, id } = checkCapture(captureSchema, raw, where);
  const name = requireName(id, where);
  const key = pageKey(pageOf(capture, where));
  return { id: name, key, state: { key, mode: "normal", options: {} } };
}

function pageOf(
  { url, dialect, descriptor }: z.infer<typeof captureSchema>,
  where: { file?: string; line?: number },
): PageDescriptor {
  if (url === undefined) {
    if (descriptor === undefined) {
      throw new InputError("missing; expected string (or a `descriptor`)", { ...where, key: "url" });
    }
    return checkDescriptor(descriptor, where);
  }
  if (dialect === undefined) {
    throw new InputError('missing; expected "flask" or "text_env"', { ...where, key: "dialect" });
  }
  try {
    return pageOfUrl(url, dialect);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError(`not a WebShop address: ${error.message}`, { ...where, key: "url" });
  }
}

function checkDescriptor(descriptor: unknown, where: { file?: string; line?: number }): PageDescriptor {
  const done =
    typeof descriptor === "object" &&
    descriptor !== null &&
    "page_type" in descriptor &&
    descriptor.page_type === "done";
  const checked = (done ? donePageSchema : openPageSchema).safeParse(descriptor);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, descriptor);
  throw new InputError(message, { ...where, key: key === "" ? "descriptor" : `descriptor.${key}` });
}
