/** A made JAR, and a Java home whose Java speaks to a stub gateway. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { madeJar } from "./made-jar.ts";
import type { StubGateway } from "./stub-gateway.ts";

/** Writes `a.jar`, of version 1.2.3, and `bin/java` into a folder. @returns the path of the JAR */
export function makeFakeJava(folder: string): string {
  const jar = join(folder, "a.jar");
  writeFileSync(jar, madeJar("1.2.3"));
  mkdirSync(join(folder, "bin"));
  symlinkSync(resolve(import.meta.dirname, "fake-java.mjs"), join(folder, "bin/java"));
  return jar;
}

/** Variables with which a simulator is the fake one of that folder. */
export const fakeJavaVariables = (folder: string, { port }: Pick<StubGateway, "port">) => ({
  JAVA_HOME: folder,
  GCOPD_FAKE_JAVA: String(port),
});
