/** The optimal actions of the open libraries: which decisions the evidence test can score. */
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/plural.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { KnownOptimal } from "../../data/model.ts";
import { getUi, setUi } from "../store.ts";

/** By library, as far as they were asked for; null where none are known. */
export const useOptimal = create<Readonly<Record<string, KnownOptimal | null>>>(() => ({}));

/** Asks for those of a library, once. */
export async function askForOptimal(library: string): Promise<void> {
  if (useOptimal.getState()[library] !== undefined) return;
  useOptimal.setState({ [library]: await libraryWorker().optimal(library) });
}

/** Takes a file of them for the library that is shown. Throws `InputError` where none is, or it is not of it. */
export async function addOptimal({ path, file }: PathFile): Promise<void> {
  const { library } = getUi();
  if (library === null)
    throw new InputError(
      "optimal actions of student decisions: open them together with the library that they are of",
      {
        file: path,
      },
    );
  const known = await libraryWorker().addOptimal(library.id, path, file);
  useOptimal.setState({ [library.id]: known });
  const text = `The optimal actions of ${countOf(known.decisions.length, "decision")} are known now: see Evidence.`;
  setUi({ notice: { kind: "info", text } });
}
