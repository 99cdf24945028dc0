import { expect, it } from "vitest";
import { z } from "zod";
import { experimentConfigSchema } from "./experiment-config.ts";
import { collectConfigSchema, evaluateConfigSchema } from "./live-config.ts";

it.each([
  ["collect", collectConfigSchema],
  ["evaluate", evaluateConfigSchema],
  ["experiment", experimentConfigSchema],
])(
  "docs/%s-config.schema.json is current (`npx vitest run src/core/loop -u` rewrites it)",
  async (name, of) => {
    const schema = { title: `Config of gcopd ${name}`, ...z.toJSONSchema(of, { io: "input" }) };
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
      `../../../docs/${name}-config.schema.json`,
    );
  },
);
