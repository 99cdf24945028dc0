import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { liveGame, rows } from "../../../test/support/alfworld-games.ts";
import { buildCli, runCli, startCli } from "../../../test/support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-live-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const name = "made_look_at_obj_in_light-19.tw-pddl";
const { feedback } = rows<{ game: string; feedback: string }>("live/alfworld/traces.jsonl.gz").find(
  ({ game }) => game === name,
)!;
const game = join(folder, name);
writeFileSync(game, JSON.stringify(liveGame(name, feedback)));

const written = (file: string, content: string): string => {
  writeFileSync(join(folder, file), content);
  return join(folder, file);
};
const fixture = (path: string) => join(import.meta.dirname, "../../../test/fixtures/models", path);

describe("gcopd prompt", () => {
  const prompt = (...more: string[]) =>
    runCli("prompt", "--environment", "alfworld", "--purpose", "train", "--game", game, ...more);

  it("prints what a model reads after some actions, without help among the commands", async () => {
    const actions = Array.from({ length: 6 }, () => '"inventory"\n').join("");
    const { code, out } = await prompt("--actions", written("actions.jsonl", actions));
    expect(code).toBe(0);
    expect(out).toContain("You have made 6 decision(s) so far. The last 5,");
    expect(out.match(/did: inventory/g)).toHaveLength(5);
    const [, listed] = /^Commands you can give now: (.*)$/m.exec(out)!;
    expect(listed!.split("; ")).toContain("look");
    expect(listed!.split("; ")).not.toContain("help");
  });

  it("takes another text, and refuses a template that does not fit", async () => {
    const template = {
      format: "gcopd.prompt.v1",
      message: "{task}|{history}{observation}|{admissible_commands}",
      history: "{pairs}",
      pair: "{observation}{action}",
      unreadable_action: "?",
      lists: { admissible_commands: "," },
    };
    const own = await prompt("--template", written("own.json", JSON.stringify(template)));
    expect(own.out).toMatch(/^[^|]+\|[^|]+\|[^;]*\n$/);
    const { message: _, ...rest } = template;
    const bad = await prompt("--template", written("bad.json", JSON.stringify(rest)));
    expect(bad.code).toBe(1);
    expect(bad.err).toContain("bad.json, message: ");
  });
});

