import { afterEach, expect, it, vi } from "vitest";
import { getBlob, readSampleManifest } from "./sample.ts";

afterEach(() => vi.unstubAllGlobals());

it("says of a file whose transfer broke off that the server may be gone", async () => {
  const body = () => new ReadableStream({ pull: (body) => body.error(new TypeError("network error")) });
  vi.stubGlobal("fetch", async () => new Response(body()));
  const gone = (file: string) => ({
    name: "InputError",
    message: `${file}: could not be fetched: is the workbench's server still running?`,
  });
  await expect(getBlob("http://here/sample/", "model.safetensors")).rejects.toMatchObject(
    gone("model.safetensors"),
  );
  await expect(readSampleManifest("http://here/sample/")).rejects.toMatchObject(gone("sample/manifest.json"));
});

it("says of a manifest that is none what it is not", async () => {
  vi.stubGlobal("fetch", async () => new Response("<html>"));
  await expect(readSampleManifest("http://here/sample/")).rejects.toThrow(
    "sample/manifest.json: this is not the manifest of a shipped library",
  );
});
