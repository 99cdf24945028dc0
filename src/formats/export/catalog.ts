/**
 * Writes a library as the catalog that the method's authors keep: `MANIFEST.json`, `READY.json` and the files of each
 * task. The importers of `../import/` read it back to equal records. What a catalog has no place for stays out: a state's
 * descriptor, why an execution ended for a technical reason, and in ALFWorld the tries and the scores between.
 */
import { InputError } from "../../core/errors.ts";
import type { Source } from "../../core/record/schema.ts";
import { alfworldTask } from "./alfworld-catalog.ts";
import { type CatalogFile, jsonFile } from "./catalog-file.ts";
import { graphTask } from "./graph-catalog.ts";

export type { CatalogFile } from "./catalog-file.ts";

const MANIFESTS = {
  alfworld: { codec: "alf_pddl_relative_v1" },
  scienceworld: {},
  webshop: { schema_version: "webshop_catalog_manifest_v1" },
} as const;

const isEnvironment = (name: string): name is keyof typeof MANIFESTS => Object.hasOwn(MANIFESTS, name);

/**
 * The files of a catalog, those of a task together, the manifest and the mark that all is there last.
 *
 * @param tasks sources of each task together, each task once
 * @throws InputError for another environment, several of them, and sources that a catalog cannot name
 */
export async function* catalogFiles(
  tasks: AsyncIterable<readonly Source[]> | Iterable<readonly Source[]>,
): AsyncGenerator<CatalogFile> {
  const rows: object[] = [];
  const repetitions = new Set<number>();
  let environment: keyof typeof MANIFESTS | null = null;
  for await (const sources of tasks) {
    const [first] = sources;
    if (first === undefined) continue;
    environment = commonEnvironment(first, environment);
    checkRepetitions(sources);
    const { files, row } =
      environment === "alfworld"
        ? await alfworldTask(sources, rows.length)
        : await graphTask(environment, sources);
    yield* files;
    rows.push(row);
    for (const { repetition } of sources) repetitions.add(repetition);
  }
  if (environment === null) throw new InputError("holds no sources");
  const augmented = { teacher_K: [...repetitions].filter((rep) => rep < 16).length };
  const manifest = await jsonFile("MANIFEST.json", {
    ...MANIFESTS[environment],
    tasks: rows,
    K: repetitions.size,
    ...augmented,
    ...(environment === "scienceworld" ? { fixed_reps: [...repetitions].sort((a, b) => a - b) } : {}),
  });
  yield manifest;
  yield await jsonFile("READY.json", { tasks: rows.length, ...augmented, manifest_sha256: manifest.sha256 });
}

function commonEnvironment(
  { environment, task }: Source,
  before: keyof typeof MANIFESTS | null,
): keyof typeof MANIFESTS {
  if (!isEnvironment(environment))
    throw new InputError(
      `${task} is of ${environment}; there are catalogs of ${Object.keys(MANIFESTS).join(", ")}`,
      { key: "environment" },
    );
  if (before !== null && before !== environment)
    throw new InputError(`${task} is of ${environment}, those before are of ${before}; a catalog holds one`, {
      key: "environment",
    });
  return environment;
}

function checkRepetitions(sources: readonly Source[]): void {
  const seen = new Map<number, string>();
  for (const { task, source, repetition } of sources) {
    const before = seen.get(repetition);
    if (before !== undefined)
      throw new InputError(
        `${source} and ${before} of ${task} both have repetition ${repetition}; a catalog has each once`,
        { key: "repetition" },
      );
    seen.set(repetition, source);
  }
}
