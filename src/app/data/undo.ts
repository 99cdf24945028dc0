/**
 * What can be taken back: each change that loses something offers its way back here. Changes of place need none: they
 * are in the browser's history.
 */
import { create } from "zustand";
import { faultNotice } from "../base/faults.ts";
import { hint } from "../base/hint.ts";
import { getData, setData } from "./store.ts";

export interface Undoable {
  id: number;
  /** What was done, as a sentence without its full stop: "The teacher is now Qwen3-0.6B". */
  label: string;
  undo: () => unknown;
  slot: string | null;
  /** Told once the change cannot be taken back any more. */
  gone: () => void;
}

/** Older changes than these are forgotten. */
const MOST = 10;

/** The last change last. */
export const useUndo = create<{ changes: readonly Undoable[] }>(() => ({ changes: [] }));

/** The ways back: offered with each change, and taken from the last one on. */
export class UndoList {
  #made = 0;
  #undoing = false;

  /** @param say shows in a few words what was taken back */
  constructor(private readonly say: typeof hint) {}

  /**
   * Says what was done, with a button that takes it back; the key `z` and the palette do the same. `undo` may be
   * asynchronous, and offers nothing itself: the way back is not a change of its own. While it cannot be done it throws
   * why, and can be asked for again. Of changes with one `slot` only the last can be taken back: for what keeps much in
   * memory, and lets go of it when it is `gone`.
   */
  offer(label: string, undo: () => unknown, slot: string | null = null, gone: () => void = () => {}): void {
    const id = ++this.#made;
    const before = useUndo.getState().changes;
    const others = before.filter((each) => slot === null || each.slot !== slot);
    const changes = [...others, { id, label, undo, slot, gone }].slice(-MOST);
    useUndo.setState({ changes });
    setData({ notice: { kind: "info", text: `${label}.`, undo: id } });
    for (const each of before) if (!changes.includes(each)) each.gone();
  }

  /** Takes the last change back. */
  async undoLast(): Promise<void> {
    const { changes } = useUndo.getState();
    const last = changes.at(-1);
    if (last === undefined || this.#undoing) return;
    this.#undoing = true;
    useUndo.setState({ changes: changes.slice(0, -1) });
    try {
      await last.undo();
      if (getData().notice?.undo === last.id) setData({ notice: null });
      this.say(`Undone: ${last.label}.`);
    } catch (error) {
      useUndo.setState(({ changes: now }) => ({ changes: [...now, last] }));
      setData({ notice: faultNotice(error) });
    } finally {
      this.#undoing = false;
    }
  }
}

export const undoList = new UndoList(hint);
