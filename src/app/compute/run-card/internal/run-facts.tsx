/** What a run trains, and with what: one line of facts from its config and its start. */
import { configuredMethod } from "../../../../core/loop/configured-method.ts";
import type { TrainConfig } from "../../../../core/loop/train-config.ts";
import { countOf } from "../../../../core/plural.ts";
import { trueMinus } from "../../../base/format.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { checkConfig } from "../../runs/config-fields.ts";
import type { Run } from "../../runs/run.ts";
import { perStep } from "../../runs/run-differences.ts";
import { methodWords } from "../../training/training-form.ts";

export function RunFacts({ run }: { run: Run }) {
  const { config } = checkConfig(run.config);
  if (config === null) return null;
  return (
    <dl className="run-facts" data-testid="run-facts">
      {factsOf(config, run).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Name>{shownName(value, 200)}</Name>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function factsOf(config: TrainConfig, { figures: { start }, where, launched }: Run): [string, string][] {
  const { settings, seed, episode_ids: episodes, environment } = config;
  const stages = configuredMethod(config).stages.filter(({ epochs }) => epochs > 0);
  const device = start === null ? "" : start.student.adapter || start.student.device;
  return [
    ["student", start?.student.model ?? config.student],
    ["teacher", start?.teacher?.model ?? config.teacher ?? "none"],
    ["method", methodWords(config)],
    ["stages", stages.map(({ name, epochs }) => `${name}, ${countOf(epochs, "pass")}`).join("; then ")],
    [
      "trains on",
      environment !== undefined
        ? `live tasks of ${environment.name}`
        : episodes === undefined
          ? "all episodes"
          : episodes.length === 1
            ? episodes[0]!
            : countOf(episodes.length, "episode"),
    ],
    ["per step", countOf(perStep(config), environment === undefined ? "episode" : "task")],
    ["learning rate", trueMinus(String(settings.learning_rate))],
    ["seed", String(seed)],
    [
      "on",
      [launched === undefined ? (where === "page" ? "this page" : "the worker") : launched.target, device]
        .filter(Boolean)
        .join(", "),
    ],
  ];
}
