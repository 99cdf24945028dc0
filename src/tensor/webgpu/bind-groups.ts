import type { PooledBuffer } from "./buffer-pool.ts";
import type { GpuTensor } from "./memory.ts";

/** What is bound of a tensor. */
type Bound = Pick<GpuTensor, "isWindow" | "offset" | "bindingBytes"> & { pooled: Pick<PooledBuffer, "id"> };

interface Kept {
  readonly group: GPUBindGroup;
  /** Of the pooled buffers that it names. */
  readonly ids: readonly number[];
}

/** Bind groups of a training pass of 36 layers at several lengths of pack, some 3,000 each. */
const MOST_GROUPS = 2 ** 15;

/**
 * Bind groups, each made once: the pool hands out the same buffers again for every layer and every pack, and making a
 * group costs more than the rest of a dispatch. The oldest goes when there are too many.
 */
export class BindGroups {
  private readonly groups = new Map<string, Kept>();

  /** @param most groups that are kept; 0 keeps none, for measurements */
  constructor(private readonly most: number = MOST_GROUPS) {}

  /** The group of a layout for these tensors, which `make` makes where there is none yet. */
  get(layout: string, tensors: readonly Bound[], make: () => GPUBindGroup): GPUBindGroup {
    if (this.most === 0) return make();
    let key = layout;
    // A buffer's id is never used again, so that an entry cannot come to mean another buffer.
    for (const { pooled, isWindow, offset, bindingBytes } of tensors)
      key += isWindow ? `,${pooled.id}.${offset}.${bindingBytes}` : `,${pooled.id}`;
    const found = this.groups.get(key);
    if (found) return found.group;
    if (this.groups.size >= this.most) this.groups.delete(this.groups.keys().next().value!);
    const group = make();
    this.groups.set(key, { group, ids: tensors.map(({ pooled }) => pooled.id) });
    return group;
  }

  /** Drops the groups of buffers that are destroyed. */
  forget(buffers: ReadonlySet<number>): void {
    if (buffers.size === 0) return;
    for (const [key, { ids }] of this.groups) if (ids.some((id) => buffers.has(id))) this.groups.delete(key);
  }

  clear(): void {
    this.groups.clear();
  }

  get size(): number {
    return this.groups.size;
  }
}
