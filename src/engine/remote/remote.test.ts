import { afterEach, describe, expect, it, vi } from "vitest";
import type { SampleRequest } from "../../core/ports.ts";
import { findServer, RemoteSampler, Server, type ServerOptions } from "./index.ts";
import { type Fault, type Stub, type StubOptions, startStub } from "./testing/stub-server.ts";

const END = 99;
/** A letter an id, from a = 1 on. */
const codec = {
  encode: (text: string) => [...text].map((letter) => letter.charCodeAt(0) - 96),
  decode: (ids: readonly number[]) =>
    ids.map((id) => (id === END ? "<end>" : String.fromCharCode(96 + id))).join(""),
  endOfTurnId: END,
};

const open: Stub[] = [];
afterEach(() => Promise.all(open.splice(0).map((stub) => stub.close())));

async function stubOf(options: Partial<StubOptions> & Pick<StubOptions, "kind">): Promise<Stub> {
  const respond = () => ({ ids: [8, 9, END], text: "hi", stop: "stop" as const });
  const stub = await startStub({ respond, ...options });
  open.push(stub);
  return stub;
}

const request = (more: Partial<SampleRequest> = {}): SampleRequest => ({
  id: "e",
  promptIds: [1, 2, 3],
  maxTokens: 5,
  temperature: 1,
  seed: 7,
  stopIds: [END],
  drawable: [
    [1, 27],
    [END, END + 1],
  ],
  ...more,
});

async function samplerOf(
  options: Partial<StubOptions> & Pick<StubOptions, "kind">,
  { atOnce, ...more }: ServerOptions & { atOnce?: number } = {},
) {
  const stub = await stubOf(options);
  const notes: string[] = [];
  const onNote = (note: string) => void notes.push(note);
  const server = new Server(stub.url, { pausesMs: [1, 1], onNote, ...more });
  const found = await findServer(server);
  return {
    stub,
    notes,
    found,
    sampler: new RemoteSampler(server, found.protocol(codec), { atOnce, onNote }),
  };
}

describe("a server is asked what it is", () => {
  it.each([
    ["vllm", "vLLM 0.32.0"],
    ["sglang", "SGLang 0.5.9"],
    ["openai", "a plain OpenAI completions API"],
    ["chat", "a plain OpenAI chat API"],
  ] as const)("%s", async (kind, name) => {
    const { url } = await stubOf({ kind });
    for (const address of [url, `${url}/`, `${url}/v1`])
      expect(await findServer(new Server(address))).toMatchObject({ kind: name, model: "served" });
  });

  it("and takes the model that is named among several", async () => {
    const server = new Server((await stubOf({ kind: "vllm", models: ["a", "b"] })).url);
    expect((await findServer(server, "b")).model).toBe("b");
    await expect(findServer(server)).rejects.toThrow(/^policy_model: missing; .* serves "a", "b"$/);
    await expect(findServer(server, "c")).rejects.toThrow(/does not serve "c", but "a", "b"$/);
  });

  it.each([
    { status: 401 },
    { status: 403 },
    { status: 302, headers: { Location: "/login" } },
    { status: 500 },
    { status: 503 },
    null,
  ])("and is a plain one where a gateway answers what is optional with %j", async (optional) => {
    const { url } = await stubOf({ kind: "vllm", optional });
    const limits = { timeoutMs: 0 };
    const server = new Server(url, limits);
    const { ask } = server;
    vi.spyOn(server, "ask").mockImplementation((path, ...asked) => {
      // What does get an answer gets it after any time.
      limits.timeoutMs = path.startsWith("/v1/") ? 240_000 : 50;
      return ask.call(server, path, ...asked);
    });
    expect((await findServer(server)).kind).toBe("a plain OpenAI completions API");
  });

  it("and an abort ends the asking", async () => {
    const { url } = await stubOf({ kind: "vllm", optional: null });
    const asking = findServer(new Server(url), undefined, AbortSignal.timeout(50));
    await expect(asking).rejects.toThrow(/aborted due to timeout/);
  });

  it("and an address that is not one, or answers with something else, is one clear error", async () => {
    expect(() => new Server("localhost:8000")).toThrow("expected http://HOST:PORT of an inference server");
    expect(() => new Server("http://me:secret@localhost")).toThrow(
      /^(?!.*secret).*with a user or a password/,
    );
    const stub = await stubOf({ kind: "vllm" });
    await stub.close();
    await expect(findServer(new Server(stub.url, { pausesMs: [1] }))).rejects.toThrow(
      /v1\/models: no answer: .*; gave up after 2 tries$/,
    );
  });
});

