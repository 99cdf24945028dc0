/** The library worker: `LibraryService` behind comlink, with files from the page's own origin or the user's disk. */
import * as Comlink from "comlink";
import { checkSameTokenizer } from "../../text/codec.ts";
import { loadTokenizer, type TokenizerTexts } from "../../text/index.ts";
import type { IndexProgress, RecordFile } from "../library/record-index.ts";
import type { LibrarySummary } from "../model.ts";
import { LibraryService } from "./library-service.ts";
import { readSampleManifest, sampleFile } from "./sample.ts";
import { installErrorTransfer } from "./transfer.ts";

installErrorTransfer();

const service = new LibraryService();

type OnProgress = (progress: IndexProgress) => void;

const api = {
  /** Opens the sample that is served beside the page. `base` ends with a slash. */
  async openSample(base: string, onProgress: OnProgress): Promise<LibrarySummary> {
    const manifest = await readSampleManifest(base);
    const files = [sampleFile(base, manifest.sources), sampleFile(base, manifest.episodes)];
    return service.open(files, { title: manifest.title, origin: "sample" }, onProgress);
  },

  async openFiles(files: File[], onProgress: OnProgress): Promise<LibrarySummary> {
    const records = files.map(
      (file): RecordFile => ({ name: file.name, bytes: file.size, open: async () => file.stream() }),
    );
    const title = files.map((file) => file.name).join(", ");
    return service.open(records, { title, origin: "own" }, onProgress);
  },

  /** Other programs' recordings: any format that `gcopd import` reads. */
  import: (entries: { path: string; file: File }[], onProgress: OnProgress): Promise<LibrarySummary> =>
    service.import(entries, onProgress),

  /** The tokenizer that counts and scores from now on. Throws `InputError` for files that make none. */
  setTokenizer: service.setTokenizer.bind(service),

  /** Throws `InputError` for two tokenizers that do not give the same ids. */
  compareTokenizers(teacher: TokenizerTexts, student: TokenizerTexts): void {
    checkSameTokenizer(loadTokenizer(teacher), loadTokenizer(student));
  },

  task: service.task.bind(service),
  decision: service.decision.bind(service),
  visit: service.visit.bind(service),
  pair: service.pair.bind(service),
  episode: service.episode.bind(service),
  episodeIds: service.episodeIds.bind(service),
  sources: service.sources.bind(service),
  statistics: service.statistics.bind(service),
  stopStatistics: service.stopStatistics.bind(service),

  /** Lets another worker call this one directly. */
  connect(port: MessagePort): void {
    Comlink.expose(api, port);
  },
};

export type LibraryApi = typeof api;

Comlink.expose(api);
