/** Expert plans in TCOD's form: `{game_file, target, actions}` a line. They hold actions only. */
import { z } from "zod";
import { otherSource } from "./execution.ts";
import { fileImporter } from "./file-importer.ts";
import { check, listOrText } from "./rows.ts";

const rowSchema = z.looseObject({
  game_file: z.string(),
  target: z.string().nullish(),
  actions: listOrText(z.string()),
});

export const tcod = fileImporter({
  name: "tcod",
  description: "expert plans of ALFWorld games (game_file, target, actions), as JSON Lines, JSON or Parquet",
  what: "expert plans of ALFWorld games",
  unaligned: "plans hold actions, no observations and no states",
  recognise: (first) => (typeof first.game_file === "string" && first.actions !== undefined ? 0.8 : 0),
  head: /"game_file"\s*:/,
  async *records(rows, scope) {
    for await (const { value, where } of rows) {
      const row = check(rowSchema, value, where);
      yield {
        kind: "source",
        file: scope.path,
        ...(where.line === undefined ? {} : { line: where.line }),
        record: otherSource({
          environment: "alfworld",
          task: row.game_file,
          repetition: scope.nextRepetition("alfworld", row.game_file),
          description: row.target ?? "",
          initial: "",
          turns: row.actions.map((action) => ({ observation: "", action, feedback: "" })),
        }),
      };
    }
  },
});
