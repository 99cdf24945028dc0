import { expect, it } from "vitest";
import { listHubFiles, parseHubName } from "./hub-client.ts";

const NAME = parseHubName("hub:owner/model")!;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const list = (answer: unknown) =>
  listHubFiles(NAME, { endpoint: "http://127.0.0.1:9", fetch: async () => Response.json(answer) });

it.each<[unknown, string]>([
  [null, "no description of the model in the hub's answer"],
  ["model", "no description of the model in the hub's answer"],
  [{}, "no commit in the hub's answer"],
  [{ sha: "main" }, "no commit in the hub's answer"],
  [{ sha: COMMIT }, "no files in the hub's answer"],
  [{ sha: COMMIT, siblings: [null] }, "no name of a file in the hub's answer"],
  [{ sha: COMMIT, siblings: [{ rfilename: "config.json", size: -1 }] }, "no size of config.json"],
  [{ sha: COMMIT, siblings: [{ rfilename: "config.json", size: 2, lfs: null }] }, "has no .safetensors"],
])("an answer that is not one is refused by name: %j", async (answer, message) => {
  await expect(list(answer)).rejects.toThrow(message);
  await expect(list(answer)).rejects.toMatchObject({ name: "InputError" });
});
