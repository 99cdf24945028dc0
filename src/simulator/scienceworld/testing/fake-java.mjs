#!/usr/bin/env node
// Stands in for Java in tests: prints the port of a gateway that the test serves, and ends with its standard input.
// GCOPD_FAKE_JAVA: a port; `silent` prints nothing; anything else is a complaint, and the end.
const { GCOPD_FAKE_JAVA: what } = process.env;
if (what !== "silent" && !/^\d+$/.test(what)) {
  console.error(what);
  process.exit(1);
}
if (what !== "silent") console.log(what);
process.stdin.on("end", () => process.exit(0)).resume();
