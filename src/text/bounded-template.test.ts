import { readFileSync } from "node:fs";
import { Template } from "@huggingface/jinja";
import { describe, expect, it } from "vitest";
import { modelFixture } from "../../test/support/golden.ts";
import { compileTemplate } from "./bounded-template.ts";

const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "<think>a</think> b" },
  { role: "assistant", content: "<think>\nwhy\n</think>\n\nyes" },
];
const render = (text: string, variables: Record<string, unknown> = {}) => compileTemplate(text)(variables);

describe("what a template may do", () => {
  it.each(["tokenizer", "tokenizer-qwen3_5"])("the template of %s renders as without a budget", (folder) => {
    const config = JSON.parse(readFileSync(modelFixture(`${folder}/tokenizer_config.json`), "utf8")) as {
      chat_template: string;
    };
    for (const add_generation_prompt of [true, false]) {
      const variables = { messages, add_generation_prompt, enable_thinking: false };
      expect(render(config.chat_template, variables)).toBe(
        new Template(config.chat_template).render(variables),
      );
    }
  });

  it.each([
    "{% for i in range(3, 10, 3) %}{{ i }}{% if i > 5 %}{% break %}{% endif %}{% endfor %}",
    "{{ range(5, 0, -2) | join('-') }} {{ True }} {{ None }} {{ strftime_now('%d %B %Y %%') }}",
    "{{ 'a b'.replace(' ', '_') | upper }} {{ 'x\\ny' | indent(2) }} {{ messages | tojson(indent=2) }}",
    "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}{% set ns = namespace(n=0) %}{% for x in [1, 2] %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}",
    "{{ messages[::-1][0].role }}{{ missing }}{% for k, v in messages[0].items() %}{{ k }}{% else %}none{% endfor %}",
  ])("as the interpreter alone: %s", (text) => {
    expect(render(text, { messages })).toBe(new Template(text).render({ messages }));
  });

  it("renders a long chat and a long message", () => {
    const { chat_template: text } = JSON.parse(
      readFileSync(modelFixture("tokenizer/tokenizer_config.json"), "utf8"),
    ) as { chat_template: string };
    const chat = Array.from({ length: 500 }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: "word ".repeat(100),
    }));
    expect(render(text, { messages: chat }).length).toBeGreaterThan(250_000);
    const long = [{ role: "user", content: "word ".repeat(200_000) }];
    expect(render(text, { messages: long }).length).toBeGreaterThan(1_000_000);
  });

  it("gives the template's own refusal", () => {
    expect(() => render("{{ raise_exception('no tools') }}")).toThrow("no tools");
  });
});

describe("what no template may do", () => {
  const DOUBLE =
    "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
  const nested = (times: number) =>
    Array.from({ length: times }, (_, n) => `{% set a${n + 1} = [a${n}, a${n}] %}`).join("");
  const NESTED = nested(40);
  it.each([
    ["{% for i in range(1000000000) %}{% endfor %}", "range() of more than 10000 elements"],
    ["{{ range(0, 1, 0.000001) }}", "range() of more than 10000 elements"],
    [
      "{% for i in range(9000) %}{% for j in range(9000) %}{% endfor %}{% endfor %}",
      "takes more than 250000 steps",
    ],
    ["{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", "nests deeper than 400"],
    [
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
      "takes more than 250000 steps",
    ],
    // Each of these took 8 to 20 seconds, or more than 1.5 GB, before what it demands was counted.
    [
      `{% set a0 = [1] %}${nested(18)}{{ a18 | tojson(indent=64) | length }}`,
      "handles more than 134217728 characters",
    ],
    [
      "{% set l = range(10000) %}{% for i in range(10000) %}{% set s = l | sort(reverse=true) %}{% endfor %}",
      "handles more than 134217728 characters",
    ],
    [
      `${DOUBLE.replace("60", "20")}{% for i in range(5) %}{{ ns.x[::-1] | length }}{% endfor %}`,
      "handles more than 134217728 characters",
    ],
    [DOUBLE, "makes a text or list of more than 16777216 characters or values"],
    [`{% set a0 = 'x' %}${NESTED}{{ a40 | tojson }}`, "makes a text or list of more than 16777216"],
    [`{% set a0 = 'x' %}${NESTED}{{ a40 == 'x' }}`, "makes a text or list of more than 16777216"],
    [
      "{% set ns = namespace() %}{% set other = namespace() %}{% set ns.a = other %}{{ ns.a }}",
      "a namespace inside of another value",
    ],
    ["{{ x.replace('a', x) }}", "replace takes values that are written out, of at most 64 characters"],
    ["{{ x | replace('a', x) }}", "replace takes values that are written out"],
    ["{% filter replace('a', x) %}a{% endfilter %}", "replace takes values that are written out"],
    [`{{ x.replace('a', '${"b".repeat(65)}') }}`, "replace takes values that are written out"],
    ["{% set f = x.replace %}{{ f('a', x) }}", "replace is called where it is named"],
    ["{% set n = 'replace' %}{{ x[n]('a', x) }}", "a function is called by its own name alone"],
    ["{{ [1, 2] | join(x) }}", "join takes values that are written out"],
    ["{{ x | indent(1000000000) }}", "indent takes values that are written out"],
    ["{{ messages | tojson(indent=1000000000) }}", "tojson takes values that are written out"],
    [
      "{% for i in range(1000) %}{% if 'b' in x %}{% endif %}{% endfor %}",
      "handles more than 134217728 characters",
    ],
    [" ".repeat(2 ** 18 + 1), "longer than 262144 characters"],
    [`{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`, "call stack"],
    [`{{ ${"not ".repeat(2000)}1 }}`, "nests deeper than 400"],
  ])("%.80s", (text, fault) => {
    expect(() => render(text, { messages, x: "a".repeat(1_000_000) })).toThrow(fault);
  });
});
