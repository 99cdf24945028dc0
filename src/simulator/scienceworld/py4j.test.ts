import { afterEach, describe, expect, test } from "vitest";
import { decodeReply, encodeArgument, JavaError, JavaReference, Py4jConnection } from "./py4j.ts";
import { type Answers, type StubGateway, stubGateway, tinyWorld } from "./testing/stub-gateway.ts";

let gateway: StubGateway | null = null;
let connection: Py4jConnection | null = null;
afterEach(async () => {
  connection?.fail(new Error("the test is over"));
  await gateway?.close();
});

async function connected(answers: Answers, limitMs = 60_000): Promise<Py4jConnection> {
  gateway = await stubGateway(answers);
  connection = await Py4jConnection.connect(gateway.port, limitMs);
  return connection;
}

describe("lines", () => {
  test.each([
    ["a\\b\r\nc\td", "sa\\\\b\\r\\nc\td"],
    [3, "i3"],
    [0.5, "d0.5"],
    [true, "btrue"],
    [null, "n"],
    [new JavaReference("o3"), "ro3"],
  ])("%j is written %j", (value, line) => {
    expect(encodeArgument(value)).toBe(line);
    expect(decodeReply(`!y${line}`)).toEqual(value);
  });

  test("other replies", () => {
    expect(decodeReply("!yv")).toBe(null);
    expect(decodeReply("!yL7")).toBe(7);
    expect(decodeReply("!ylo1")).toEqual(new JavaReference("o1"));
    expect(() => decodeReply("nonsense")).toThrow('expected a reply of py4j, received "nonsense"');
  });
});

test("commands wait for each other, whoever sends them", async () => {
  const java = await connected(tinyWorld());
  const object = await java.create("a.B");
  const results = await Promise.all([
    java.call(object, "step", "look around"),
    java.call(object, "getScore"),
    java.strings(await java.call(object, "getPossibleActions")),
    java.integers(new JavaReference("o9")),
  ]);
  expect(results).toEqual(["You see:\n\ta door\\that is shut", 0, ["look at OBJ", "wait"], [0, 1, 22]]);
  expect(gateway!.pipelined).toBe(0);
  expect(gateway!.commands).toContainEqual(["m", "d", "o1"]);
  expect(gateway!.commands).toContainEqual(["m", "d", "o9"]);
});

test("what Java refuses is one line, and the connection goes on", async () => {
  const java = await connected({
    missing: () => "!xspy4j.Py4JException: no method missing\\n\\tat py4j.Gateway",
    thrown: () => "!xro3",
    toString: () => "sjava.lang.IllegalStateException: shut",
    fine: () => "i1",
  });
  const object = new JavaReference("o0");
  await expect(java.call(object, "missing")).rejects.toThrow(
    new JavaError("missing: py4j.Py4JException: no method missing"),
  );
  await expect(java.call(object, "thrown")).rejects.toThrow("thrown: java.lang.IllegalStateException: shut");
  expect(await java.call(object, "fine")).toBe(1);
});

test("a reply that does not come ends the connection", async () => {
  const java = await connected({}, 100);
  const asked = [java.call(new JavaReference("o0"), "silent"), java.call(new JavaReference("o0"), "next")];
  for (const question of asked) await expect(question).rejects.toThrow("no reply within 0.1 s");
});

test("a gateway that goes ends every command", async () => {
  const java = await connected({});
  const asked = java.call(new JavaReference("o0"), "silent");
  const refused = expect(asked).rejects.toThrow(/^connection (closed|lost)/);
  await gateway!.close();
  await refused;
});

test("nobody listening is one line", async () => {
  await expect(Py4jConnection.connect(1, 1000)).rejects.toThrow(/^cannot connect: /);
});