describe("gcopd collect and evaluate", () => {
  const config = {
    environment: { name: "alfworld", games: name, max_decisions: 2, max_tokens: 2 },
    model: fixture("tiny-a"),
    tokenizer: fixture("tokenizer"),
    device: "cpu",
  };
  const run = (command: string, into: string, more: object) =>
    runCli(
      command,
      "--config",
      written("config.json", JSON.stringify({ ...config, ...more })),
      "--out",
      into,
    );
  const figures = (into: string) => JSON.parse(readFileSync(join(folder, into, "results.json"), "utf8"));

  it("play with a model folder", async () => {
    const library = join(folder, "library");
    const collected = await run("collect", library, { repetitions: 2, top_k: 3 });
    expect(collected.err).toContain("sources.jsonl: 2 executions of 1 task, 0 successful");
    expect(collected.code).toBe(0);
    // No walkthrough in this game, so that the sampled executions are all.
    expect(readFileSync(join(library, "sources.jsonl"), "utf8").trimEnd().split("\n")).toHaveLength(2);
    const { code, out } = await run("evaluate", join(folder, "figures"), { seeds: [0, 1] });
    expect(code).toBe(0);
    expect(out).toMatch(/^success rate 0\.0 ± 0\.0 % .*, rounds 2\.0 ± 0\.0; 1 task × 2 seeds\n$/);
    expect(figures("figures")).toMatchObject({ tasks: 1, seeds: [0, 1], rounds: { mean: 2, sd: 0 } });
  });

  it("evaluate to the same files after a process was killed", async () => {
    const more = { seeds: [0, 1, 2, 3, 4, 5], at_once: 2 };
    const [whole, killed] = [join(folder, "whole"), join(folder, "killed")];
    expect((await run("evaluate", whole, more)).code).toBe(0);

    const script = await buildCli("evaluate");
    try {
      const args = ["evaluate", "--config", join(folder, "config.json"), "--out", killed];
      const { child, ended } = startCli(script, args);
      const progress = join(killed, "progress.jsonl");
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
      const played = () => existsSync(progress) && readFileSync(progress, "utf8").includes('"type":"end"');
      while (!hasEnded() && !played()) await pause(5);
      child.kill("SIGKILL");
      await ended;
    } finally {
      rmSync(join(script, ".."), { recursive: true, force: true });
    }
    expect((await run("evaluate", killed, more)).code).toBe(0);
    expect(figures("killed")).toMatchObject({ tasks: 1, seeds: more.seeds });
    for (const file of ["episodes.jsonl", "results.json", "run.json"])
      expect(readFileSync(join(killed, file), "utf8"), file).toBe(readFileSync(join(whole, file), "utf8"));
  });

  it("take their tasks from a file beside the config, and keep the list that they read", async () => {
    const made = { games: undefined, made: { count: 3, seed: 0, size: "small" } };
    const environment = (tasks: unknown) => ({ ...config.environment, ...made, tasks });
    await run("evaluate", join(folder, "all"), { environment: environment(undefined), seeds: [0] });
    expect(figures("all").tasks).toBe(3);
    const kept = (name: string) => JSON.parse(readFileSync(join(folder, name, "run.json"), "utf8"));
    const [first, , third] = kept("all").task_list;
    const evaluated = (file: string, text: string, out: string) => {
      written(file, text);
      return run("evaluate", join(folder, out), { environment: environment(file), seeds: [0] });
    };

    const some = await evaluated("split.txt", `${third}\n${first}\n`, "some");
    expect(some.code).toBe(0);
    expect(figures("some").tasks).toBe(2);
    expect(kept("some").task_list).toEqual([third, first]);
    // The same tasks are the same run, wherever they are named.
    const listed = { tasks: [third, first].map((gamefile) => ({ gamefile, request_seeds: {} })) };
    const released = await evaluated("split.json", JSON.stringify(listed), "some");
    expect(released.code).toBe(0);
    expect(released.out).toBe(some.out);
    expect(released.err).toContain("split.json: its request_seeds are not used");
    const named = await run("evaluate", join(folder, "some"), {
      environment: environment([third, first]),
      seeds: [0],
    });
    expect(named.out).toBe(some.out);

    const wrong = await evaluated("wrong.txt", `${first}\n\nmade/none\n`, "wrong");
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('wrong.txt, line 3: no game is named "made/none"; the first of 3 is ');
    expect((await evaluated("empty.txt", "\n", "wrong")).err).toContain("empty.txt: names no task");
    expect((await evaluated("twice.jsonl", '{"task":"a"}\n{"task":"a"}', "wrong")).err).toContain(
      'twice.jsonl, line 2: "a" is named twice; line 1 has it already',
    );
    const none = await run("evaluate", join(folder, "wrong"), { environment: environment("no.txt") });
    expect(none.err).toContain("no.txt: ");
    const form = { name: "scienceworld", simulator: "x.jar", tasks: "form.txt" };
    written("form.txt", "boil|1|easy\nboil\n");
    expect((await run("evaluate", join(folder, "wrong"), { environment: form })).err).toContain(
      "form.txt, line 2: expected TASK|VARIATION|SIMPLIFICATION",
    );
    expect(existsSync(join(folder, "wrong"))).toBe(false);
  });

  it("train on policy: fresh episodes for each batch, with p_old as sampled and evidence from the library", async () => {
    const made = { games: undefined, made: { count: 1, seed: 7 } };
    const plans = await run("collect", join(folder, "plans"), {
      repetitions: 1,
      environment: { ...config.environment, ...made },
    });
    expect(plans.code).toBe(0);
    const training = {
      model: undefined,
      environment: { ...config.environment, ...made, max_decisions: 1 },
      library: join(folder, "plans", "sources.jsonl"),
      teacher: fixture("tiny-b"),
      student: config.model,
      method: "gc-opd+ga",
      epochs: [0, 1],
    };
    const { code, err } = await run("train", join(folder, "run"), training);
    expect(err).toContain(": 1 task, 1 step, on policy; ");
    expect(code).toBe(0);
    const events = readFileSync(join(folder, "run", "events.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const of = (wanted: string) => events.filter(({ type }) => type === wanted);
    expect(of("rollout")).toMatchObject([{ episodes: 1, decisions: 1 }]);
    expect(of("scored")).toMatchObject([{ rolloutPolicy: "recorded", successReferences: 1 }]);

    const both = await run("train", join(folder, "both"), { ...training, episodes: "e.jsonl" });
    expect(both.err).toMatch(/config\.json, episodes: is of recorded episodes/);
    const neither = await run("train", join(folder, "neither"), { ...training, environment: undefined });
    expect(neither.err).toMatch(/config\.json, episodes: missing: name recorded episodes/);
  });

  it("name the key that is wrong", async () => {
    const { code, err } = await run("evaluate", join(folder, "bad"), { seeds: [1, 1] });
    expect(code).toBe(1);
    expect(err).toMatch(/config\.json, seeds: expected each one once/);
    for (const command of ["collect", "evaluate"]) {
      const nowhere = await run(command, join(folder, "bad"), { model: "nowhere" });
      expect(nowhere.err).toMatch(/config\.json, model: \S+nowhere: no such folder\n$/);
    }
    for (const [environment, message] of [
      [{ name: "scienceworld" }, "simulator: missing; scienceworld is opened from it"],
      [{ name: "webshop", made: { count: 1, seed: 0, world: 1 } }, "made.world: does not apply to webshop"],
    ] as const)
      for (const command of ["collect", "evaluate"]) {
        const placed = await run(command, join(folder, "bad"), { environment });
        expect(placed).toMatchObject({ code: 1 });
        expect(placed.err).toContain(`config.json, environment.${message}`);
      }
  });
});
