/** Runs the launchers' contract outside of a test runner, and tells how each check went. */
import { CONTRACT, type Place } from "./launch-contract.ts";

/** @returns how many of the checks failed */
export async function runContract(name: string, place: Place): Promise<number> {
  let failed = 0;
  for (const { name: what, check } of CONTRACT) {
    try {
      await check(place);
      console.log(`ok      ${name}: ${what}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`${name}: ${CONTRACT.length - failed} of ${CONTRACT.length} checks hold`);
  return failed;
}
