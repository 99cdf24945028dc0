/** Server-sent events out of the bytes of an answer. */
import { nextTask } from "../../../base/next-task.ts";

export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/**
 * Each event once its blank line has come; comments and fields that nobody asked for are passed over.
 *
 * @param heard called whenever anything comes, comments too
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      text += value;
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event !== null) yield event;
      }
      // Chunks that are there already would all be read in one task.
      await nextTask();
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parseBlock(block: string): ServerEvent | null {
  const data: string[] = [];
  let id: string | null = null;
  let event = "message";
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "id") id = value;
    else if (field === "event") event = value;
  }
  return data.length === 0 ? null : { id, event, data: data.join("\n") };
}
