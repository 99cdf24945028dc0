/** Options that the commands with a model share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import type { CardChoice } from "./compute.ts";
import { howFar } from "./how-far.ts";

export type ProgressFormat = "text" | "json";

export interface EngineOptions {
  device: DeviceChoice;
  compute: "f32" | "f16";
  cards?: CardChoice;
  progress: ProgressFormat;
}

export const MODEL =
  "Hugging Face folder of a Qwen3 or Qwen3.5 model, or hub:OWNER/NAME[@REVISION] to download one";

/** Tells how far a download is. */
export function downloaded(): (state: { done: number; total: number }) => void {
  const tell = howFar(
    ({ done, total }: { done: number; total: number }) =>
      `downloaded ${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB`,
  );
  return (state) => {
    if (state.done < state.total) tell(state);
  };
}

/** `--device`, `--compute`, `--cards` if asked for, and `--progress` unless the command has nothing that a program would follow. */
export function engineOptions(command: Command, { progress = true, cards = false } = {}): Command {
  command.addOption(
    new Option("--device <name>", "where to compute: auto takes WebGPU on a real GPU, else plain TypeScript")
      .choices(DEVICE_CHOICES)
      .default("auto"),
  );
  command.addOption(
    new Option(
      "--compute <format>",
      "operands of matrix products; f16 needs a GPU that has it, sums stay f32",
    )
      .choices(["f32", "f16"])
      .default("f32"),
  );
  if (cards) cardsOption(command);
  return progress ? progressOption(command) : command;
}

/** `--progress`, for a person or a program. */
export function progressOption(command: Command): Command {
  return command.addOption(
    new Option("--progress <format>", "text on standard error, or events as JSON lines on standard output")
      .choices(["text", "json"])
      .default("text"),
  );
}

/** `--cards`: how many, or which. */
export function cardsOption(command: Command): Command {
  return command.addOption(
    new Option(
      "--cards <cards>",
      "several cards of this host: how many (2), or their numbers (0,1), as in /dev/nvidia0; one process each",
    ).argParser(cardChoice),
  );
}

/** `2` is how many; `0,1` and `1,` are numbers. */
export function cardChoice(text: string): CardChoice {
  const numbers = text.replace(/,$/, "").split(",");
  const [first] = numbers;
  const several = text.includes(",");
  if (!numbers.every((part) => /^\d{1,3}$/.test(part)) || (!several && Number(first) === 0))
    throw new InvalidArgumentError("Expected how many cards, as 2, or their numbers, as 0,1.");
  return several ? numbers.map(Number) : Number(first);
}

/** A number of at least `minimum` (or above it, when `exclusive`) for commander. */
export function number(minimum: number, exclusive = false): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || value < minimum || (exclusive && value === minimum)) {
      throw new InvalidArgumentError(`Expected a number ${exclusive ? "above" : "from"} ${minimum}.`);
    }
    return value;
  };
}

/** Two numbers in [0, 1), as `0.9,0.999`. */
export function betas(text: string): [number, number] {
  const [beta1, beta2, ...rest] = text
    .split(",")
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const inRange = (value: number | undefined): value is number =>
    value !== undefined && value >= 0 && value < 1;
  if (!inRange(beta1) || !inRange(beta2) || rest.length > 0) {
    throw new InvalidArgumentError("Expected two numbers from 0 up to but not 1, as 0.9,0.999.");
  }
  return [beta1, beta2];
}
