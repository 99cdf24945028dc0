/** The library worker: `LibraryService` behind comlink, with files from the page's own origin or the user's disk. */
import "../../base/without-eval.ts";
import * as Comlink from "comlink";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { SAMPLE_LINK } from "../../url/library-link.ts";
import { addressName } from "../files/http-reader.ts";
import { type SharedSource, sharedAddress, withToken } from "../files/shared-files.ts";
import type { ColumnBatch, LibrarySummary } from "../model.ts";
import { LibraryService } from "./library-service.ts";
import type { OpenProgress } from "./opening.ts";
import { readSampleManifest, sampleFile } from "./sample.ts";

installErrorTransfer();

const service = new LibraryService();

type OnProgress = (progress: OpenProgress) => void;

/** Records that were dropped or picked, each with its index where one lay beside it. */
export interface OwnFiles {
  records: { file: File; sidecar?: File }[];
  /** The folder that holds all of them; null where they were picked one by one. */
  folder: string | null;
  /** Lines of `{ id, logprobs }`, as `gcopd import --scores-out` writes them. */
  scores: File[];
}

const api = {
  /** Opens the sample that is served beside the page. `base` ends with a slash. */
  async openSample(base: string, onProgress: OnProgress): Promise<LibrarySummary> {
    const manifest = await readSampleManifest(base);
    const inputs = [await sampleFile(base, manifest.sources), await sampleFile(base, manifest.episodes)];
    return service.open(
      inputs,
      [],
      { title: manifest.title, origin: "sample", link: SAMPLE_LINK },
      onProgress,
    );
  },

  openFiles({ records, folder, scores }: OwnFiles, onProgress: OnProgress): Promise<LibrarySummary> {
    // Many libraries have files of the same names: their folders tell them apart.
    const title = folder === null ? records.map(({ file }) => file.name).join(", ") : `${folder}/`;
    return service.open(
      records.map(({ file, sidecar }) => ({
        kind: "blob",
        name: file.name,
        blob: file,
        ...(sidecar === undefined ? {} : { sidecar }),
      })),
      scores.map((file) => ({ name: file.name, blob: file })),
      { title, origin: "own", link: null },
      onProgress,
    );
  },

  /** Opens files behind addresses, by ranges where their servers answer them. */
  openAddresses(addresses: string[], onProgress: OnProgress): Promise<LibrarySummary> {
    return service.open(
      addresses.map((address) => ({ kind: "address", address })),
      [],
      {
        title: addresses.map(addressName).join(", "),
        origin: "own",
        link: { library: "own", disk: [], addresses },
      },
      onProgress,
    );
  },

  /**
   * Opens files of the folder that the page's worker shares, one task at a time; or one folder in it, whose path ends
   * with a slash. `environment` is for recordings that do not say theirs.
   */
  openShared(
    source: SharedSource,
    paths: string[],
    environment: string | null,
    onProgress: OnProgress,
  ): Promise<LibrarySummary> {
    const link = { library: "own", disk: paths, addresses: [] };
    const [first = ""] = paths;
    if (first.endsWith("/")) {
      const choice = environment === null ? {} : { environment };
      return service.openFolder(source, first.slice(0, -1), link, onProgress, choice);
    }
    return service.open(
      paths.map((path) => ({ kind: "address", address: sharedAddress(source, path) })),
      [],
      { title: paths.join(", "), origin: "own", link },
      onProgress,
      withToken(source),
    );
  },

  /** Other programs' recordings: any format that `gcopd import` reads. */
  import: (
    entries: { path: string; file: File }[],
    onProgress: OnProgress,
    choice?: { environment?: string },
  ): Promise<LibrarySummary> => service.import(entries, onProgress, choice),

  stopOpening: service.stopOpening.bind(service),
  show: service.show.bind(service),
  close: service.close.bind(service),
  countColumns: service.countColumns.bind(service),
  countAllColumns: service.countAllColumns.bind(service),
  indexFile: service.indexFile.bind(service),
  onColumns: (emit: (library: string, batch: ColumnBatch) => void) =>
    service.onColumns((library, batch) => void emit(library, batch)),

  setTokenizers: service.setTokenizers.bind(service),
  tokenizerHashes: service.tokenizerHashes.bind(service),
  setOtherTokenizer: service.setOtherTokenizer.bind(service),
  tokenTexts: service.tokenTexts.bind(service),

  task: service.task.bind(service),
  decision: service.decision.bind(service),
  retained: service.retained.bind(service),
  presentContext: service.presentContext.bind(service),
  playedTask: service.playedTask.bind(service),
  visit: service.visit.bind(service),
  compare: service.compare.bind(service),
  pinProblem: service.pinProblem.bind(service),
  pair: service.pair.bind(service),
  contextLengths: service.contextLengths.bind(service),
  leftOut: service.leftOut.bind(service),
  episode: service.episode.bind(service),
  episodeIds: service.episodeIds.bind(service),
  sources: service.sources.bind(service),
  sourceIds: service.sourceIds.bind(service),
  recordLines: service.recordLines.bind(service),
  statistics: service.statistics.bind(service),
  ablation: service.ablation.bind(service),
  stopAblation: service.stopAblation.bind(service),
  stopStatistics: service.stopStatistics.bind(service),

  /** Lets another worker call this one directly. */
  connect(port: MessagePort): void {
    Comlink.expose(api, port);
  },
};

export type LibraryApi = typeof api;

Comlink.expose(api);
