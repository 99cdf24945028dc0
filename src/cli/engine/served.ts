/** Models that another program serves, as the commands open them: with a key, and not before they are compared with ours. */
import { InputError } from "../../core/errors.ts";
import type { ScoreRequest, ScoreResult } from "../../core/ports.ts";
import { planWorkload } from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import {
  calibration,
  calibrationText,
  type FoundServer,
  findServer,
  hasSameTokenizer,
  isFarApart,
  RemoteScorer,
  Server,
  type ServerOptions,
} from "../../engine/remote/index.ts";
import { checkPlan, type WeightChoice } from "../../tensor/index.ts";
import type { Tokenizer } from "../../text/index.ts";
import type { Compute } from "./compute.ts";

/** Environment variables with the servers' keys. */
export const KEY_OF = { policy: "GCOPD_POLICY_KEY", teacher: "GCOPD_TEACHER_KEY" } as const;

interface Watching {
  onNote: (note: string) => void;
  signal?: AbortSignal | undefined;
}

export interface Served {
  server: Server;
  found: FoundServer;
}

/**
 * Asks a server what it is, and says it.
 *
 * @param model its name there, where it serves several, and the key that names it
 * @throws InputError when it does not answer, or does not have the model
 */
export async function openServer(
  role: keyof typeof KEY_OF,
  url: string,
  model: { name: string | undefined; key: string },
  { onNote, signal }: Watching,
  options: ServerOptions = {},
): Promise<Served> {
  const key = process.env[KEY_OF[role]];
  const server = new Server(url, {
    ...(key === undefined || key === "" ? {} : { key }),
    keyHint: `its key belongs in ${KEY_OF[role]}`,
    onNote,
    ...options,
  });
  const found = await findServer(server, model.name, signal, model.key);
  onNote(`The ${role} is ${found.model}, served by ${found.kind} at ${server.base}.`);
  return { server, found };
}

/** Weights of our own to compare a server with. */
export interface OwnWeights {
  folder: string;
  weights: WeightChoice;
  compute: Compute;
  /** Bytes that they may take of the device. */
  limit?: number | undefined;
}

/**
 * A scorer on a server, once the server was compared with what is here: its token ids, and with `own` its
 * log-probabilities.
 *
 * @param requests that are scored for it, and their texts encoded by both
 * @param vocabulary ids below it may be sent
 * @returns the server's scores of the requests, too
 * @throws InputError for a server that cannot score, with another tokenizer, or with other log-probabilities
 */
export async function openServedScorer(
  { server, found }: Served,
  requests: readonly ScoreRequest[],
  { tokenizer, vocabulary, own }: { tokenizer: Tokenizer; vocabulary: number; own: OwnWeights | null },
  { onNote, signal }: Watching,
): Promise<{ scorer: RemoteScorer; scores: ScoreResult[] }> {
  const texts = requests.map(({ promptIds, responseIds }) =>
    tokenizer.decode([...promptIds, ...responseIds]),
  );
  const encode = (text: string) => tokenizer.encode(text);
  const sameTokenizer = await hasSameTokenizer(server, found.model, texts, encode, signal);
  const bare = new RemoteScorer(server, found, { vocabulary, trust: { sameTokenizer, calibration: null } });
  const work = signal === undefined ? {} : { signal };
  const scores = await bare.score(requests, work);
  if (own === null) return { scorer: bare, scores };
  if (requests.length === 0) throw new InputError("no decision with a response to calibrate the server with");
  onNote(`Scoring some decisions with ${own.folder}, too, to compare ${server.base} with it.`);
  const { results, computedOn } = await ownScores(own, requests, work);
  const compared = calibration(scores, results, computedOn);
  if (isFarApart(compared, server.base))
    onNote(`gcopd: warning: ${server.base}: ${calibrationText(compared)}`);
  return {
    scorer: new RemoteScorer(server, found, {
      vocabulary,
      trust: { sameTokenizer, calibration: compared },
    }),
    scores,
  };
}

/** Scores with weights that are here, and gives them back. */
async function ownScores(
  { folder, weights, compute, limit }: OwnWeights,
  requests: readonly ScoreRequest[],
  work: { signal?: AbortSignal },
): Promise<{ results: ScoreResult[]; computedOn: string }> {
  const lengths = requests.map(({ promptIds, responseIds }) => promptIds.length + responseIds.length);
  const passes = await planWorkload(compute.device, openFolder(folder), {
    kind: "score",
    weights,
    longestSequence: Math.max(...lengths),
    longestResponse: Math.max(...requests.map(({ responseIds }) => responseIds.length)),
    allTokens: lengths.reduce((sum, each) => sum + each, 0),
    limit,
  });
  checkPlan(passes.plan, limit, compute.device.largestBuffer);
  const scorer = await compute.openScorer(folder, { weights, ...passes, ...work });
  try {
    const { model, device, dtype } = scorer.info;
    return { results: await scorer.score(requests, work), computedOn: `${model} (${device}, ${dtype})` };
  } finally {
    scorer.dispose();
  }
}
