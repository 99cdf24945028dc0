/** Runs before each test file of a process that several share: no module or stub of the file before is left. */
import { vi } from "vitest";

vi.resetModules();
vi.unstubAllGlobals();
vi.unstubAllEnvs();
vi.useRealTimers();
