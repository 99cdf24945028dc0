import { describe, expect, it } from "vitest";
import { fitted, panned, readable, SCALES, showing, zoomed } from "./graph-view.ts";

const room = { width: 600, height: 300 };
const drawing = { width: 1000, height: 400 };

describe("the view of the graph", () => {
  it("fits a drawing, and shows the left end of one that would be too small", () => {
    expect(fitted(drawing, room)).toEqual({ k: 0.6, x: 0, y: 30 });
    expect(fitted({ width: 300, height: 200 }, room)).toEqual({ k: 1, x: 150, y: 50 });
    expect(fitted({ width: 6000, height: 300 }, room)).toMatchObject({ k: 0.45, x: 0 });
  });

  it("begins at the size in which letters can be read, however large the drawing is", () => {
    expect(readable(drawing, room)).toEqual({ k: 1, x: 0, y: 0 });
    expect(readable({ width: 300, height: 200 }, room)).toEqual({ k: 1, x: 150, y: 50 });
  });

  it("zooms around a point, within bounds", () => {
    const before = { k: 1, x: -100, y: -40 };
    const at = { x: 200, y: 100 };
    const after = zoomed(before, 1.5, at, drawing, room);
    expect(after.k).toBe(1.5);
    const under = ({ k, x, y }: typeof before) => [(at.x - x) / k, (at.y - y) / k];
    expect(under(after)[0]).toBeCloseTo(under(before)[0]!);
    expect(under(after)[1]).toBeCloseTo(under(before)[1]!);
    expect(zoomed(before, 1e6, at, drawing, room).k).toBe(SCALES.most);
    expect(zoomed(before, 1e-6, at, drawing, room).k).toBe(SCALES.least);
  });

  it("never loses the drawing, however far it is pushed", () => {
    for (const by of [-1e6, 1e6]) {
      const { k, x, y } = panned({ k: 1, x: 0, y: 0 }, { x: by, y: by }, drawing, room);
      expect(x).toBeLessThan(room.width);
      expect(y).toBeLessThan(room.height);
      expect(x + k * drawing.width).toBeGreaterThan(0);
      expect(y + k * drawing.height).toBeGreaterThan(0);
    }
  });

  it("moves to a point only when it is out of sight", () => {
    const view = { k: 2, x: 0, y: 0 };
    expect(showing(view, { x: 100, y: 70 }, room)).toBe(view);
    const moved = showing(view, { x: 500, y: 70 }, room);
    expect(moved.x + moved.k * 500).toBeLessThan(room.width);
    expect(moved.y).toBe(0);
  });
});
