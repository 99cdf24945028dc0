/** A made JAR and a Java that speaks to a stub gateway, for the tests of one file. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { madeJar } from "./made-jar.ts";
import { type StubGateway, stubGateway } from "./stub-gateway.ts";

/**
 * Sets both up before the file's tests and takes them down after. @returns the folder with `a.jar`, of version 1.2.3, and
 * the gateway, there once the tests run
 */
export function fakeSimulator(): { folder: string; jar: string; gateway(): StubGateway } {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-fake-simulator-"));
  const jar = join(folder, "a.jar");
  let gateway: StubGateway;
  beforeAll(async () => {
    writeFileSync(jar, madeJar("1.2.3"));
    mkdirSync(join(folder, "bin"));
    symlinkSync(resolve(import.meta.dirname, "fake-java.mjs"), join(folder, "bin/java"));
    gateway = await stubGateway();
    vi.stubEnv("JAVA_HOME", folder);
    vi.stubEnv("GCOPD_FAKE_JAVA", String(gateway.port));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await gateway.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, jar, gateway: () => gateway };
}
