export function newest(paths: readonly string[]): number;
export function isStale(output: string, stamp: string, sources: readonly string[]): boolean;
