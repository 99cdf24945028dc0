import type { Plugin } from "esbuild";

export const rawPlugin: Plugin;
export function buildNode(): Promise<void>;
