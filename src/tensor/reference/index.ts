import { attendInSteps } from "../attend-next.ts";
import type { Backend } from "../backend.ts";
import { attentionOperations } from "./attention.ts";
import { causalConvOperations } from "./causal-conv.ts";
import { columnOperations } from "./columns.ts";
import { deltaGateOperations } from "./delta-gates.ts";
import { deltaRuleOperations } from "./delta-rule.ts";
import { drawOperations } from "./draw.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { headOperations } from "./head.ts";
import { headDistributionOperations } from "./head-distribution.ts";
import { linearOperations } from "./linear.ts";
import { HostMemory, type HostTensor } from "./memory.ts";
import { normOperations } from "./norm.ts";
import { optimizerOperations } from "./optimizer.ts";
import { hostPieces } from "./pieces.ts";
import { reverseKlOperations } from "./reverse-kl.ts";
import { ropeOperations } from "./rope.ts";
import { rowOperations } from "./rows.ts";

/**
 * Every operation in plain TypeScript: the truth that kernels are compared with, and the device of last resort.
 * Values are stored in f32, sums are taken in f64. Work is done when the call returns.
 */
export function createReferenceBackend(): Backend {
  const memory = new HostMemory();
  const backend: Backend<HostTensor> = {
    kind: "cpu",
    description: "plain TypeScript, one thread",
    compute: "f32",
    packTokens: 1024,
    cacheFormat: () => "f32",
    fromArray: memory.fromArray,
    zeros: memory.zeros,
    write: memory.write,
    read: memory.read,
    allocateWeight: memory.allocateWeight,
    writeWords: memory.writeWords,
    reshape: memory.reshape,
    free: memory.free,
    scope: memory.scope,
    live: memory.live,
    pieces: hostPieces(),
    submitAhead() {},
    async sync() {},
    dispose: () => memory.dispose(),
    ...linearOperations(memory),
    ...elementwiseOperations(memory),
    ...rowOperations(memory),
    ...columnOperations(memory),
    ...normOperations(memory),
    ...ropeOperations(memory),
    ...attentionOperations(memory),
    attendNext: (...call) => attendInSteps(backend, ...call),
    ...causalConvOperations(memory),
    ...deltaGateOperations(memory),
    ...deltaRuleOperations(memory),
    ...headOperations(memory),
    ...drawOperations(),
    ...headDistributionOperations(memory),
    ...reverseKlOperations(memory),
    ...optimizerOperations(memory),
  };
  return backend;
}
