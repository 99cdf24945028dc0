import type { Plugin } from "vite";

/** @param pages names of the pages that link to each other, without `.md` */
export function guidePlugin(pages: readonly string[]): Plugin;
