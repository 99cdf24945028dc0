/** Does some work, and again `ms` milliseconds after each time that it has ended. Returns what ends it. */
export function poll(work: () => Promise<void>, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    await work();
    if (!stopped) timer = setTimeout(() => void look(), ms);
  };
  void look();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
