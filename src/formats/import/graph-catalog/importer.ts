/**
 * Catalogs of ScienceWorld and WebShop: `MANIFEST.json`, `entries/<16 hex>.json`, a gzip JSON graph for each task, and
 * the recorders' own files of each execution. One task is in memory at a time.
 */
import { InputError } from "../../../core/errors.ts";
import { sha256Hex } from "../../../core/seeded.ts";
import { CatalogFiles, contextIn, foldersWith } from "../catalog-files.ts";
import { type ImportFiles, label, subfolder } from "../files.ts";
import { checkForeign, headText, parseJson, readForeign } from "../foreign-json.ts";
import type { Detection, ImportContext, ImportedRecord, Importer } from "../importer.ts";
import {
  entrySchema,
  type Graph,
  graphSchema,
  type ManifestRow,
  type ManifestTask,
  manifestSchema,
  type Original,
  originalSchema,
  plannerDocumentSchema,
  type Trajectory,
} from "./schema.ts";
import { type GraphEnvironment, sourceRecord } from "./source-record.ts";

const MANIFEST = "MANIFEST.json";

const SCHEMA_VERSIONS: Record<GraphEnvironment, string> = {
  scienceworld: "physical_graph_v1",
  webshop: "webshop_graph_v1",
};

/** The catalogs of one environment among the folders with a manifest. */
async function catalogFolders(files: ImportFiles, environment: GraphEnvironment): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await foldersWith(files, MANIFEST)) {
    const place = subfolder(files, folder);
    const head = await headText(place, MANIFEST);
    const entries = (await place.list()).some(({ path }) => path.startsWith("entries/"));
    if (!entries && !head.includes('"source_files"')) continue;
    const webshop = head.includes('"webshop_') || /"gamefile"\s*:\s*"goal\d+"/.test(head);
    if (webshop === (environment === "webshop")) found.push(folder);
  }
  return found;
}

function catalogImporter(environment: GraphEnvironment, title: string): Importer {
  return {
    name: `${environment}-catalog`,
    description: `${title} catalog: MANIFEST.json, entries/, graphs and the recorded files`,
    async detect(files): Promise<Detection | undefined> {
      const folders = await catalogFolders(files, environment);
      if (folders.length === 0) return undefined;
      return { confidence: 1, what: `a ${title} catalog (${label(files, joined(folders[0]!, MANIFEST))})` };
    },
    async *records(files, context) {
      const folders = await catalogFolders(files, environment);
      if (folders.length === 0) {
        throw new InputError(`has no ${MANIFEST} of a ${title} catalog`, { file: label(files, "") });
      }
      for (const folder of folders) {
        const catalog = new Catalog(environment, subfolder(files, folder), contextIn(context, folder));
        for await (const record of catalog.records()) yield { ...record, file: joined(folder, record.file) };
      }
    },
  };
}