const BODIES = {
  vllm: {
    path: "/v1/completions",
    authorization: undefined,
    body: {
      model: "served",
      prompt: [1, 2, 3],
      max_tokens: 5,
      ...{ temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
      seed: 7,
      stop_token_ids: [END],
      ignore_eos: true,
      logprobs: 0,
      return_token_ids: true,
      add_special_tokens: false,
      skip_special_tokens: false,
    },
  },
  sglang: {
    path: "/generate",
    authorization: undefined,
    body: {
      input_ids: [1, 2, 3],
      sampling_params: {
        max_new_tokens: 5,
        ...{ temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 },
        sampling_seed: 7,
        stop_token_ids: [END],
        skip_special_tokens: false,
      },
      return_logprob: true,
    },
  },
};

describe("responses", () => {
  it.each(["vllm", "sglang"] as const)("come with their ids from %s", async (kind) => {
    const { sampler, stub } = await samplerOf({ kind });
    const [result] = await sampler.sample([request()]);
    expect(result).toEqual({
      id: "e",
      responseIds: [8, 9, END],
      logprobs: Float32Array.of(-0.5, -1, -1.5),
      stop: "stop",
    });
    expect(stub.asked[0]).toEqual(BODIES[kind]);
  });

  it("are bounded as they are asked for", async () => {
    const bounds = { temperature: 0.4, topK: 20, topP: 0.9 };
    const native = await samplerOf({ kind: "sglang" });
    await native.sampler.sample([request(bounds)]);
    const wanted = { temperature: 0.4, top_k: 20, top_p: 0.9 };
    expect(native.stub.asked[0]!.body.sampling_params).toMatchObject(wanted);
    const completions = await samplerOf({ kind: "vllm" });
    await completions.sampler.sample([request(bounds)]);
    expect(completions.stub.asked[0]!.body).toMatchObject(wanted);
  });

  it("have log-probabilities only where the server tells those at temperature 1", async () => {
    const cold = [request({ temperature: 0.4 })];
    const [raw] = await (await samplerOf({ kind: "vllm" })).sampler.sample(cold);
    expect([...raw!.logprobs]).toEqual([-0.5, -1, -1.5]);
    const [after] = await (await samplerOf({ kind: "sglang" })).sampler.sample(cold);
    expect([...after!.logprobs]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  it("may end with an end token of the model's own from SGLang", async () => {
    const respond = () => ({ ids: [8, 26], text: "", stop: "stop" as const });
    const [result] = await (await samplerOf({ kind: "sglang", respond })).sampler.sample([request()]);
    expect(result).toMatchObject({ responseIds: [8, 26], stop: "stop" });
  });

  it("are text from a chat API, to the messages that the prompt was written from", async () => {
    const { sampler, stub, notes } = await samplerOf({ kind: "chat" });
    const messages = [{ role: "user" as const, content: "abc" }];
    const [result] = await sampler.sample([request({ messages })]);
    expect(result).toMatchObject({ responseIds: [8, 9, END], stop: "stop" });
    expect([...result!.logprobs]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(stub.asked).toMatchObject([
      {
        path: "/v1/chat/completions",
        body: {
          ...{ model: "served", messages, max_tokens: 5, temperature: 1, top_p: 1, seed: 7 },
          stop: ["<end>"],
        },
      },
    ]);
    expect(stub.asked[0]!.body).not.toHaveProperty("prompt");
    expect(notes).toEqual([]);
    // The stub counts three tokens in every prompt.
    await sampler.sample([request({ messages, promptIds: [1, 2] }), request({ messages, promptIds: [1] })]);
    expect(notes).toEqual([expect.stringContaining("its prompts have another number of tokens than ours")]);
    await expect(sampler.sample([request()])).rejects.toThrow(
      "the prompt was cut to its environment's limit, and a chat API takes none such",
    );
  });

  it.each([
    [{ message: { content: null } }, "choices[0].message.content: expected string"],
    [{ message: { content: "" }, finish_reason: "length" }, "0 tokens; expected at least 1"],
    [{ finish_reason: "content_filter" }, "choices[0].finish_reason: expected"],
  ])("of a chat API with %j are refused by their key", async (more, message) => {
    const change = (answer: Record<string, unknown>) => ({
      ...answer,
      choices: [{ ...Object(answer.choices)[0], ...more }],
    });
    const { sampler } = await samplerOf({ kind: "chat", faults: [{ change }] });
    const messages = [{ role: "user" as const, content: "abc" }];
    await expect(sampler.sample([request({ messages })])).rejects.toThrow(message);
  });

  it.each(["vllm", "sglang"] as const)("may be as long as allowed, without an end, from %s", async (kind) => {
    const respond = () => ({ ids: [1, 2, 3, 4, 5], text: "abcde", stop: "length" as const });
    const [result] = await (await samplerOf({ kind, respond })).sampler.sample([request()]);
    expect(result).toMatchObject({ responseIds: [1, 2, 3, 4, 5], stop: "length" });
  });

  it("are text from a plain API, which may not know every bound", async () => {
    const { sampler, stub, notes } = await samplerOf({ kind: "openai" });
    const results = await sampler.sample([request({ topK: 20 }), request({ id: "f", topK: 20 })]);
    expect(results.map(({ responseIds }) => responseIds)).toEqual([
      [8, 9, END],
      [8, 9, END],
    ]);
    expect(stub.asked[1]!.body).toEqual({
      model: "served",
      prompt: "abc",
      max_tokens: 5,
      temperature: 1,
      top_p: 1,
      top_k: 20,
      seed: 7,
      stop: ["<end>"],
    });
    expect(notes).toEqual([
      expect.stringContaining("its API has no top_k; it may ignore the limit of 20 tokens"),
    ]);
  });

  it("come in the requests' order, so many at a time as allowed", async () => {
    const { sampler, stub } = await samplerOf(
      {
        kind: "vllm",
        respond: ({ seed }) => ({ ids: [Number(seed)], text: "", stop: "length" }),
        together: 3,
      },
      { atOnce: 3 },
    );
    const seeds = Array.from({ length: 20 }, (_, n) => n + 1);
    const results = await sampler.sample(seeds.map((seed) => request({ id: `${seed}`, seed })));
    expect(results.map(({ id, responseIds: [first] }) => [Number(id), first])).toEqual(
      seeds.map((seed) => [seed, seed]),
    );
    expect(stub.most()).toBe(3);
  });
});

describe("an id without a token", () => {
  it.each([
    ["vllm", (body: Record<string, unknown>) => body, [-0.5, -0.5, -1, -1.5]],
    // Of these the server counts what it was told to leave out.
    ["sglang", (body: Record<string, unknown>) => Object(body.sampling_params), [-0.5, NaN, NaN, NaN]],
  ] as const)("is left out by %s from there on", async (kind, drawing, logprobs) => {
    const answers = [
      [8, 50, 9],
      [8, 9, END],
    ];
    const respond = () => {
      const ids = answers.shift()!;
      return { ids, text: "", stop: ids.includes(END) ? ("stop" as const) : ("length" as const) };
    };
    const { sampler, stub } = await samplerOf({ kind, respond });
    const [result] = await sampler.sample([request()]);
    expect(result).toMatchObject({ id: "e", responseIds: [8, 8, 9, END], stop: "stop" });
    expect([...result!.logprobs]).toEqual(logprobs);
    const [first, second] = stub.asked.map(({ body }) => ({ ...body, ...drawing(body) }));
    expect(first).not.toHaveProperty("logit_bias");
    expect(second).toMatchObject({ logit_bias: { 50: -100 } });
    expect(second!.prompt ?? second!.input_ids).toEqual([1, 2, 3, 8]);
    expect(second!.max_tokens ?? second!.max_new_tokens).toBe(4);
    expect(second!.seed ?? second!.sampling_seed).toBe(8);
  });

  it.each([
    [1, "name the tokenizer of the server's model", 65],
    [0, "take a temperature above 0", 2],
  ])("at temperature %d ends the run where it comes again and again", async (temperature, advice, times) => {
    const respond = () => ({ ids: [50], text: "", stop: "length" as const });
    const { sampler, stub } = await samplerOf({ kind: "vllm", respond });
    await expect(sampler.sample([request({ temperature })])).rejects.toThrow(
      `${stub.url} draws id 50, which has no token in the tokenizer, and cannot be kept from such ids: ${advice}`,
    );
    expect(stub.asked).toHaveLength(times);
  });
});

describe("faults", () => {
  it.each([
    [
      "busy",
      { status: 429, headers: { "Retry-After": "0.01" } },
      "busy (status 429); trying again, up to 2 times",
    ],
    ["away", { status: 503 }, "busy (status 503); trying again"],
    ["cut", "cut", "no answer: "],
  ] satisfies [string, Fault, string][])("%s: asked again, and told once", async (_, fault, told) => {
    const { sampler, notes, stub } = await samplerOf({ kind: "vllm", faults: [fault, fault] });
    await sampler.sample([request()]);
    expect(stub.asked).toHaveLength(3);
    expect(notes).toEqual([expect.stringContaining(told)]);
  });

  it("gives up after the last try", async () => {
    const { sampler } = await samplerOf({ kind: "vllm", faults: ["cut", "cut", { status: 503 }] });
    await expect(sampler.sample([request()])).rejects.toThrow(
      /v1\/completions: busy \(status 503\); gave up after 3 tries$/,
    );
  });

  it.each([
    ["refused", { status: 400, body: { error: { message: "too long" } } }, /: status 400: too long$/],
    ["no JSON", { status: 200, body: "<html>" }, /v1\/completions: expected object, received null/],
  ] satisfies [string, Fault, RegExp][])("%s: one error, and no other try", async (_, fault, message) => {
    const { sampler, stub } = await samplerOf({ kind: "vllm", faults: [fault] });
    await expect(sampler.sample([request()])).rejects.toThrow(message);
    expect(stub.asked).toHaveLength(1);
  });

  it("hang: one error, and no other try", async () => {
    const { stub, found } = await samplerOf({ kind: "vllm", faults: ["hang"] });
    const sampler = new RemoteSampler(new Server(stub.url, { timeoutMs: 200 }), found.protocol(codec));
    await expect(sampler.sample([request()])).rejects.toThrow(/no answer within 0.2 s$/);
    // A machine that is slow enough has not even sent it.
    expect(stub.asked.length).toBeLessThanOrEqual(1);
  });

  const changed = (kind: "vllm" | "sglang", more: object): Fault => ({
    change: (answer) =>
      kind === "sglang"
        ? { ...answer, meta_info: { ...Object(answer.meta_info), ...more } }
        : { ...answer, choices: [{ ...Object(answer.choices)[0], ...more }] },
  });

  it.each([
    ["vllm", { token_ids: [8, 9] }, "ends with id 9; expected 99"],
    ["vllm", { token_ids: [] }, "0 tokens; expected 1 to 5"],
    ["vllm", { token_ids: undefined }, "choices[0].token_ids: missing"],
    ["vllm", { logprobs: { token_logprobs: [-1] } }, "3 ids with 1 log-probabilities"],
    ["vllm", { finish_reason: "abort" }, 'choices[0].finish_reason: expected "stop" or "length"'],
    ["sglang", { output_token_logprobs: [[-1, 8, null]] }, "ends with id 8; expected 99"],
    ["sglang", { finish_reason: { type: "abort" } }, "meta_info.finish_reason.type: expected"],
  ] as const)("%s with %j: refused by its key", async (kind, more, message) => {
    const { sampler } = await samplerOf({ kind, faults: [changed(kind, more)] });
    await expect(sampler.sample([request()])).rejects.toThrow(message);
  });

  it("a key is sent, and never shown", async () => {
    const { url, asked } = await stubOf({ kind: "vllm", key: "right" });
    const keyHint = "its key belongs in X";
    await expect(findServer(new Server(url, { key: "secret", keyHint }))).rejects.toThrow(
      /^(?!.*secret).*refuses access \(status 401\): its key belongs in X$/,
    );
    const server = new Server(url, { key: "right" });
    await new RemoteSampler(server, (await findServer(server)).protocol(codec)).sample([request()]);
    expect(asked[0]!.authorization).toBe("Bearer right");
  });

  it("one that fails ends all, and a signal too", async () => {
    const { sampler, stub } = await samplerOf({ kind: "vllm", faults: [{ status: 400 }] }, { atOnce: 2 });
    const many = Array.from({ length: 30 }, (_, n) => request({ id: `${n}` }));
    await expect(sampler.sample(many)).rejects.toThrow("status 400");
    expect(stub.asked.length).toBeLessThan(10);
    const stopped = new AbortController();
    const hanging = await samplerOf({ kind: "vllm", faults: ["hang"] });
    const sampling = hanging.sampler.sample([request()], { signal: stopped.signal });
    await expect.poll(() => hanging.stub.asked.length).toBe(1);
    stopped.abort(new Error("stopped here"));
    await expect(sampling).rejects.toThrow("stopped here");
  });
});
