/** The student of a run that a server with Tinker's API trains. */
import { InputError } from "../../core/errors.ts";
import { configuredSettings } from "../../core/loop/index.ts";
import type { Calibration, FolderReader, ScoreRequest, ScoreResult, Trainer } from "../../core/ports.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { calibration, calibrationText, isFarApart, Server } from "../../engine/remote/index.ts";
import { deleteCheckpoint, NO_DELETING, servedModels, TinkerTrainer } from "../../engine/tinker/index.ts";
import type { Compute } from "../engine/compute.ts";
import { tinkerDigest } from "./fingerprint.ts";
import type { TrainingInputs } from "./inputs.ts";
import { someDecisions } from "./teacher.ts";
import type { TrainingRun } from "./training-run.ts";

export interface ServedStudent {
  /** Of what decides its numbers, the weights apart. */
  digest: string;
  open(checkpoint: FolderReader | null): Promise<Trainer>;
  /** Deletes the server's checkpoint of a path. What the server keeps is told, once. */
  forget(path: string): Promise<void>;
}

/**
 * Finds the server of a config; null where the student is trained here. The student's weights, where they are here, are
 * opened for a moment: the server's log-probabilities are compared with theirs each time that it is opened.
 *
 * @throws InputError when the server does not answer, or does not have the model
 */
export async function servedStudent(
  run: TrainingRun,
  inputs: TrainingInputs,
  opened: Compute,
): Promise<ServedStudent | null> {
  const { config, configFile, onNote, signal } = run;
  const { tinker, student, seed } = config;
  if (tinker === undefined) return null;
  const { url, base_model: named, lora_rank: rank, optimizer, merge } = tinker;
  const server = new Server(url, { onNote });
  const baseModel = chosenModel(await servedModels(server, signal), named, server, configFile);
  const base = openFolder(student);
  const hasWeights = (await base.list()).some((name) => name.endsWith(".safetensors"));
  if (merge && !hasWeights)
    throw new InputError("needs the weights in the student's folder", {
      file: configFile,
      key: "tinker.merge",
    });
  if (optimizer === "server")
    onNote(
      "The student's server clips gradients and sets Adam's parameters by itself: of `settings` only learning_rate and clip count.",
    );
  const requests = await someDecisions(run, inputs);
  if (!hasWeights)
    onNote(`The student's server is not compared with our own engine: ${student} has no weights.`);
  const own =
    !hasWeights || requests.length === 0 ? null : await ownScores(opened, student, requests, signal);
  const calibrate =
    own === null
      ? undefined
      : async (score: (asked: readonly ScoreRequest[]) => Promise<ScoreResult[]>): Promise<Calibration> => {
          const found = calibration(await score(requests), own.scores, own.name);
          const told = `${server.base}: ${calibrationText(found)}`;
          onNote(
            isFarApart(found, server.base) ? `gcopd: warning: ${told}` : `The student's server ${told}.`,
          );
          return found;
        };
  const kept = new Set<string>();
  return {
    async forget(path) {
      if (kept.has(NO_DELETING)) return;
      const why = await deleteCheckpoint(server, path);
      if (why === null || kept.has(why)) return;
      kept.add(why);
      onNote(`The student's server keeps the checkpoints that this run does not need any more: ${why}`);
    },
    digest: tinkerDigest(tinker),
    async open(checkpoint) {
      const trainer = await TinkerTrainer.open(
        server,
        checkpoint,
        {
          ...{ baseModel, rank, seed, ownOptimizer: optimizer === "server", base, merge },
          ...{ decisions: requests, settings: configuredSettings(config), onNote, calibrate },
        },
        signal,
      );
      inputs.tokenizer.fits("student", { name: student, vocabulary: trainer.info.vocabulary });
      return trainer;
    },
  };
}

async function ownScores(
  opened: Compute,
  student: string,
  requests: readonly ScoreRequest[],
  signal: AbortSignal | undefined,
): Promise<{ scores: ScoreResult[]; name: string }> {
  const scorer = await opened.openScorer(student, { signal });
  try {
    const { model, adapter } = scorer.info;
    return { scores: await scorer.score(requests, { signal }), name: `${model} on ${adapter}` };
  } finally {
    scorer.dispose();
  }
}

function chosenModel(
  models: readonly string[],
  named: string | undefined,
  server: Server,
  configFile: string,
): string {
  const list = models.map((name) => JSON.stringify(name)).join(", ");
  const where = { file: configFile, key: "tinker.base_model" };
  if (named !== undefined && !models.includes(named))
    throw new InputError(`${server.base} does not serve ${JSON.stringify(named)}, but ${list}`, where);
  if (named === undefined && models.length > 1)
    throw new InputError(`missing; ${server.base} serves ${list}`, where);
  return named ?? models[0]!;
}
