/** Whether an element is in the window, as the browser reports it after each frame. */
import { type RefObject, useEffect, useState } from "react";

export function useInSight(element: RefObject<Element | null>): boolean {
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      const last = entries.at(-1);
      if (last !== undefined) setInSight(last.isIntersecting);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return inSight;
}
