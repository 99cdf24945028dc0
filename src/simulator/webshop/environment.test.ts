import { describe, expect, test } from "vitest";
import type { Environment, EnvironmentAnswer } from "../../core/ports.ts";
import { ShopEnvironment } from "./environment.ts";
import { makeCatalogue } from "./made-catalogue.ts";
import { oracleActions } from "./oracle.ts";
import { Shop } from "./shop.ts";

const shop = new Shop(makeCatalogue({ seed: 2, products: 20 }));

async function answer(environment: Environment, action: string): Promise<EnvironmentAnswer> {
  const answered = await environment.step(action);
  if ("unanswered" in answered) throw new Error(answered.unanswered);
  return answered;
}

describe("a shop behind the port", () => {
  test("begins with the goal's instruction and the search bar", async () => {
    const start = await new ShopEnvironment(shop).reset("made/shop-2/goal3");
    expect(start).toMatchObject({
      description: shop.catalogue.goals[3]!.instruction_text,
      offered: { searchBar: true, clickables: ["search"] },
      state: { mode: "normal", descriptor: { page_type: "start" } },
      ...{ score: 0, done: false, success: false },
    });
    expect(start.feedback).toBe(start.observation);
  });

  test("ends with the purchase; success needs the whole reward", async () => {
    const environment = new ShopEnvironment(shop);
    for (const [actions, success] of [
      [oracleActions(shop, 3)!, true],
      [oracleActions(shop, 4)!, false],
    ] as const) {
      await environment.reset("goal3");
      expect((await answer(environment, "click[nothing]")).status).toBe("rejected");
      const answers = [];
      for (const action of actions) answers.push(await answer(environment, action));
      expect(answers.every(({ status }) => status === "executed")).toBe(true);
      expect(answers.at(-1)).toMatchObject({
        done: true,
        success,
        state: { descriptor: { page_type: "done" } },
      });
    }
  });

  test("refuses another shop's task", async () => {
    await expect(new ShopEnvironment(shop).reset("made/shop-1/goal3")).rejects.toThrow(
      "expected a task from",
    );
  });
});
