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

/** Every option of every command that takes a value, with the words that lead to its command. */
async function valued(): Promise<[string[], string][]> {
  const program = new Command();
  for (const load of Object.values(COMMANDS)) (await load()).register(program);
  const under = (command: Command, path: string[]): [string[], string][] => [
    ...command.options.flatMap(({ long, required }): [string[], string][] =>
      required && long ? [[path, long]] : [],
    ),
    ...command.commands.flatMap((each) => under(each, [...path, each.name()])),
  ];
  return under(program, []);
}

test("a misspelled option is named, with the one that was meant, whatever else is missing", async () => {
  const options = await valued();
  expect(options.length).toBeGreaterThan(100);
  for (const [path, option] of options) {
    // Twice its last letter: no option is called so.
    const misspelled = `${option}${option.at(-1)}`;
    const { code, err } = await runCli(...path, misspelled, "x");
    expect(code, `${path.join(" ")} ${option}`).toBe(2);
    expect(err, path.join(" ")).toContain(`unknown option '${misspelled}'`);
    expect(err, path.join(" ")).toContain(option);
    expect(err, path.join(" ")).toContain("Did you mean");
  }
});

test("an option that is missing is named where no other is misspelled", async () => {
  const { code, err } = await runCli("train");
  expect(code).toBe(2);
  expect(err).toContain("required option '--config <file>' not specified");
});
