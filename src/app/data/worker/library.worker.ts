/** The library worker: `LibraryService` behind comlink, with files from the page's own origin or the user's disk. */
import "../../base/without-eval.ts";
import * as Comlink from "comlink";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { type ShippedLibrary, shippedLink } from "../../url/library-link.ts";
import { addressName } from "../files/internal/http-reader.ts";
import { type SharedSource, sharedAddress, withToken } from "../files/shared-files.ts";
import { getBlob, readSampleManifest, sampleFile } from "../library/sample.ts";
import type { LibrarySummary, OpenProgress } from "../model.ts";
import { LibraryService } from "./library-service.ts";

installErrorTransfer();

type OnProgress = (progress: OpenProgress) => void;

/** Records that were dropped or picked, each with its index where one lay beside it. */
export interface OwnFiles {
  records: { file: File; sidecar?: File }[];
  /** The folder that holds all of them; null where they were picked one by one. */
  folder: string | null;
  /** Lines of `{ id, logprobs }`, as `gcopd import --scores-out` writes them. */
  scores: File[];
}

/** The service, with the ways in which the page gives it files. */
class LibraryWorker extends LibraryService {
  /** Opens a library served beside the page, with its optimal actions and plans. `base` ends with a slash. */
  async openShipped(name: ShippedLibrary, base: string, onProgress: OnProgress): Promise<LibrarySummary> {
    const { title, sources, episodes, optimal, plans } = await readSampleManifest(base, name);
    const inputs = [await sampleFile(base, sources), await sampleFile(base, episodes)];
    const about = { title, origin: "sample", link: shippedLink(name) } as const;
    const library = await this.open(inputs, [], about, onProgress);
    if (optimal !== undefined) await this.addOptimal(library.id, optimal, await getBlob(base, optimal));
    if (plans !== undefined) await this.addPlans(library.id, plans, await getBlob(base, plans));
    return library;
  }

  openFiles({ records, folder, scores }: OwnFiles, onProgress: OnProgress): Promise<LibrarySummary> {
    // Many libraries have files of the same names: their folders tell them apart.
    const title = folder === null ? records.map(({ file }) => file.name).join(", ") : `${folder}/`;
    return this.open(
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
  }

  /** Opens files behind addresses, by ranges where their servers answer them. */
  openAddresses(addresses: string[], onProgress: OnProgress): Promise<LibrarySummary> {
    return this.open(
      addresses.map((address) => ({ kind: "address", address })),
      [],
      {
        title: addresses.map(addressName).join(", "),
        origin: "own",
        link: { library: "own", disk: [], addresses },
      },
      onProgress,
    );
  }

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
      return this.openFolder(source, first.slice(0, -1), link, onProgress, choice);
    }
    return this.open(
      paths.map((path) => ({ kind: "address", address: sharedAddress(source, path) })),
      [],
      { title: paths.join(", "), origin: "own", link },
      onProgress,
      withToken(source),
    );
  }

  /** Lets another worker call this one directly. */
  connect(port: MessagePort): void {
    Comlink.expose(this, port);
  }
}

export type LibraryApi = LibraryWorker;

Comlink.expose(new LibraryWorker());
