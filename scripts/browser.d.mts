export function findChromium(): Promise<string | undefined>;
export function findFirefox(): string | undefined;
export function ensureChromium(): Promise<string>;
export function swiftshaderFolder(chromium: string): string | undefined;
export function softwareAdapterEnvironment(
  chromium: string,
  environment?: NodeJS.ProcessEnv,
): Record<string, string>;
