/** How an execution ended, in words; null: it is not known. */
export const successWords = (success: boolean | null): string =>
  success === null ? "outcome unknown" : success ? "succeeded" : "did not succeed";

/**
 * Success is a filled circle, failure a cross, an unknown outcome a ring: told apart by shape first, by colour second.
 */
export function Mark({ success, label }: { success: boolean | null; label?: string }) {
  return (
    <svg
      className="mark"
      width="12"
      height="12"
      viewBox="0 0 12 12"
      role="img"
      aria-label={label ?? successWords(success)}
    >
      {success === null ? (
        <circle cx="6" cy="6" r="4" fill="none" stroke="var(--muted)" strokeWidth="1.6" />
      ) : success ? (
        <circle cx="6" cy="6" r="4.5" fill="var(--success)" />
      ) : (
        <path d="M2.2 2.2l7.6 7.6M9.8 2.2l-7.6 7.6" stroke="var(--failure)" strokeWidth="2.2" fill="none" />
      )}
    </svg>
  );
}
