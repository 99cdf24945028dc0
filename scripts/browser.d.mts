/** Path of an installed Chromium; undefined when there is none. */
export function findChromium(): Promise<string | undefined>;
/** Like `findChromium`, but installs one if need be. */
export function ensureChromium(): Promise<string>;
/** Environment variables with which npm `webgpu` finds the software Vulkan driver beside a Chromium. */
export function softwareAdapterEnvironment(chromium: string): Record<string, string>;
