/** A, B, …, Z, AA, AB, … for 0, 1, …: names for shared states that are short enough for a matrix cell. */
export function letters(index: number): string {
  let text = "";
  for (let rest = index; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    text = String.fromCharCode(65 + (rest % 26)) + text;
  }
  return text;
}
