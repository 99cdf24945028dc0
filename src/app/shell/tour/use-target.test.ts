import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { placeBeside } from "./use-target.ts";

const CARD = { width: 340, height: 200 };
const SCREEN = { width: 1280, height: 800 };

describe("placeBeside", () => {
  it("goes to the right, to the left, below, above", () => {
    expect(placeBeside({ left: 10, top: 100, width: 600, height: 300 }, CARD, SCREEN)).toEqual({
      left: 624,
      top: 100,
    });
    expect(placeBeside({ left: 700, top: 100, width: 570, height: 300 }, CARD, SCREEN).left).toBe(346);
    expect(placeBeside({ left: 10, top: 60, width: 1260, height: 100 }, CARD, SCREEN).top).toBe(174);
    expect(placeBeside({ left: 10, top: 600, width: 1260, height: 190 }, CARD, SCREEN).top).toBe(386);
  });
  it("is whole on the screen, wherever the box is", () => {
    const side = fc.integer({ min: -2000, max: 3000 });
    const size = fc.integer({ min: 0, max: 3000 });
    fc.assert(
      fc.property(fc.record({ left: side, top: side, width: size, height: size }), (box) => {
        const { left, top } = placeBeside(box, CARD, SCREEN);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(top).toBeGreaterThanOrEqual(0);
        expect(left + CARD.width).toBeLessThanOrEqual(SCREEN.width);
        expect(top + CARD.height).toBeLessThanOrEqual(SCREEN.height);
      }),
    );
  });
});
