/** What a run trains on: recorded responses, the same tasks sampled again, or games that the student plays. */
import type { ReactNode } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { Labelled } from "../../base/labelled.tsx";
import { madeKeysOf } from "../../compute/training/training-config.ts";
import {
  chooseResponses,
  DATA_CHOICES,
  type DataChoice,
  GAMES_CHOICES,
  type GamesChoice,
  gamesChoice,
  gamesChoices,
  RESPONSES,
  type Responses,
  responsesOf,
  setTrainingForm,
  useTrainingForm,
} from "../../compute/training/training-form.ts";
import type { TaskName } from "../../data/model.ts";
import { EnvironmentSelect } from "./environment-select.tsx";

const TITLES: Record<Responses, string> = {
  recorded: "as recorded",
  sample: "sampled again in the recorded environment",
  live: "played live",
};

const DATA: Record<DataChoice, string> = {
  episode: "this episode",
  task: "this task’s episodes",
  library: "the whole library",
  files: "files on the worker’s disk",
};

const SAMPLE_KEYS = ["sample.temperature", "sample.max_decisions", "sample.max_tokens"];

interface FieldsProps {
  field: (key: string) => ReactNode;
  disabled: boolean;
  openGames: readonly TaskName[];
}

export function ResponsesFields({ field, disabled, openGames }: FieldsProps) {
  const form = useTrainingForm();
  const responses = responsesOf(form);
  const there = form.where !== "page";
  return (
    <>
      <Labelled label="Responses">
        <select
          value={responses}
          disabled={disabled}
          onChange={({ target }) => isOneOf(RESPONSES, target.value) && chooseResponses(target.value)}
        >
          {RESPONSES.map((each) => (
            <option key={each} value={each}>
              {TITLES[each]}
            </option>
          ))}
        </select>
      </Labelled>
      {responses === "live" ? (
        <LiveFields field={field} disabled={disabled} openGames={openGames} />
      ) : (
        <DataField disabled={disabled} label="Train on" choices={DATA_CHOICES} titles={DATA} />
      )}
      {responses === "sample" && SAMPLE_KEYS.map(field)}
      {form.data === "files" && there && field("library")}
      {form.data === "files" && there && responses !== "live" && field("episodes")}
    </>
  );
}

function DataField({
  disabled,
  label,
  choices,
  titles,
}: {
  disabled: boolean;
  label: string;
  choices: readonly DataChoice[];
  titles: Readonly<Record<DataChoice, string>>;
}) {
  const { data, where } = useTrainingForm();
  return (
    <Labelled label={label}>
      <select
        value={choices.includes(data) ? data : "library"}
        disabled={disabled}
        onChange={({ target }) =>
          isOneOf(DATA_CHOICES, target.value) && setTrainingForm({ data: target.value })
        }
      >
        {choices
          .filter((choice) => where !== "page" || choice !== "files")
          .map((choice) => (
            <option key={choice} value={choice}>
              {titles[choice]}
            </option>
          ))}
      </select>
    </Labelled>
  );
}

const LIBRARIES: Readonly<Record<DataChoice, string>> = {
  ...DATA,
  library: "the open library",
};

/** The fields of made games of the environment that is named at `at`. */
export function madeKeys(at: string, texts: Readonly<Record<string, string>>): string[] {
  const own = madeKeysOf(at, texts);
  return own.length === 0 ? [] : ["made.count", "made.seed", ...own].map((key) => `${at}.${key}`);
}

const SERVER_KEYS = ["server", "server_settings", "goals.first", "goals.count"];

function LiveFields({ field, disabled, openGames }: FieldsProps) {
  const form = useTrainingForm();
  const { where, texts } = form;
  const there = where !== "page";
  const name = texts["environment.name"] ?? "";
  const open = openGames.filter(({ environment }) => environment === name).length;
  const games: Record<GamesChoice, string> = {
    open: `the open ones (${open})`,
    made: "made when the run starts",
    files: name === "scienceworld" ? "its simulator" : "files on the worker’s disk",
    server: "a running server",
  };
  const choice = gamesChoice(form);
  return (
    <>
      <EnvironmentSelect at="environment" label="Environment" disabled={disabled} />
      <Labelled label="Games">
        <select
          value={choice}
          disabled={disabled}
          onChange={({ target }) =>
            isOneOf(GAMES_CHOICES, target.value) && setTrainingForm({ games: target.value })
          }
        >
          {gamesChoices(form).map((each) => (
            <option key={each} value={each}>
              {games[each]}
            </option>
          ))}
        </select>
      </Labelled>
      {choice === "made" && madeKeys("environment", texts).map(field)}
      {choice === "server" && SERVER_KEYS.map((key) => field(`environment.${key}`))}
      {choice === "files" && field(name === "scienceworld" ? "environment.simulator" : "environment.games")}
      {["tasks", "max_decisions", "max_tokens"].map((key) => field(`environment.${key}`))}
      {there && field("environment.prompt")}
      {there && (
        <DataField disabled={disabled} label="Library" choices={["library", "files"]} titles={LIBRARIES} />
      )}
      <p className="note">
        The student plays each task of a batch as it is before the step. Evidence is retrieved from{" "}
        {there ? "the library" : "the open library"}.
      </p>
    </>
  );
}
