/**
 * Compiles constants into the text of a kernel, before the WGSL compiler sees it.
 *
 * WGSL has no unrolling and no constant-size registers but by writing each one out, so a `*.wgsl` file here may hold
 * - `${NAME}`: replaced by the constant with that name;
 * - a block from `// @for i in NAME` to `// @end`: repeated NAME times, `${i}` being 0, 1, …; blocks nest.
 * A line `// @for` without its `// @end`, or a name without a value, is an error.
 */
export function specialise(source: string, constants: Readonly<Record<string, number | string>>): string {
  const lines = source.split("\n");
  let at = 0;

  const block = (scope: Readonly<Record<string, number | string>>, from: number, emit: boolean): string[] => {
    const out: string[] = [];
    for (at = from; at < lines.length; at++) {
      const line = lines[at]!;
      const loop = /^\s*\/\/ @for (\w+) in (\w+)\s*$/.exec(line);
      if (loop) {
        const [, name = "", countName = ""] = loop;
        const count = Number(lookUp(countName, scope));
        if (!Number.isInteger(count) || count < 0) throw new Error(`kernel source: ${countName} = ${count}`);
        const body = at + 1;
        // A count of 0 still has to walk to the end of the block.
        for (let i = 0; i < Math.max(1, count); i++) {
          const text = block({ ...scope, [name]: i }, body, count > 0);
          if (emit && count > 0) out.push(...text);
        }
        if (at >= lines.length) throw new Error(`kernel source: "@for ${name}" has no "@end"`);
      } else if (/^\s*\/\/ @end\s*$/.test(line)) {
        return out;
      } else if (emit) {
        out.push(line.replace(/\$\{(\w+)\}/g, (_, name: string) => String(lookUp(name, scope))));
      }
    }
    return out;
  };
  const text = block(constants, 0, true);
  if (at < lines.length) throw new Error(`kernel source, line ${at + 1}: "@end" without "@for"`);
  return text.join("\n");
}

/** Puts common declarations before a kernel's, behind its directives (`enable`, `diagnostic`), which WGSL wants first. */
export function joinModules(common: string, source: string): string {
  const directive = /^(?:enable|diagnostic|requires)\b.*$/gm;
  const directives = source.match(directive) ?? [];
  return [...directives, common, source.replace(directive, "")].join("\n");
}

function lookUp(name: string, scope: Readonly<Record<string, number | string>>): number | string {
  const value = /^\d+$/.test(name) ? Number(name) : scope[name];
  if (value === undefined) throw new Error(`kernel source: no value for "${name}"`);
  return value;
}
