/** A made JAR and a Java that speaks to a stub gateway, for the tests of one file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { fakeJavaVariables, makeFakeJava } from "./fake-java.ts";
import { type StubGateway, stubGateway } from "./stub-gateway.ts";

/**
 * Sets both up before the file's tests and takes them down after. @returns the folder with `a.jar`, of version 1.2.3, and
 * the gateway, there once the tests run
 */
export function fakeSimulator(): { folder: string; jar: string; gateway(): StubGateway } {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-fake-simulator-"));
  const jar = makeFakeJava(folder);
  let gateway: StubGateway;
  beforeAll(async () => {
    gateway = await stubGateway();
    for (const [name, value] of Object.entries(fakeJavaVariables(folder, gateway))) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await gateway.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, jar, gateway: () => gateway };
}
