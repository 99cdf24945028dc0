import { expect, it } from "vitest";
import { checkTrainConfig } from "./check-train-config.ts";
import { experimentConfigSchema, experimentParts } from "./experiment-config.ts";

const given = (more: object) =>
  experimentParts(
    experimentConfigSchema.parse({
      environment: { name: "alfworld", games: "games" },
      student: "student",
      tokenizer: "tokenizer",
      ...more,
    }),
    (name) => `out/${name}`,
  );

it("a teacher on a server plays the collection and scores the training", () => {
  const url = "http://127.0.0.1:8000";
  const { collect, train } = given({ teacher: url, train: { teacher_model: "big", calibrate_with: "big" } });
  expect(collect).toMatchObject({ policy: url, policy_model: "big", tokenizer: "tokenizer" });
  expect(collect.model).toBeUndefined();
  expect(train).toMatchObject({ teacher: url, teacher_model: "big", calibrate_with: "big" });
  checkTrainConfig(train);
});

it("a teacher in a folder does both, unless another policy plays", () => {
  expect(given({ teacher: "big" }).collect).toMatchObject({ model: "big" });
  const collect = { policy: "http://127.0.0.1:8000" };
  expect(given({ teacher: "big", collect })).toMatchObject({ collect, train: { teacher: "big" } });
});
