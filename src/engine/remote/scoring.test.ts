import { afterEach, describe, expect, it } from "vitest";
import type { ScoreRequest } from "../../core/ports.ts";
import {
  calibration,
  calibrationSet,
  findServer,
  hasSameTokenizer,
  isFarApart,
  RemoteScorer,
  Server,
} from "./index.ts";
import { type Fault, type Stub, type StubOptions, startStub } from "./testing/stub-server.ts";

const open: Stub[] = [];
afterEach(() => Promise.all(open.splice(0).map((stub) => stub.close())));

const TRUST = { sameTokenizer: true, calibration: null };

async function scorerOf(
  options: StubOptions,
  more: { atOnce?: number; tokensAtOnce?: number } = {},
): Promise<{ stub: Stub; scorer: RemoteScorer }> {
  const stub = await startStub(options);
  open.push(stub);
  const server = new Server(stub.url, { pausesMs: [1, 1] });
  const found = await findServer(server);
  return { stub, scorer: new RemoteScorer(server, found, { vocabulary: 100, trust: TRUST, ...more }) };
}

const REQUEST: ScoreRequest = { id: "e#0", promptIds: [8, 16, 24], responseIds: [32, 40] };

const BODIES = {
  vllm: {
    path: "/v1/completions",
    body: {
      model: "served",
      prompt: [8, 16, 24, 32, 40],
      max_tokens: 1,
      temperature: 1,
      prompt_logprobs: 0,
      add_special_tokens: false,
    },
  },
  sglang: {
    path: "/generate",
    body: {
      input_ids: [8, 16, 24, 32, 40],
      sampling_params: { temperature: 1, max_new_tokens: 0 },
      return_logprob: true,
      // One before the response: the entry at the start is null.
      logprob_start_len: 2,
    },
  },
};

describe.each(["vllm", "sglang"] as const)("log-probabilities of a given response from %s", (kind) => {
  it("are those of the response alone, for the ids that were sent", async () => {
    const { scorer, stub } = await scorerOf({ kind });
    expect(await scorer.score([REQUEST])).toEqual([{ id: "e#0", logprobs: Float32Array.of(-4, -5) }]);
    expect(stub.asked).toEqual([{ ...BODIES[kind], authorization: undefined }]);
    expect(scorer.info).toEqual({
      model: "served",
      device: "server",
      adapter: `${kind === "vllm" ? "vLLM 0.32.0" : "SGLang 0.5.9"} at ${stub.url}`,
      dtype: "as served",
      parameters: null,
      vocabulary: 100,
      served: { by: kind === "vllm" ? "vLLM 0.32.0" : "SGLang 0.5.9", ...TRUST },
    });
  });

  it("come in the requests' order, and are asked for again where the server was away", async () => {
    const { scorer, stub } = await scorerOf({ kind, faults: ["cut", { status: 503 }] });
    const requests = Array.from({ length: 20 }, (_, n) => ({ ...REQUEST, id: `${n}`, responseIds: [n + 1] }));
    const results = await scorer.score(requests);
    expect(results.map(({ id, logprobs }) => [id, logprobs[0]])).toEqual(
      requests.map(({ id, responseIds: [only] }) => [id, -only! / 8]),
    );
    expect(stub.asked).toHaveLength(22);
  });

  it("are under way together up to a number of tokens, and a larger request goes alone", async () => {
    // 5 tokens each: two fit. The stub answers once two are there.
    const { scorer, stub } = await scorerOf({ kind, together: 2 }, { tokensAtOnce: 12 });
    await scorer.score(Array.from({ length: 9 }, () => REQUEST));
    expect(stub.most()).toBe(2);
    const small = await scorerOf({ kind }, { tokensAtOnce: 3 });
    await small.scorer.score(Array.from({ length: 4 }, () => REQUEST));
    expect(small.stub.most()).toBe(1);
  });

  it("are one error with what the server answered", async () => {
    const refused: Fault = { status: 400, body: { error: { message: "longer than 2048" } } };
    const { scorer, stub } = await scorerOf({ kind, faults: [refused] }, { atOnce: 2 });
    const many = Array.from({ length: 30 }, () => REQUEST);
    await expect(scorer.score(many)).rejects.toThrow(
      `${stub.url}${BODIES[kind].path}: status 400: longer than 2048`,
    );
    expect(stub.asked.length).toBeLessThan(10);
  });

  it("are none of ids that the model lacks: nothing is sent", async () => {
    const { scorer, stub } = await scorerOf({ kind });
    await expect(scorer.score([REQUEST, { ...REQUEST, responseIds: [100] }])).rejects.toThrow(
      "e#0: id 100 is not in the vocabulary of 100; it is not sent to",
    );
    await expect(scorer.score([{ ...REQUEST, promptIds: [] }])).rejects.toThrow("a prompt of at least one");
    await expect(scorer.score([REQUEST], { entropy: true })).rejects.toThrow("not for entropies");
    expect(stub.asked).toEqual([]);
  });

  it("are refused where one is none", async () => {
    for (const [wrong, said] of [
      [Number.NaN, null],
      [0.5, 0.5],
      [-9999, -9999],
    ] as const) {
      const { scorer } = await scorerOf({ kind, score: () => [0, -1, -1, -2, wrong] });
      await expect(scorer.score([REQUEST])).rejects.toThrow(
        said === null
          ? /prompt_logprobs|expected a log-probability/
          : `expected a log-probability, received ${said}`,
      );
    }
  });
});

