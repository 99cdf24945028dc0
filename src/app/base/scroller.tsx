/** A named part that scrolls and can be reached without a mouse. */
import type { ReactNode, Ref } from "react";

export function Scroller({
  label,
  className,
  children,
  ref,
  testId,
}: {
  label: string;
  className: string;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
  testId?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: browsers scroll only what has the focus
    <section ref={ref} className={className} aria-label={label} tabIndex={0} data-testid={testId}>
      {children}
    </section>
  );
}
