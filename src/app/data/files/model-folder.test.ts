import { describe, expect, it } from "vitest";
import { archiveFolder, modelFolders as foldersAmong, tokenizerTexts } from "./model-folder.ts";
import { type NamedFile, unpackZip } from "./zip-archive.ts";

const blob = (text: string): Blob => new Blob([text]);
const modelFolders = (files: readonly NamedFile[]) => foldersAmong(files, unpackZip);

describe("modelFolders", () => {
  it("takes each folder with a config.json, and only what lies directly in it", async () => {
    const folders = await modelFolders([
      { path: "models/teacher/config.json", file: blob("{}") },
      { path: "models/teacher/model.safetensors", file: blob("weights") },
      { path: "models/README.md", file: blob("") },
      { path: "models/teacher/old/model.safetensors", file: blob("") },
    ]);
    expect(folders.map(({ name, files }) => [name, [...files.keys()]])).toEqual([
      ["models/teacher", ["config.json", "model.safetensors"]],
    ]);
  });

  it("takes exports to ONNX, in a folder of their own or in onnx/", async () => {
    const folders = await modelFolders([
      { path: "community/config.json", file: blob("{}") },
      { path: "community/onnx/model.onnx", file: blob("") },
      { path: "onnx/genai_config.json", file: blob("{}") },
      { path: "onnx/model.onnx", file: blob("") },
    ]);
    expect(folders.map(({ name, files }) => [name, [...files.keys()]])).toEqual([
      ["community", ["config.json", "onnx/model.onnx"]],
      ["onnx", ["genai_config.json", "model.onnx"]],
    ]);
  });

  it("opens the archive that archiveFolder makes", async () => {
    const files = new Map([
      ["config.json", blob('{"a":1}')],
      ["model.safetensors", blob("weights")],
      ["tokenizer.json", blob("{}")],
    ]);
    const archive = await archiveFolder({ name: "student", files });
    const [folder, ...rest] = await modelFolders([{ path: "student (1).zip", file: archive }]);
    expect(rest).toEqual([]);
    expect(folder!.name).toBe("student");
    expect(await folder!.files.get("model.safetensors")!.text()).toBe("weights");
    expect(await tokenizerTexts(folder!)).toEqual({
      tokenizerJson: "{}",
      tokenizerConfigJson: undefined,
      chatTemplate: undefined,
      file: "student",
    });
  });

  it("names a broken archive", async () => {
    await expect(modelFolders([{ path: "student.zip", file: blob("PK nothing") }])).rejects.toThrow(
      "student.zip: not a zip archive",
    );
  });
});
