/** The sample as a folder: manifest, library, episodes, tokenizer, tiny teacher and student. */
import { join } from "node:path";
import { z } from "zod";
import { environmentRules } from "../../core/environment/environment.ts";
import { parseJsonText } from "../../core/json.ts";
import { libraryContexts, type TeacherContexts, type TextCodec } from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { type PreparedTask, prepareTask } from "../../core/retrieval/prepare.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { checkedBy, type Library, readEpisodes, readLibrary } from "../../formats/index.ts";
import { openTokenizer, type ResponseOptions, type Tokenizer, textCodec } from "../../text/index.ts";
import { openBytes, readText } from "../io.ts";

const manifestSchema = z.looseObject({
  title: z.string(),
  sources: z.string(),
  episodes: z.string(),
  tokenizer: z.string(),
  teacher: z.string(),
  student: z.string(),
  kept_out_tasks: z.array(z.string()),
});

export interface Sample {
  /** Shown in messages. */
  folder: string;
  title: string;
  library: Library;
  episodes: Episode[];
  /** Tasks that neither model was trained on. */
  keptOutTasks: string[];
  tokenizer: Tokenizer;
  codec: TextCodec;
  teacherFolder: string;
  studentFolder: string;
  contexts: TeacherContexts;
  /** One task, prepared for retrieval. */
  prepared(task: string): PreparedTask;
}

/** Opens a sample folder. Every fault is an `InputError` that names the file. */
export async function openSample(folder: string, options: ResponseOptions = {}): Promise<Sample> {
  const file = join(folder, "manifest.json");
  const text = await readText(file);
  const manifest = checkedBy(manifestSchema, parseJsonText(text, { file }), { file });
  const path = (name: string) => join(folder, name);
  const library = await readLibrary(openBytes(path(manifest.sources)), { file: path(manifest.sources) });
  const episodes = await readEpisodes(openBytes(path(manifest.episodes)), { file: path(manifest.episodes) });
  const tokenizer = await openTokenizer(openFolder(path(manifest.tokenizer)));
  const codec = textCodec(tokenizer, options);
  const sourcesOf = (task: string) => library.tasks.find((entry) => entry.task === task)?.sources ?? [];
  const tasks = new Map<string, PreparedTask>();
  return {
    folder,
    title: manifest.title,
    library,
    episodes,
    keptOutTasks: manifest.kept_out_tasks,
    tokenizer,
    codec,
    teacherFolder: path(manifest.teacher),
    studentFolder: path(manifest.student),
    contexts: libraryContexts({ sources: async (_, task) => sourcesOf(task), codec }),
    prepared(task) {
      let found = tasks.get(task);
      if (found === undefined) {
        const sources = sourcesOf(task);
        found = prepareTask(sources, environmentRules(sources[0]?.environment ?? "scienceworld"));
        tasks.set(task, found);
      }
      return found;
    },
  };
}
