/** What the main process and the process of a card tell each other: plain data, by structured clone. */
import { DeviceError, type DeviceFault, InputError } from "../../core/errors.ts";
import type {
  EngineInfo,
  SampleRequest,
  SampleResult,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  StepReport,
  StepSettings,
  TrainItem,
} from "../../core/ports.ts";
import type { PieceFormat, WeightChoice } from "../../tensor/index.ts";
import type {
  DeviceChoice,
  GradientReport,
  OpenTrainerOptions,
  PassOptions,
  PlannedDevice,
} from "../native/index.ts";
import type { SumMessage } from "./gradient-sum.ts";
import type { SlotPlan } from "./slots.ts";

/** What a card can be asked for: the arguments and the answer of each. `model` is a number that `load` was given. */
export interface CardCalls {
  open(of: {
    rank: number;
    cards: number;
    device: DeviceChoice;
    compute: "f32" | "f16";
    exchange: PieceFormat;
    slots: SlotPlan;
  }): {
    kind: "webgpu" | "cpu";
    description: string;
    notes: string[];
    /** For plans of memory. */
    device: Required<PlannedDevice>;
  };
  load(of: {
    model: number;
    folder: string;
    /** How a student takes over optimizer state; null for a frozen model. */
    optimizer: OpenTrainerOptions["optimizer"] | null;
    /** How a frozen model's matrices are kept. */
    weights?: WeightChoice;
    passes?: PassOptions;
  }): { info: EngineInfo; steps: number; maxPositions: number };
  score(of: {
    model: number;
    requests: readonly ScoreRequest[];
    wanted: Pick<ScoreOptions, "topK" | "entropy" | "distribution">;
  }): ScoreResult[];
  sample(of: { model: number; requests: readonly SampleRequest[] }): SampleResult[];
  forget(of: { model: number }): null;
  /**
   * Computes the gradient of these items and leaves the sum of all cards' gradients on the card. All cards are asked at
   * once, with a round that no sum had before, and again only when all have answered. `seconds`: until the gradient was
   * computed, and from then on until the sum was there.
   */
  gradient(of: {
    model: number;
    items: readonly TrainItem[];
    settings: StepSettings;
    round: number;
  }): GradientReport & { seconds: { backward: number; sum: number } };
  /** AdamW on the sum. `digest` is a SHA-256 of a part of the weights, another one each step. */
  update(of: { model: number; settings: StepSettings }): Pick<StepReport, "step" | "gradNorm"> & {
    digest: string;
  };
  /** Sends the model's files as `chunk` messages. */
  save(of: { model: number; optimizer: boolean }): null;
  dispose(of: { model: number }): null;
}

export type CardMethod = keyof CardCalls;

export type ToCard =
  | { type: "call"; id: number; method: CardMethod; of: unknown }
  | { type: "abort"; id: number }
  /** The chunk in this slot was taken. */
  | { type: "taken"; slot: number }
  | { type: "mail"; from: number; round: number; message: SumMessage };

export type FromCard =
  | { type: "result"; id: number; value: unknown }
  | { type: "error"; id: number; error: SentError }
  | { type: "progress"; id: number; done: number; total: number; unit: string }
  /** A part of a file, in a slot; null: the file is whole. */
  | { type: "chunk"; id: number; file: string; slot: number; bytes: number | null }
  | { type: "mail"; to: number; round: number; message: SumMessage };

/** A way to one card. */
export interface CardLink {
  send(message: ToCard): void;
  /** Set once, before anything is sent. `ended` tells why it is gone. */
  listen(on: { message: (message: FromCard) => void; ended: (why: string) => void }): void;
  end(): void;
}

/** An error as it travels: what class it was decides what may be done about it. */
export type SentError =
  | { kind: "input"; message: string }
  | { kind: "device"; message: string; fault: DeviceFault }
  | { kind: "abort"; message: string }
  | { kind: "fault"; message: string; stack: string };

export function sentError(error: unknown): SentError {
  if (error instanceof InputError) return { kind: "input", message: error.message };
  if (error instanceof DeviceError) return { kind: "device", message: error.message, fault: error.fault };
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return name === "AbortError" ? { kind: "abort", message } : { kind: "fault", message, stack };
}

/** The error again, with the card's name where the card has to do with it. */
export function receivedError(error: SentError, card: string): Error {
  switch (error.kind) {
    case "input":
      return new InputError(error.message);
    case "device":
      return new DeviceError(`${card}: ${error.message}`, error.fault);
    case "abort":
      return new DOMException(error.message, "AbortError");
    case "fault":
      return Object.assign(new Error(`${card}: ${error.message}`), { stack: `${card}: ${error.stack}` });
  }
}
