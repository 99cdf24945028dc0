/** Archives that look like the simulator's, for tests. */
import { strToU8, zipSync } from "fflate";

/** A JAR that names a version and holds no working class. */
export function madeJar(version: string): Uint8Array {
  return zipSync({
    "META-INF/MANIFEST.MF": strToU8(`Manifest-Version: 1.0\r\nImplementation-Version: ${version}\r\n`),
    "scienceworld/runtime/pythonapi/PythonInterface.class": strToU8("x"),
  });
}
