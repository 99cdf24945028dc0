import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { vi } from "vitest";

/** A hook that runs, with its effects. */
export interface RunHook<T> {
  /** What it gave last. */
  now(): T;
  /** Does what a user does, and lets what follows from it settle. */
  act(work: () => unknown): Promise<void>;
  /** Leaves the page that it is on. */
  leave(): Promise<void>;
}

/** Runs a hook in a component that draws nothing, on a page with no more than React then asks for. */
export async function runHook<T>(hook: () => T): Promise<RunHook<T>> {
  const document = { nodeType: 9, activeElement: null, addEventListener() {} };
  vi.stubGlobal("document", document);
  vi.stubGlobal("window", { document, HTMLIFrameElement: class {} });
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  const element = { nodeType: 1, tagName: "DIV", ownerDocument: document, addEventListener() {} };
  const root = createRoot(element as unknown as Element);
  let given: T;
  const Host = (): null => {
    given = hook();
    return null;
  };
  const run = (work: () => unknown): Promise<void> => act(async () => void (await work()));
  await run(() => root.render(createElement(Host)));
  return { now: () => given, act: run, leave: () => run(() => root.unmount()) };
}
