import type { Backend } from "../backend.ts";
import { attentionOperations } from "./attention.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { headOperations } from "./head.ts";
import { linearOperations } from "./linear.ts";
import { HostMemory, type HostTensor } from "./memory.ts";
import { normOperations } from "./norm.ts";
import { optimizerOperations } from "./optimizer.ts";
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
    fromArray: memory.fromArray,
    zeros: memory.zeros,
    write: memory.write,
    read: memory.read,
    reshape: memory.reshape,
    free: memory.free,
    scope: memory.scope,
    live: memory.live,
    flush() {},
    async sync() {},
    dispose: () => memory.dispose(),
    ...linearOperations(memory),
    ...elementwiseOperations(memory),
    ...rowOperations(memory),
    ...normOperations(memory),
    ...ropeOperations(memory),
    ...attentionOperations(memory),
    ...headOperations(memory),
    ...optimizerOperations(memory),
  };
  return backend;
}
