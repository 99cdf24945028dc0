import { Command } from "commander";
import { expect, test } from "vitest";
import { runCli } from "../../test/support/cli.ts";
import { PACKAGE } from "../node/package-root.ts";
import { COMMANDS } from "./main.ts";

test.each(Object.entries(COMMANDS))("%s is loaded by the name that it registers", async (name, load) => {
  const program = new Command();
  (await load()).register(program);
  expect(program.commands.map((command) => command.name())).toEqual([name]);
});

test("the help lists every command that is not hidden; the version needs none", async () => {
  const { code, out } = await runCli("--help");
  expect(code).toBe(0);
  for (const name of Object.keys(COMMANDS))
    if (!["serve-card", "experiment-part"].includes(name)) expect(out).toContain(`  ${name} `);
  expect(await runCli("--version")).toEqual({ code: 0, out: `${PACKAGE.version}\n`, err: "" });
});

test("a mistyped command is refused with the one that was meant", async () => {
  const { code, err } = await runCli("trian");
  expect(code).toBe(2);
  expect(err).toContain("Did you mean train?");
});
