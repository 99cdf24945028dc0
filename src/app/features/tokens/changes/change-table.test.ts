import { describe, expect, it } from "vitest";
import { CHANGE_SORTS } from "../../../url/place.ts";
import type { ChangeRow } from "./change-collector.ts";
import { changesCsv, sortChanges } from "./change-table.ts";

const row = (decision: number, text: string, vanilla: number, graph: number): ChangeRow => ({
  episode: "e",
  decision,
  position: 0,
  id: 7,
  text,
  vanilla,
  graph,
  delta: graph - vanilla,
  flips: null,
});

const ROWS = [row(2, "b", -1, -3), row(0, "c", -2, -1), row(1, "a", -3, -3)];

describe("sortChanges", () => {
  it("orders by every column, in both directions", () => {
    const order = (...how: [(typeof CHANGE_SORTS)[number], boolean]) =>
      sortChanges(ROWS, ...how)
        .map(({ text }) => text)
        .join("");
    expect(order("change", true)).toBe("bca");
    expect(order("signed", true)).toBe("cab");
    expect(order("decision", false)).toBe("cab");
    expect(order("token", false)).toBe("abc");
    expect(order("vanilla", true)).toBe("bca");
    for (const sort of CHANGE_SORTS) expect(order(sort, false)).toHaveLength(3);
  });
});

describe("changesCsv", () => {
  it("has a line per token, with exact texts and no formulas", () => {
    const csv = changesCsv(
      {
        library: "library-1",
        environment: "scienceworld",
        task: "=1+1",
        episode: null,
        selection: {},
        endOfTurn: true,
        evidence: "GC-OPD + GA",
        teacher: {
          model: "m",
          device: "cpu",
          adapter: "a",
          dtype: "f32",
          parameters: 1,
          vocabulary: 8,
        },
        hashes: null,
        total: 3,
        skipped: [],
        figures: {
          decisions: 3,
          tokens: 3,
          sum: 0,
          absolute: 0,
          flips: null,
          meanByPosition: [],
          countByPosition: [],
        },
        rows: [],
        finished: true,
      },
      [row(2, 'a"\n', -1, -3)],
    );
    expect(csv).toBe(
      "environment,task,episode,decision,position,id,token_json,logp_vanilla,logp_graph,delta_logp,argmax_flips,evidence,teacher,computed\r\n" +
        `scienceworld,'=1+1,e,2,0,7,"""a\\""\\n""",-1,-3,-2,,GC-OPD + GA,m,"f32, CPU reference"\r\n`,
    );
  });
});