function joined(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

export const scienceworldCatalog = catalogImporter("scienceworld", "ScienceWorld");
export const webshopCatalog = catalogImporter("webshop", "WebShop");

/** A task's graph and where it came from. */
interface TaskGraph {
  graph: Graph;
  file: string;
}

class Catalog {
  readonly #environment: GraphEnvironment;
  readonly #files: ImportFiles;
  readonly #context: ImportContext;
  readonly #named: CatalogFiles;

  constructor(environment: GraphEnvironment, files: ImportFiles, context: ImportContext) {
    this.#environment = environment;
    this.#files = files;
    this.#context = context;
    this.#named = new CatalogFiles(files, context);
  }

  async *records(): AsyncGenerator<ImportedRecord> {
    const manifest = await readForeign(this.#files, MANIFEST, manifestSchema);
    this.#context.used(MANIFEST);
    const tasks = new Set<string>();
    for (const [index, task] of manifest.tasks.entries()) {
      if (tasks.has(task.gamefile)) {
        throw new InputError(
          `task ${JSON.stringify(task.gamefile)} already exists; expected each task once`,
          {
            file: label(this.#files, MANIFEST),
            key: `tasks[${index}].gamefile`,
          },
        );
      }
      tasks.add(task.gamefile);
      yield* this.#task(task, index);
    }
    await this.#checkReady();
  }

  /** READY.json says that a WebShop catalog is whole, and names its manifest. */
  async #checkReady(): Promise<void> {
    if (this.#environment !== "webshop" || !(await this.#named.has("READY.json"))) return;
    const ready = await this.#named.read("READY.json");
    if (!ready.found) return;
    this.#context.used("READY.json");
    const value = await parseJson(ready.bytes, ready.file);
    const expected =
      typeof value === "object" && value !== null && "manifest_sha256" in value
        ? value.manifest_sha256
        : undefined;
    if (typeof expected !== "string") return;
    const manifest = await this.#named.read(MANIFEST);
    if (manifest.found && manifest.sha256 !== expected) {
      this.#context.warn("READY.json", `was written for another ${MANIFEST}`, "manifest_sha256");
    }
  }

  async *#task(task: ManifestTask, index: number): AsyncGenerator<ImportedRecord> {
    const taskGraph = await this.#graph(task);
    const trajectories = new Map<number, Trajectory>();
    for (const [at, trajectory] of (taskGraph?.graph.trajectories ?? []).entries()) {
      if (trajectories.has(trajectory.rep)) {
        throw new InputError(`repetition ${trajectory.rep} already exists; expected each once`, {
          file: taskGraph!.file,
          key: `trajectories[${at}].rep`,
        });
      }
      trajectories.set(trajectory.rep, trajectory);
    }
    const repetitions = new Set<number>();
    for (const [at, row] of task.source_files.entries()) {
      if (repetitions.has(row.rep)) {
        throw new InputError(
          `repetition ${row.rep} of task ${JSON.stringify(task.gamefile)} already exists; expected each once`,
          { file: label(this.#files, MANIFEST), key: `tasks[${index}].source_files[${at}].rep` },
        );
      }
      repetitions.add(row.rep);
      const record = await this.#source(task, row, trajectories.get(row.rep), taskGraph);
      if (record !== undefined) yield record;
    }
    for (const rep of trajectories.keys()) {
      if (!repetitions.has(rep)) {
        this.#context.skip(
          `${entryPath(task.gamefile)} (rep ${rep})`,
          `the graph has repetition ${rep} of ${task.gamefile}, which the manifest does not name`,
        );
      }
    }
  }

  async #source(
    task: ManifestTask,
    row: ManifestRow,
    trajectory: Trajectory | undefined,
    taskGraph: TaskGraph | undefined,
  ): Promise<ImportedRecord | undefined> {
    const name = row.path ?? `repetition ${row.rep} of ${task.gamefile}`;
    if (row.expected_missing === true && trajectory === undefined) {
      this.#context.skip(name, `the manifest says that repetition ${row.rep} is missing (expected_missing)`);
      return undefined;
    }
    const rest = trajectory === undefined ? "nothing else holds this source" : "the graph alone is used";
    const { original, path } = await this.#original(task, row, trajectory, rest);
    if (trajectory === undefined && original === undefined) return undefined;
    if (trajectory === undefined) {
      this.#context.unaligned("recorded files that no graph holds carry no states");
    }
    const instruction =
      task.instruction ?? taskGraph?.graph.instruction ?? original?.instruction ?? undefined;
    const record = sourceRecord({
      environment: this.#environment,
      task,
      row,
      trajectory,
      graphFile: taskGraph?.file ?? "",
      branches: taskGraph?.graph.attempt_branches ?? [],
      original,
      instruction:
        this.#environment === "webshop" ? instruction : (taskGraph?.graph.task_description ?? undefined),
    });
    return { kind: "source", record, file: path ?? entryPath(task.gamefile) };
  }

  /** The recorder's own file of a source; undefined, and reported, when it is absent or not the one that is meant. */
  async #original(
    task: ManifestTask,
    row: ManifestRow,
    trajectory: Trajectory | undefined,
    rest: string,
  ): Promise<{ original?: Original; path?: string }> {
    if (typeof row.path !== "string") return {};
    const named = await this.#named.read(row.path);
    if (!named.found) {
      this.#context.skip(named.path, `${named.reason}; ${rest}`);
      return {};
    }
    const expected = row.sha256 ?? trajectory?.source_sha256;
    if (typeof expected === "string" && expected.toLowerCase() !== named.sha256) {
      this.#context.skip(named.path, `its SHA-256 differs from the manifest's; ${rest}`);
      return {};
    }
    if (typeof expected !== "string") {
      this.#context.warn(named.path, "the manifest has no SHA-256 for it: used unchecked");
    }
    const value = await parseJson(named.bytes, named.file);
    let original: Original;
    if (typeof value === "object" && value !== null && "runs" in value) {
      const { runs } = checkForeign(plannerDocumentSchema, value, named.file);
      const run =
        runs.find(({ rep }) => rep === row.rep) ??
        (runs.length === 1 && runs[0]!.rep == null ? runs[0] : undefined);
      if (run === undefined) {
        throw new InputError(`no run of repetition ${row.rep}`, { file: named.file, key: "runs" });
      }
      original = run;
    } else {
      original = checkForeign(originalSchema, value, named.file);
    }
    if (original.gamefile !== task.gamefile) {
      throw new InputError(
        `is of task ${JSON.stringify(original.gamefile)}; the manifest names it for ${JSON.stringify(task.gamefile)}`,
        { file: named.file, key: "gamefile" },
      );
    }
    this.#context.used(named.path);
    return { original, path: named.path };
  }

  /** The graph of a task; undefined, and reported, when the catalog has none that can be used. */
  async #graph(task: ManifestTask): Promise<TaskGraph | undefined> {
    const path = entryPath(task.gamefile);
    const rest = `sources of ${task.gamefile} come from their recorded files alone, without states and unverified`;
    if (!(await this.#named.has(path))) {
      this.#context.warn(path, `no such entry: ${rest}`);
      return undefined;
    }
    const entry = await readForeign(this.#files, path, entrySchema);
    this.#context.used(path);
    if (entry.gamefile !== task.gamefile) {
      throw new InputError(
        `is of task ${JSON.stringify(entry.gamefile)}; expected ${JSON.stringify(task.gamefile)}`,
        {
          file: label(this.#files, path),
          key: "gamefile",
        },
      );
    }
    if (typeof entry.status === "string" && entry.status !== "complete") {
      this.#context.warn(
        path,
        `the entry of ${task.gamefile} is ${entry.status}: what its graph lacks is unverified`,
        "status",
      );
    }
    if (entry.graph === null || entry.graph === undefined) {
      this.#context.warn(path, `names no graph: ${rest}`, "graph");
      return undefined;
    }
    const named = await this.#named.read(entry.graph.path);
    if (!named.found) {
      this.#context.skip(named.path, `${named.reason}; ${rest}`);
      return undefined;
    }
    // Damage is a fault; a whole graph that is another one than the entry means is left out.
    const value = await parseJson(named.bytes, named.file);
    if (typeof entry.graph.sha256 === "string" && entry.graph.sha256.toLowerCase() !== named.sha256) {
      this.#context.skip(named.path, `its SHA-256 differs from the entry's; ${rest}`);
      return undefined;
    }
    const graph = checkForeign(graphSchema, value, named.file);
    const expected = SCHEMA_VERSIONS[this.#environment];
    if (graph.schema_version !== expected) {
      throw new InputError(
        `expected ${JSON.stringify(expected)}, received ${JSON.stringify(graph.schema_version)}`,
        {
          file: named.file,
          key: "schema_version",
        },
      );
    }
    if (graph.gamefile !== task.gamefile) {
      throw new InputError(
        `is of task ${JSON.stringify(graph.gamefile)}; expected ${JSON.stringify(task.gamefile)}`,
        {
          file: named.file,
          key: "gamefile",
        },
      );
    }
    this.#context.used(named.path);
    return { graph, file: named.file };
  }
}

/** Entries are named after the first 16 hexadecimal digits of the task's SHA-256. */
function entryPath(gamefile: string): string {
  return `entries/${sha256Hex(gamefile).slice(0, 16)}.json`;
}