const changed = (kind: "vllm" | "sglang", entries: (given: unknown[]) => unknown[]): Fault => ({
  change: (answer) => {
    const { choices, meta_info } = Object(answer);
    return kind === "vllm"
      ? { ...answer, choices: [{ ...choices[0], prompt_logprobs: entries(choices[0].prompt_logprobs) }] }
      : {
          ...answer,
          meta_info: { ...meta_info, input_token_logprobs: entries(meta_info.input_token_logprobs) },
        };
  },
});

it.each([
  ["vllm", (given: unknown[]) => given.slice(1), "prompt_logprobs: 4 entries for 5 tokens"],
  [
    "vllm",
    (given: unknown[]) => given.with(3, { 33: { logprob: -1 } }),
    "prompt_logprobs[3]: has nothing of id 32, which was sent",
  ],
  ["sglang", (given: unknown[]) => given.slice(1), "input_token_logprobs: 2 entries; expected 3"],
  [
    "sglang",
    (given: unknown[]) => given.with(1, [-1, 33, null]),
    "input_token_logprobs[1]: is of id 33; 32 was sent",
  ],
  [
    "sglang",
    (given: unknown[]) => given.with(1, [null, 32, null]),
    "input_token_logprobs[1]: expected a log-probability, received NaN",
  ],
] as const)("an answer of %s to something else is refused by its key", async (kind, entries, message) => {
  const { scorer } = await scorerOf({ kind, faults: [changed(kind, entries)] });
  await expect(scorer.score([REQUEST])).rejects.toThrow(message);
});

it("a plain API cannot score", async () => {
  await expect(scorerOf({ kind: "openai" })).rejects.toThrow(
    /which does not tell log-probabilities of a given response: expected vLLM or SGLang$/,
  );
});

describe("a server's tokenizer", () => {
  const codes = (text: string) => [...text].map((letter) => letter.codePointAt(0)!);

  it.each([
    ["is ours", codes, true],
    ["is not told", undefined, false],
  ] as const)("%s", async (_, tokenize, same) => {
    const stub = await startStub({ kind: "vllm", ...(tokenize === undefined ? {} : { tokenize }) });
    open.push(stub);
    expect(await hasSameTokenizer(new Server(stub.url), "served", ["a text"], codes)).toBe(same);
  });

  it("is another one: refused by the first token", async () => {
    const tokenize = (text: string) => (text === "a text" ? codes(text).with(2, 7) : codes(text));
    const stub = await startStub({ kind: "sglang", tokenize });
    open.push(stub);
    await expect(hasSameTokenizer(new Server(stub.url), "served", ["a text"], codes)).rejects.toThrow(
      'tokenize: another tokenizer than ours: token 2 of "a text" is 7 there and 116 here',
    );
  });
});

describe("calibration", () => {
  const scores = (...logprobs: number[]) => [{ logprobs: Float32Array.from(logprobs) }];
  const compared = (difference: number) => calibration(scores(-1, -2 - difference), scores(-1, -2), "ours");

  it("tells the largest and the mean difference of a token", () => {
    expect(compared(0.25)).toEqual({ against: "ours", decisions: 1, tokens: 2, largest: 0.25, mean: 0.125 });
  });

  it("passes what is close, tells what is not, and refuses what is too far", () => {
    expect(isFarApart(compared(0.04), "s")).toBe(false);
    expect(isFarApart(compared(0.06), "s")).toBe(true);
    expect(isFarApart(compared(0.49), "s")).toBe(true);
    expect(() => isFarApart(compared(0.75), "http://s")).toThrow(
      "http://s does not compute this model as it should: largest difference to ours 0.75 nats, mean 0.38, over 2 tokens of 1 decision; at most 0.5 is accepted",
    );
    expect(() => isFarApart(compared(Number.NaN), "s")).toThrow("at most 0.5");
  });

  it("takes the shortest, the middle and the longest decision", () => {
    const request = (length: number, responseIds = [1]) => ({
      id: `${length}`,
      promptIds: Array.from({ length }, () => 1),
      responseIds,
    });
    const chosen = calibrationSet([5, 9, 2, 30, 7].map((length) => request(length)));
    expect(chosen.map(({ id }) => id)).toEqual(["2", "7", "30"]);
    expect(calibrationSet([request(3), request(2, [])]).map(({ id }) => id)).toEqual(["3"]);
  });
});
