/** Keys of a config that name a path of the worker's disk, and what is chosen there for each. */
import type { FolderKind } from "../../compute/open/shared-path-dialog.tsx";

const withFile = (file: string, of: string): FolderKind => ({
  fits: ({ entries }) => entries.some(({ name }) => name === file),
  found: `It has a ${file}.`,
  missing: `Open the folder that has the ${of}’s ${file}.`,
});

const GAMES: FolderKind = {
  fits: () => true,
  found: "The games in it and in its folders are played.",
  missing: "",
};

/** Null: a file. */
export const PATH_FIELDS: Readonly<Record<string, FolderKind | null>> = {
  library: null,
  episodes: null,
  teacher: withFile("config.json", "teacher"),
  student: withFile("config.json", "student"),
  parent: {
    fits: ({ entries }) =>
      entries.some(({ name }) => name === "checkpoints" || name === "optimizer.safetensors"),
    found: "It has checkpoints, or an optimizer.safetensors.",
    missing: "Open the folder of a run, or one of its checkpoints.",
  },
  "environment.games": GAMES,
  "environment.tasks": null,
  "evaluate.tasks": null,
  "evaluate.environment.games": GAMES,
  tokenizer: withFile("tokenizer.json", "tokenizer"),
};
