import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { SCHEDULER_NAMES, SCHEDULERS, TARGET_KEYS, type TargetKey } from "../../protocol/target.ts";
import { checkTarget } from "../../worker/launch/check.ts";
import { addTarget, readTarget, readTargets, targetsFile } from "../../worker/launch/target.ts";
import { table } from "../demo/table.ts";
import { number } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";

type Kind = NonNullable<TargetKey["as"]>;

/** What stands for the value in the help, and how its text is read. Words and pairs are each added to those before. */
const KINDS: Readonly<
  Record<Kind, [value: string, read: (text: string, before: unknown, option: string) => unknown]>
> = {
  number: ["number", number(0)],
  file: ["file", (text) => resolve(text)],
  words: ["word", (text, before) => [...((before as string[] | undefined) ?? []), text]],
  pairs: [
    "name=value",
    (text, before) => {
      const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (name === undefined) throw new InvalidArgumentError("Expected NAME=VALUE.");
      return { ...(before as object | undefined), [name]: value };
    },
  ],
  json: ["json", (text, _, option) => parseJsonText(text, { file: option })],
};

/** A key's option: of its name, in the singular where it may be repeated. */
function optionOf({ key, text, as }: TargetKey): Option {
  const words = (as === "words" || as === "pairs" ? key.replace(/s$/, "") : key).split("_");
  const [value, read] = as === undefined ? [words.at(-1), undefined] : KINDS[as];
  const name = `--${words.join("-")}`;
  const option = new Option(`${name} <${value}>`, text).makeOptionMandatory(key === "scratch");
  return read === undefined ? option : option.argParser((of, before: unknown) => read(of, before, name));
}

export function register(program: Command): void {
  const target = program
    .command("target")
    .description("Manage the places where `gcopd launch` starts runs (docs/remote.md).");
  const add = target
    .command("add <name>")
    .description(
      `Write a target into ${targetsFile()}, which you may also edit by hand. It holds no secrets: ssh uses your own keys and configuration.`,
    )
    .addOption(
      new Option("--scheduler <name>", "what starts runs there").choices(SCHEDULER_NAMES).default("none"),
    );
  const options = TARGET_KEYS.map((each) => ({ key: each.key, option: optionOf(each) }));
  for (const { option } of options) add.addOption(option);
  add
    .option("--replace", "replace the target with that name")
    .action(async (name: string, { scheduler, replace, ...texts }: Record<string, unknown>) => {
      const given = options
        .map(({ key, option }) => [key, texts[option.attributeName()]] as const)
        .filter(([, value]) => value !== undefined);
      await addTarget(name, { scheduler, ...Object.fromEntries(given) }, { replace: replace === true });
      progress(`gcopd: wrote ${name} into ${targetsFile()}; try it with gcopd target check ${name}`);
    });
  target
    .command("list")
    .description("Print the targets.")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }) => {
      const targets = readTargets();
      const rows = Object.entries(targets).map(([name, { host, scheduler, partition, gpus, scratch }]) => [
        name,
        SCHEDULERS[scheduler].onHost ? (host ?? "this machine") : "",
        scheduler === "none" ? "" : `${scheduler}${partition === undefined ? "" : ` ${partition}`}`,
        gpus ?? "",
        scratch,
      ]);
      if (json) printLine(JSON.stringify(targets, null, 2));
      else if (rows.length === 0)
        progress(`gcopd: no targets in ${targetsFile()}; add one with gcopd target add`);
      else printLine(table(["target", "host", "scheduler", "GPUs", "scratch"], rows));
    });
  target
    .command("check <name>")
    .description(
      "Try every step a run needs on a target, and say what is missing and what to do. Exits with 1 when something is missing.",
    )
    .option("--json", "as JSON")
    .action(async (name: string, { json }: { json?: boolean }) => {
      const steps = await checkTarget(readTarget(name));
      if (json) printLine(JSON.stringify(steps, null, 2));
      else
        printLine(
          table(
            ["step", "", "found, or what to do"],
            steps.map(({ step, verdict, text }) => [step, verdict, text]),
          ),
        );
      const missing = steps.filter(({ verdict }) => verdict === "missing").map(({ step }) => step);
      if (missing.length > 0) throw new InputError(`target ${name}: missing: ${missing.join(", ")}`);
    });
}
