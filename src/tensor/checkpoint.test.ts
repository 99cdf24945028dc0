import { expect, test } from "vitest";
import { MemoryFolder } from "../../test/memory-folder.ts";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { InputError } from "../core/errors.ts";
import { Checkpoint } from "./checkpoint.ts";
import { LanguageModel } from "./language-model.ts";
import { createReferenceBackend } from "./reference/index.ts";
import { readSafetensorsHeader, writeSafetensors } from "./safetensors.ts";

const INDEX = "model.safetensors.index.json";
const SECOND = "model-00002-of-00002.safetensors";

/** Loads the folder, expects it to fail with one line and nothing left on the device, and returns the line. */
async function fault(folder: MemoryFolder): Promise<string> {
  const backend = createReferenceBackend();
  const error: unknown = await LanguageModel.load(backend, folder).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(InputError);
  expect(backend.live().tensors).toBe(0);
  const { message } = error as InputError;
  expect(message).not.toContain("\n");
  return message;
}

const copyOf = (folder: string) => MemoryFolder.from(openModelFixture(folder));

interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** Rewrites a file of tensors: `change` gives what takes the place of each. */
async function rewrite(
  folder: MemoryFolder,
  file: string,
  change: (tensor: Tensor) => Tensor[],
): Promise<void> {
  const { tensors } = await readSafetensorsHeader(folder, file);
  const changed: Tensor[] = [];
  for (const { start, end, ...rest } of tensors.values())
    changed.push(...change({ ...rest, bytes: await folder.read(file, start, end) }));
  await folder.write(
    file,
    writeSafetensors(changed, (index) => [changed[index]!.bytes]),
  );
}

test("a shard is read tensor by tensor", async () => {
  const folder = await copyOf("qwen3-b-bf16-sharded");
  const checkpoint = await Checkpoint.open(folder);
  folder.largestRead = 0;
  const values = await checkpoint.read("model.norm.weight", [96]);
  expect(values.length).toBe(96);
  expect(folder.largestRead).toBe(192);
});

test("missing files", async () => {
  expect(await fault(new MemoryFolder("m"))).toContain("m/config.json: this file is missing");
  const folder = await copyOf("qwen3-a");
  folder.files.delete("model.safetensors");
  expect(await fault(folder)).toContain("model: expected model.safetensors or model.safetensors.index.json");
  const shards = await copyOf("qwen3-a-bf16-sharded");
  shards.files.delete(SECOND);
  expect(await fault(shards)).toBe(`model/${SECOND}: the index names this file, and it is missing`);
});

test("faults of the index", async () => {
  const change = async (edit: (map: Record<string, unknown>) => unknown): Promise<string> => {
    const folder = await copyOf("qwen3-a-bf16-sharded");
    const index = JSON.parse(folder.text(INDEX)) as { weight_map: Record<string, unknown> };
    folder.set(INDEX, JSON.stringify(edit(index.weight_map)));
    return fault(folder);
  };
  expect(await change(() => ({}))).toContain(`model/${INDEX}, weight_map: expected an object`);
  expect(await change((map) => ({ weight_map: { ...map, "model.norm.weight": "../secret" } }))).toContain(
    'model.norm.weight: "../secret" is not the name of a file in this folder',
  );
  expect(await change((map) => ({ weight_map: { ...map, extra: SECOND } }))).toContain(
    `model/${SECOND}, extra: listed in ${INDEX}, and missing`,
  );
  expect(await change(({ "model.norm.weight": _dropped, ...map }) => ({ weight_map: map }))).toContain(
    `model/${SECOND}, model.norm.weight: ${INDEX} does not list this tensor here`,
  );
  const broken = await copyOf("qwen3-a-bf16-sharded");
  broken.set(INDEX, "{");
  expect(await fault(broken)).toMatch(`model/${INDEX}: not JSON: `);
});

test("missing, unexpected and misshapen tensors, and dtypes that are not weights", async () => {
  const file = "model.safetensors";
  const name = "model.layers.1.mlp.up_proj.weight";
  const folder = await copyOf("qwen3-a");
  await rewrite(folder, file, (tensor) => (tensor.name === name ? [] : [tensor]));
  expect(await fault(folder)).toBe(`model/${file}, ${name}: this tensor is missing`);

  const larger = await copyOf("qwen3-a");
  await rewrite(larger, file, (tensor) =>
    tensor.name === "model.norm.weight" ? [tensor, { ...tensor, name: "model.layers.2.bias" }] : [tensor],
  );
  expect(await fault(larger)).toContain("model.layers.2.bias: a model of this config.json has no such");

  const reshaped = await copyOf("qwen3-a");
  await rewrite(reshaped, file, (tensor) => [
    tensor.name === name ? { ...tensor, shape: [...tensor.shape].reverse() } : tensor,
  ]);
  expect(await fault(reshaped)).toContain(
    `${name}: the shape is [64, 160], but config.json asks for [160, 64]`,
  );

  const integers = await copyOf("qwen3-a");
  await rewrite(integers, file, (tensor) => [tensor.name === name ? { ...tensor, dtype: "I32" } : tensor]);
  expect(await fault(integers)).toContain(`${name}: weights of dtype I32 cannot be read`);
});

test.each([NaN, Infinity, -Infinity])("a weight of %d is refused", async (value) => {
  const folder = await copyOf("qwen3-a");
  await rewrite(folder, "model.safetensors", (tensor) => {
    if (tensor.name !== "model.norm.weight") return [tensor];
    const bytes = tensor.bytes.slice();
    new DataView(bytes.buffer).setFloat32(4 * 7, value, true);
    return [{ ...tensor, bytes }];
  });
  expect(await fault(folder)).toContain(`model.norm.weight: value 7 is ${value}, expected finite weights`);
});

test("a tied model may carry the head again, but not another one", async () => {
  const folder = await copyOf("qwen3-a-bf16-sharded");
  const backend = createReferenceBackend();
  const model = await LanguageModel.load(backend, folder);
  expect(model.parameters.has("lm_head.weight")).toBe(false);
  await rewrite(folder, "model-00001-of-00002.safetensors", (tensor) => {
    if (tensor.name !== "lm_head.weight") return [tensor];
    const bytes = tensor.bytes.slice();
    bytes[1000] = bytes[1000]! ^ 1;
    return [{ ...tensor, bytes }];
  });
  expect(await fault(folder)).toContain("lm_head.weight: differs from model.embed_tokens.weight");
});

test("loading stops when asked to", async () => {
  const backend = createReferenceBackend();
  const stop = new AbortController();
  const folder = openModelFixture("qwen3-a");
  const loading = LanguageModel.load(backend, folder, {
    signal: stop.signal,
    onProgress: () => stop.abort(),
  });
  await expect(loading).rejects.toThrow("aborted");
  expect(backend.live().tensors).toBe(0);
});
