import { expect, test } from "vitest";
import { groupIds } from "./rows.ts";
import { joinModules, specialise } from "./wgsl.ts";

test("constants are compiled in and blocks repeated, nested ones too", () => {
  const source = [
    `const N = \${N}u;`,
    "// @for i in N",
    `a\${i} = \${TYPE}();`,
    "  // @for j in 2",
    `c\${i}_\${j};`,
    "  // @end",
    "// @end",
    "end",
  ].join("\n");
  expect(specialise(source, { N: 2, TYPE: "vec4f" }).split("\n")).toEqual([
    ...["const N = 2u;", "a0 = vec4f();", "c0_0;", "c0_1;", "a1 = vec4f();", "c1_0;", "c1_1;", "end"],
  ]);
  expect(specialise(source, { N: 0, TYPE: "f32" })).toBe("const N = 0u;\nend");
});

test("a kernel source with a mistake is refused", () => {
  expect(() => specialise(`\${MISSING}`, {})).toThrow('no value for "MISSING"');
  expect(() => specialise("// @for i in 2\nx", {})).toThrow('"@for i" has no "@end"');
  expect(() => specialise("x\n// @end", {})).toThrow('line 2: "@end" without "@for"');
  expect(() => specialise("// @for i in N\n// @end", { N: 1.5 })).toThrow("N = 1.5");
});

test("positions are grouped by id, in order, in runs of bounded length", () => {
  const ids = new Uint32Array(150).fill(7);
  ids[3] = 2;
  const { order, runs, firstRun, distinct } = groupIds(ids);
  expect(distinct).toEqual([7, 2]);
  expect(firstRun).toEqual([0, 3, 4]);
  expect(runs).toEqual([0, 64, 128, 149, 150]);
  expect(order.slice(0, 5)).toEqual([0, 1, 2, 4, 5]);
  expect(order.at(-1)).toBe(3);
  expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i));
});

test("directives of a kernel come before the common declarations", () => {
  const source = "// Text.\nenable f16;\ndiagnostic(off, x.y);\nfn main() {\n  let enable_it = 1;\n}";
  expect(joinModules("fn common() {}", source)).toBe(
    "enable f16;\ndiagnostic(off, x.y);\nfn common() {}\n// Text.\n\n\nfn main() {\n  let enable_it = 1;\n}",
  );
  expect(joinModules("a", "b")).toBe("a\nb");
});
