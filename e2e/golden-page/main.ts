/** Runs the golden checks of test/goldens.ts on the browser's WebGPU. Not a part of the product. */
import type { FolderReader } from "../../src/core/ports.ts";
import { createBrowserBackend } from "../../src/engine/native/index.ts";
import { GOLDEN_CHECKS, GOLDEN_FILES } from "../../test/goldens.ts";

/** A folder of test/fixtures/models over fetch; each file is fetched once. */
function fetchedFolder(name: string): FolderReader {
  const files = new Map<string, Promise<Uint8Array>>();
  const bytes = (file: string): Promise<Uint8Array> => {
    const known = files.get(file);
    if (known !== undefined) return known;
    const fetched = (async () => {
      const response = await fetch(`/test/fixtures/models/${name}/${file}`);
      if (!response.ok) throw new Error(`${name}/${file}: ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    })();
    files.set(file, fetched);
    return fetched;
  };
  return {
    name,
    list: async () => [...(GOLDEN_FILES[name] ?? [])],
    size: async (file) => (await bytes(file)).length,
    read: async (file, start, end) => (await bytes(file)).slice(start, end),
  };
}

const golden = {
  names: GOLDEN_CHECKS.map((check) => check.name),
  async run(name: string) {
    const check = GOLDEN_CHECKS.find((each) => each.name === name);
    if (check === undefined) throw new Error(`there is no check ${name}`);
    const backend = await createBrowserBackend("webgpu");
    try {
      return { device: backend.description, worst: await check.run({ backend, open: fetchedFolder }) };
    } finally {
      backend.dispose();
    }
  },
};

export type Golden = typeof golden;

declare global {
  interface Window {
    golden?: Golden;
  }
}

window.golden = golden;
