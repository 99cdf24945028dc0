import { InputError } from "../../core/errors.ts";
import { readFolderText } from "../../core/folder-text.ts";
import { DEEPEST_OF_MODELS, parseJsonText } from "../../core/json.ts";
import type { FolderReader } from "../../core/ports.ts";

/** The files of one ONNX export inside a folder, and what its graph does not say. */
export interface OnnxExport {
  /** The graph: `model.onnx`, `onnx/model_q4f16.onnx`, … */
  model: string;
  /** Files with the weights outside of the graph; none where they are in it. */
  data: readonly string[];
  /** D of the keys and values, which exports often leave symbolic. */
  headSize: number | null;
  /** Longest sequence, prompt and response together; null where no configuration says it. */
  maxPositions: number | null;
}

/** Whether a folder holds an ONNX export, by its file names alone. */
export function hasOnnxExport(files: Iterable<string>): boolean {
  for (const file of files) if (file.endsWith(".onnx")) return true;
  return false;
}

/**
 * Finds the export in a folder as model hubs and exporters lay it out: `model.onnx` with `model.onnx.data` or
 * `model.onnx_data` beside it, at the top or in `onnx/`. Where there are several graphs, `prefer` names one.
 *
 * @throws InputError when there is none, or several and none was named
 */
export async function findOnnxExport(folder: FolderReader, prefer?: string): Promise<OnnxExport> {
  const files = await folder.list();
  const graphs = files.filter((file) => file.endsWith(".onnx"));
  const usual = ["model.onnx", "onnx/model.onnx"].find((name) => graphs.includes(name));
  const model = prefer ?? (graphs.length === 1 ? graphs[0] : usual);
  if (model === undefined || !graphs.includes(model)) {
    const expected = prefer ?? (graphs.length === 0 ? "an .onnx file" : "one .onnx file or model.onnx");
    const found = graphs.length === 0 ? "none is there" : `found ${graphs.join(", ")}`;
    throw new InputError(`expected ${expected}; ${found}`, { file: folder.name });
  }
  const data = files.filter((file) => file.startsWith(`${model}.data`) || file.startsWith(`${model}_data`));
  return { model, data, ...(await readSizes(folder, files)) };
}

/** Head size and positions from config.json (Hugging Face) or genai_config.json (ONNX Runtime's own builder). */
async function readSizes(
  folder: FolderReader,
  files: readonly string[],
): Promise<Pick<OnnxExport, "headSize" | "maxPositions">> {
  for (const file of ["config.json", "genai_config.json"]) {
    if (!files.includes(file)) continue;
    const json = parseJsonText(
      await readFolderText(folder, file),
      { file: `${folder.name}/${file}` },
      DEEPEST_OF_MODELS,
    );
    const model = object(object(json)["model"]);
    const source = file === "config.json" ? object(json) : { ...model, ...object(model["decoder"]) };
    const whole = (key: string): number | null => {
      const value = source[key];
      return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
    };
    const hidden = whole("hidden_size");
    const heads = whole("num_attention_heads");
    return {
      headSize:
        whole("head_dim") ??
        whole("head_size") ??
        (hidden !== null && heads !== null ? hidden / heads : null),
      maxPositions: whole("max_position_embeddings") ?? whole("context_length"),
    };
  }
  return { headSize: null, maxPositions: null };
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
