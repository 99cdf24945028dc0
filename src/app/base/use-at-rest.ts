/** For what is out of sight: it follows when what one steps through rests. */
import { startTransition, useEffect, useState } from "react";

/** Milliseconds without another value after which one is taken: as the address of the page. */
const REST = 120;

/** The value; with `now` false the last one that stayed for a moment. */
export function useAtRest<T>(value: T, now: boolean): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => startTransition(() => setRested(value)), REST);
    return () => clearTimeout(timer);
  }, [value]);
  return now ? value : rested;
}
