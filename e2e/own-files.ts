/** A small library of a user's own: three executions of one task and one short student episode, short enough to train on. */
import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";

export const TASK = "boil|1|easy";
const STATES = { hall: "a".repeat(64), kitchen: "b".repeat(64), stove: "c".repeat(64), end: "d".repeat(64) };

const at = (key: keyof typeof STATES) => ({ key: STATES[key], mode: "normal", options: {} });
const common = {
  environment: "scienceworld",
  task: TASK,
  task_description: "Your task is to boil water.",
  initial_observation: "This is the hallway.",
};
const outcome = (success: boolean) => ({
  complete: true,
  success,
  score: success ? 100 : 10,
  ended: "environment",
  verified: true,
});

const TEXTS = {
  hall: "This is the hallway.",
  kitchen: "You move to the kitchen.",
  stove: "The stove is now activated.",
};

function decision(from: keyof typeof TEXTS, action: string, feedback: string) {
  return {
    observation: TEXTS[from],
    state: at(from),
    action,
    binding: null,
    status: "executed",
    feedback,
    score: 5,
    gap_before: false,
  };
}

const go = decision("hall", "go to kitchen", TEXTS.kitchen);
const heat = decision("kitchen", "activate stove", TEXTS.stove);
const wait = decision("stove", "wait", "The water boils.");
const leave = decision("kitchen", "wait", "Nothing happens.");

function source(id: number, decisions: (typeof go)[], success: boolean) {
  return {
    format: "gcopd.source.v1",
    ...common,
    source: `teacher:${id}`,
    repetition: id,
    origin: { kind: "teacher" },
    decisions: decisions.map((each) => ({ ...each, attempts: [] })),
    final_state: at(success ? "end" : "kitchen"),
    outcome: outcome(success),
  };
}

const respond = (each: typeof go) => ({
  ...each,
  prompt: `Task: boil water.\nYou see: ${each.observation}`,
  response: `<thought>Go on.</thought><action>${each.action}</action>`,
});

export const SOURCES = [
  source(0, [go, heat, wait], true),
  source(1, [go, leave], false),
  source(
    2,
    [go, leave, heat, wait].map((each, i) => (i === 2 ? { ...each, observation: "Nothing happens." } : each)),
    true,
  ),
];

export const EPISODES = [
  {
    format: "gcopd.episode.v1",
    ...common,
    episode: "own#0",
    decisions: [respond(go), respond(leave)],
    final_state: at("kitchen"),
    outcome: outcome(false),
  },
];

export const jsonLines = (records: unknown[]): Buffer =>
  Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

export interface UploadFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export const upload = (name: string, buffer: Buffer): UploadFile => ({
  name,
  mimeType: "application/octet-stream",
  buffer,
});

export const OWN_FILES = [
  upload("sources.jsonl.gz", gzipSync(jsonLines(SOURCES))),
  upload("episodes.jsonl", jsonLines(EPISODES)),
];

/** Drops files onto the page as a file manager would. */
export async function dropFiles(page: Page, files: UploadFile[]): Promise<void> {
  const transfer = await page.evaluateHandle(
    (contents) => {
      const data = new DataTransfer();
      for (const { name, base64 } of contents) {
        data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      }
      return data;
    },
    files.map(({ name, buffer }) => ({ name, base64: buffer.toString("base64") })),
  );
  await page.dispatchEvent("main", "dragenter", { dataTransfer: transfer });
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
}
