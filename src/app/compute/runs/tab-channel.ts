/** What tabs of one browser tell each other of the runs of the page. */
import type { Figures, Run } from "./run.ts";

export type TabMessage =
  /** A tab was opened: owners send it their runs. */
  | { type: "hello" }
  /** All of a run that begins, goes on, or is asked for. */
  | { type: "run"; run: Omit<Run, "figures" | "stream"> }
  /** What came since. */
  | {
      type: "more";
      id: string;
      facts: Pick<Run, "state" | "message" | "ended" | "title">;
      events: Run["events"];
      work: Figures["work"];
    }
  /** To the owner: end it. */
  | { type: "ask"; id: string; what: "stop" | "cancel" }
  | { type: "title"; id: string; title: string }
  | { type: "removed"; id: string };

/** What tabs of one browser tell each other under a name. */
export function tabChannel<T>(name: string) {
  let channel: BroadcastChannel | null = null;
  return {
    /** Hears the other tabs until the returned function is called. */
    hear(listener: (message: T) => void): () => void {
      const mine = new BroadcastChannel(name);
      channel = mine;
      mine.onmessage = ({ data }: MessageEvent<T>) => listener(data);
      return () => {
        mine.close();
        channel = null;
      };
    },
    tell(message: T): void {
      channel?.postMessage(message);
    },
  };
}

export const { hear: hearTabs, tell: tellTabs } = tabChannel<TabMessage>("gcopd-runs");
