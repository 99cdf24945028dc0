/** The policy of a config: a model that is opened here, or one that another program serves. */
import { basename } from "node:path";
import { InputError } from "../../core/errors.ts";
import { deviceWords, type PlayConfig, type TextCodec, type WithPolicy } from "../../core/loop/index.ts";
import type { Trainer } from "../../core/ports.ts";
import { parseHubName } from "../../engine/hub/node.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { RemoteSampler, type ServerOptions } from "../../engine/remote/index.ts";
import { checkTokenizerFits, openTokenizer, textCodec } from "../../text/index.ts";
import { openCompute } from "../engine/compute.ts";
import { KEY_OF, openServer } from "../engine/served.ts";
import { modelDigest, tokenizerDigest } from "../train/fingerprint.ts";
import { type PolicyFolders, policyFolders, tokenizerFolder } from "./policy-folders.ts";

export interface Policy {
  /** What records call the model. */
  name: string;
  /** What decides its draws, for the run's identity. */
  identity: { model: string; tokenizer: string };
  lend: WithPolicy;
  /** What it is computed on; null before it was lent. */
  device(): string | null;
}

interface Watching {
  onNote: (note: string) => void;
  signal: AbortSignal;
}

export const POLICY_OPTION = [
  "--policy <url>",
  `in place of the config's model: a server that runs it (vLLM, SGLang or an OpenAI API of completions or chat; its key in ${KEY_OF.policy})`,
] as const;

/**
 * Finds the policy; its weights are opened when it is lent.
 *
 * @throws InputError for a server that does not answer
 */
export async function openPolicy(
  config: PlayConfig,
  watching: Watching,
  server?: ServerOptions,
): Promise<Policy> {
  const { policy: url } = config;
  if (url !== undefined) return servedPolicy({ ...config, policy: url }, watching, server);
  // `readPlayConfig` refuses a config with neither.
  const model = config.model!;
  const folders = await policyFolders({ ...config, model }, watching);
  let device: string | null = null;
  return {
    name: parseHubName(model) === null ? basename(model) : model,
    identity: {
      model: await modelDigest(openFolder(folders.model)),
      tokenizer: await tokenizerDigest(folders.tokenizer),
    },
    lend: (work) =>
      lendModel(config, folders, watching, async (policy, codec) => {
        device = deviceWords(policy.info);
        await work(policy, codec);
      }),
    device: () => device,
  };
}

/**
 * The identity of the policy of a finished run, whose server may be gone: the model is left out where neither the config
 * nor the server, which is asked once, tells it.
 */
export async function knownIdentity(
  config: PlayConfig,
  watching: Watching,
): Promise<Partial<Policy["identity"]>> {
  if (config.policy === undefined) return (await openPolicy(config, watching)).identity;
  const { policy_model: named } = config;
  const tokenizer = await tokenizerDigest(await servedTokenizer(config));
  if (named !== undefined) return { model: servedModel(named), tokenizer };
  try {
    return (await openPolicy(config, watching, { pausesMs: [] })).identity;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    watching.onNote(`${error.message}; the records are finished and stay as they are`);
    return { tokenizer };
  }
}

const servedModel = (name: string): string => `served: ${name}`;

/** The folder with the tokenizer of a model that another program serves. */
async function servedTokenizer({ model, tokenizer }: PlayConfig): Promise<string> {
  const folder = tokenizer ?? (await besideModel(model));
  if (folder !== null) return folder;
  throw new InputError("missing; expected a folder with the tokenizer of the model that the server runs", {
    key: "tokenizer",
  });
}

/** A model that another program serves; the prompts are written here, by its tokenizer. */
async function servedPolicy(
  config: PlayConfig & { policy: string },
  watching: Watching,
  options?: ServerOptions,
): Promise<Policy> {
  const { policy: url, policy_model: name } = config;
  const tokenizerIn = await servedTokenizer(config);
  const codec = textCodec(await openTokenizer(openFolder(tokenizerIn)));
  const { server, found } = await openServer("policy", url, { name, key: "policy_model" }, watching, options);
  return {
    name: found.model,
    identity: { model: servedModel(found.model), tokenizer: await tokenizerDigest(tokenizerIn) },
    lend: (work) => work(new RemoteSampler(server, found.protocol(codec), watching), codec),
    device: () => deviceWords({ device: "server", adapter: found.model }),
  };
}

/** The tokenizer of a model folder or a run; null without one, and for the hub, which would give its weights too. */
async function besideModel(model: string | undefined): Promise<string | null> {
  return model === undefined || parseHubName(model) !== null ? null : tokenizerFolder(model);
}

/** Opens the model and its tokenizer, and frees both whatever happens. */
async function lendModel(
  { device, compute }: PlayConfig,
  folders: PolicyFolders,
  { onNote, signal }: Watching,
  work: (policy: Trainer, codec: TextCodec) => Promise<void>,
): Promise<void> {
  const tokenizer = await openTokenizer(openFolder(folders.tokenizer));
  const opened = await openCompute({ device, compute, onNote });
  try {
    const policy = await opened.openTrainer(folders.model, { optimizer: "ignore", signal });
    try {
      checkTokenizerFits(tokenizer, { name: folders.model, vocabulary: policy.info.vocabulary });
      await work(policy, textCodec(tokenizer));
    } finally {
      policy.dispose();
    }
  } finally {
    opened.close();
  }
}
