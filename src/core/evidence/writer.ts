/**
 * Puts evidence together from labels and recorded texts, and keeps where each part lies. Spans are taken while
 * writing, never by searching, so recorded text that looks like a label cannot shift them.
 */
import type { BackReferences } from "./back-references.ts";
import type { EvidenceSpan } from "./types.ts";

export type SpanLabel = Omit<EvidenceSpan, "start" | "end">;

export class EvidenceWriter {
  private text = "";
  private readonly spans: EvidenceSpan[] = [];
  private open: (SpanLabel & { start: number }) | null = null;
  private readonly defined = new Set<string>();
  private readonly texts: string[] = [];

  constructor(private readonly references: BackReferences | null) {}

  /** Starts a part: all up to the next `begin` or `end` belongs to it; the newline before it belongs to none. */
  begin(place: SpanLabel): void {
    this.end();
    this.open = { ...place, start: this.text === "" ? 0 : this.text.length + 1 };
  }

  /** Ends the open part, if any. */
  end(): void {
    if (this.open === null) return;
    const { start, ...place } = this.open;
    this.spans.push({ start, end: this.text.length, ...place });
    this.open = null;
  }

  /** One line of ours. */
  line(text: string): void {
    this.text += this.text === "" ? text : `\n${text}`;
  }

  /** A label of ours and an observation or feedback as recorded; a named text is printed once, then referred to. */
  recorded(label: string, text: string): void {
    this.texts.push(text);
    const name = this.references?.names.get(text);
    if (name === undefined) this.line(`${label}: ${text}`);
    else if (this.defined.has(text)) this.line(`${label}: ${name}`);
    else {
      this.defined.add(text);
      this.line(`${label}: ${name} ${text}`);
    }
  }

  /** The text, its parts, and the recorded observations and feedbacks in the order in which they were printed. */
  finish(): { text: string; spans: EvidenceSpan[]; recorded: readonly string[] } {
    this.end();
    return { text: this.text, spans: this.spans, recorded: this.texts };
  }
}
