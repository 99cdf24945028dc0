import { InputError } from "../errors.ts";
import type { Episode, Reference, RetrievalRecord, Source } from "../record/schema.ts";
import type { PreparedTask } from "../retrieval/prepare.ts";
import type { Control } from "../retrieval/types.ts";
import type { EvidenceInput } from "./types.ts";

/** S_t: the complete records that a retrieval record names, taken from the prepared task by src(r, j) = r. */
export function evidenceInput(
  prepared: PreparedTask,
  episode: Episode,
  retrieval: RetrievalRecord,
  control: Control = "graph",
): EvidenceInput {
  const complete = (reference: Reference | null): Source | null => {
    if (reference === null) return null;
    const source = prepared.source(reference.source);
    if (source === undefined) {
      throw new InputError(
        `retrieval names source ${reference.source}, which task ${episode.task} does not have`,
      );
    }
    return source;
  };
  return {
    episode,
    decision: retrieval.decision,
    retrieval,
    success: complete(retrieval.success),
    failure: complete(retrieval.failure),
    control,
  };
}
