/** What the keys of a training's config need of each other. */
import { InputError } from "../errors.ts";
import { asksTeacher, needsLive, type Stage, stagesTaken } from "../method/index.ts";
import { configuredMethod, configuredTeacher, STUDENT_TEACHER } from "./configured-method.ts";
import { checkSignals } from "./signal-config.ts";
import { isServed, type TrainConfig } from "./train-config.ts";

/**
 * What a schema alone cannot say of a config: it trains on episodes or in an environment, graph-conditioned stages need
 * a library, and ids are named once.
 *
 * @throws InputError with the key
 */
export function checkTrainConfig(config: TrainConfig): void {
  if (config.environment === undefined && config.episodes === undefined) {
    throw new InputError("missing: name recorded episodes, or an `environment` to play in", {
      key: "episodes",
    });
  }
  for (const key of ["episodes", "sample", "episode_ids", "limit"] as const) {
    if (config.environment !== undefined && config[key] !== undefined) {
      throw new InputError("is of recorded episodes: it does not go with `environment`", { key });
    }
  }
  if (config.evaluate !== undefined && (config.evaluate.environment ?? config.environment) === undefined) {
    throw new InputError("missing: name the environment that the student is measured in", {
      key: "evaluate.environment",
    });
  }
  const { watch } = config;
  if (watch !== undefined) {
    if ((watch.episodes ?? config.episodes) === undefined)
      throw new InputError("missing: name the episodes that the watched decisions are of", {
        key: "watch.episodes",
      });
    const names = watch.decisions.map(({ episode, decision }) => `${JSON.stringify(episode)}, ${decision}`);
    const again = names.findIndex((name, n) => names.indexOf(name) < n);
    if (again >= 0)
      throw new InputError(`${names[again]} is named twice`, { key: `watch.decisions[${again}]` });
  }
  for (const key of ["teacher_model", "calibrate_with"] as const) {
    if (config[key] !== undefined && !isServed(config.teacher)) {
      throw new InputError("only applies with the address of a server as `teacher`", { key });
    }
  }
  if (config.parent === undefined && config.first_epochs?.some((first) => first > 0)) {
    throw new InputError("needs `parent`, which took the earlier epochs", {
      key: "first_epochs",
    });
  }
  const teacher = configuredTeacher(config);
  if (teacher === STUDENT_TEACHER && config.tinker !== undefined && config.parent !== undefined) {
    throw new InputError("the student as its own teacher has its weights on the server: name a folder", {
      key: "teacher",
    });
  }
  const stages = stagesTaken(configuredMethod(config));
  if (config.library === undefined && stages.some(({ evidence }) => evidence.kind !== "none")) {
    throw new InputError("missing: graph-conditioned stages retrieve from it", { key: "library" });
  }
  if (config.library === undefined && stages.some(({ sampling }) => sampling?.kind === "prefix")) {
    throw new InputError("missing: the references that are replayed come from it", { key: "library" });
  }
  for (const stage of stages) checkStage(stage, config);
  checkSignals(stages, { teacher: isServed(config.teacher), student: config.tinker !== undefined });
  const twice = config.episode_ids?.find((id, n, all) => all.indexOf(id) < n);
  if (twice !== undefined) {
    throw new InputError(`${JSON.stringify(twice)} is named twice`, { key: "episode_ids" });
  }
}

/** What a stage needs of the rest of its run. */
function checkStage(stage: Stage, { environment, batch_size: batch }: TrainConfig): void {
  const { name, weights, reward, bridge, sampling } = stage;
  const refuse = (key: string, reason: string): never => {
    throw new InputError(`the stage ${JSON.stringify(name)} ${reason}`, { key });
  };
  const live = needsLive(stage);
  if (live !== null && environment === undefined)
    refuse("environment", `${live}: it needs a live environment, not recorded episodes`);
  if (environment !== undefined && sampling !== undefined && sampling.kind !== "adaptive-depth") {
    const { every } = sampling;
    if (typeof every !== "number" && every[environment.name] === undefined)
      refuse(
        "stages",
        `has no sampling.every for ${environment.name}, only for ${Object.keys(every).join(", ")}`,
      );
  }
  const reads = [
    ...(weights === undefined || weights.kind === "turn-balanced" ? [] : [`weights by ${weights.kind}`]),
    ...(sampling?.kind === "adaptive-depth" ? ["an adaptive depth"] : []),
    ...(bridge === undefined ? [] : ["a bridge"]),
  ];
  if (!asksTeacher(stage) && reads.length > 0)
    refuse("stages", `has ${reads.join(" and ")}, which the teacher's signal decides, and asks no teacher`);
  // The reward is of an episode, and these weights are of the student's own turns.
  const terms = [
    ...(reward === undefined ? [] : ["a reward"]),
    ...(weights === undefined || weights.kind === "turn-balanced" ? [] : [`weights by ${weights.kind}`]),
  ];
  if (bridge !== undefined && terms.length > 0)
    refuse("stages", `has a bridge beside ${terms.join(" and ")}, of which its row would get none`);
  if (reward !== undefined && batch < reward.group)
    refuse(
      "batch_size",
      `plays each task ${reward.group} times: expected at least as many, received ${batch}`,
    );
}
