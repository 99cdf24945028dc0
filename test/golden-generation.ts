import { readJson } from "./golden-file.ts";
import { type Deviations, type Goldens, LOGPROB, Meter, withModel } from "./golden-meter.ts";

interface Continuation {
  prompt_ids: number[];
  ids: number[];
  logprobs: number[];
}

interface GenerateGolden {
  greedy: Continuation[];
  sampling: (Continuation & { temperature: number; u: number[] })[];
}

export async function checkGenerate(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const golden = await readJson<GenerateGolden>(goldens.open(`goldens/${model}`), "generate.json");
  await withModel(goldens, model, async (loaded) => {
    const cases = [
      ...golden.greedy.map((entry) => ({ ...entry, temperature: 0, u: [] })),
      ...golden.sampling,
    ];
    for (const { prompt_ids: promptIds, ids, logprobs, temperature, u } of cases) {
      let next = 0;
      const uniform = () => u[next++]!;
      const options = { maxTokens: ids.length, temperature, uniform };
      const actual = await loaded.generate(promptIds, options);
      const where = `temperature ${temperature} after ${promptIds.slice(0, 5).join(" ")}`;
      if (actual.ids.join() !== ids.join())
        throw new Error(`${where}: expected ${ids.join(" ")}, got ${actual.ids.join(" ")}`);
      meter.all("log-probability", actual.logprobs, logprobs, LOGPROB, where);
      // The same tokens as one sequence, without a cache.
      const [whole] = await loaded.score([{ promptIds, responseIds: ids }]);
      meter.all("cached against whole", actual.logprobs, whole!, LOGPROB, where);
    }
  });
  return meter.worst;
}
