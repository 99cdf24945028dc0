/** Options that the commands with a model share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/webgpu/index.ts";

export type ProgressFormat = "text" | "json";

export interface EngineOptions {
  device: DeviceChoice;
  progress: ProgressFormat;
}

/** `--device`, and `--progress` unless the command has nothing that a program would follow. */
export function engineOptions(command: Command, { progress = true } = {}): Command {
  command.addOption(
    new Option("--device <name>", "where to compute: auto takes WebGPU on a real GPU, else plain TypeScript")
      .choices(DEVICE_CHOICES)
      .default("auto"),
  );
  if (!progress) return command;
  return command.addOption(
    new Option("--progress <format>", "text on standard error, or events as JSON lines on standard output")
      .choices(["text", "json"])
      .default("text"),
  );
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
