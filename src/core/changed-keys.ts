/** Values longer than this are cut. */
const LONGEST = 60;

/** What differs between two JSON values, key by key: `settings.clip was 0.3, is 0.1`. A list is one value. */
export function changedKeys(was: unknown, is: unknown, key = ""): string[] {
  if (isKeyed(was) && isKeyed(is))
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) =>
      changedKeys(was[name], is[name], key === "" ? name : `${key}.${name}`),
    );
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  return [`${key} was ${told(was)}, is ${told(is)}`];
}

const isKeyed = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function told(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text;
}
