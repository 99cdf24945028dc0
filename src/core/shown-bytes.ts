/** A power-of-two size for a person: `128 MiB`. */
export function shownBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}
