/** Games made here (number, first seed, size and type), and games from files. */
import { type FormEvent, type ReactNode, useState } from "react";
import { TASK_TYPES } from "../../../core/environment/alfworld/task-types.ts";
import {
  type MadeConfig,
  type MadeEnvironment,
  MOST_PRODUCTS,
  ROOM_SIZES,
  type RoomSize,
  SEED_LIMIT,
} from "../../../core/environment/made-config.ts";
import type { EnvironmentName } from "../../../core/loop/live-config.ts";
import { isOneOf } from "../../../core/one-of.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { PickButton } from "../../base/pick-button.tsx";
import { makeGames, openGames, stopOpeningGames, useGames } from "./games.ts";
import { Count } from "./internal/count.tsx";
import { ScienceTasks } from "./internal/science-tasks.tsx";
import { player } from "./play.ts";

/** The environments that can be played here: what each is called, and how its games are chosen. */
const WORLDS = {
  alfworld: { title: "Household (ALFWorld)", choose: <MakeGames environment="alfworld" /> },
  webshop: { title: "Shop (WebShop’s pages)", choose: <MakeGames environment="webshop" /> },
  scienceworld: { title: "ScienceWorld, on the worker", choose: <ScienceTasks /> },
} satisfies Partial<Record<EnvironmentName, { title: string; choose: ReactNode }>>;
const WORLD_NAMES = Object.keys(WORLDS) as (keyof typeof WORLDS)[];

/** Most games that a press makes: their tasks are a list that people look at. */
const MOST = 1000;

/** The games to play in: made here, opened from files, or the tasks of the worker's simulator. */
export function ChooseGames() {
  const [world, setWorld] = useState<keyof typeof WORLDS>("alfworld");
  return (
    <>
      <label className="form-field">
        <span className="caption">World</span>
        <select
          value={world}
          onChange={({ target }) => isOneOf(WORLD_NAMES, target.value) && setWorld(target.value)}
        >
          {WORLD_NAMES.map((name) => (
            <option key={name} value={name}>
              {WORLDS[name].title}
            </option>
          ))}
        </select>
      </label>
      {WORLDS[world].choose}
      <OpeningLine />
    </>
  );
}

function MakeGames({ environment }: { environment: MadeEnvironment }) {
  const busy = useGames(({ opening }) => opening !== null);
  const [size, setSize] = useState<RoomSize>("small");
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const type = String(form.get("type"));
    const world = String(form.get("world") ?? "").trim();
    const made: MadeConfig = {
      count: Number(form.get("count")),
      seed: Number(form.get("seed")),
      ...(environment === "alfworld" ? { size } : {}),
      ...(isOneOf(TASK_TYPES, type) ? { type } : {}),
      ...(world === "" ? {} : { world: Number(world) }),
      ...(environment === "webshop" ? { products: Number(form.get("products")) } : {}),
    };
    if (await makeGames(environment, made)) await player.playWaiting();
  };
  return (
    <form className="make-games" aria-label="Make games" onSubmit={(event) => void make(event)}>
      <div className="make-row">
        <Count
          key={environment}
          name="count"
          label={environment === "webshop" ? "Shops" : "Games"}
          value={environment === "webshop" ? 1 : 12}
          most={environment === "webshop" ? 20 : MOST}
        />
        <Count name="seed" label="First seed" value={0} least={0} most={SEED_LIMIT - 1} />
        {environment === "webshop" && (
          <Count name="products" label="Products" value={200} most={MOST_PRODUCTS} />
        )}
      </div>
      {environment === "alfworld" && (
        <div className="make-row">
          <label className="form-field">
            <span className="caption">Size</span>
            <select
              value={size}
              onChange={({ target }) => isOneOf(ROOM_SIZES, target.value) && setSize(target.value)}
            >
              {ROOM_SIZES.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label className="form-field">
            <span className="caption">Type</span>
            <select name="type" defaultValue="">
              <option value="">all types in turn</option>
              {TASK_TYPES.map((type) => (
                <option key={type}>{type}</option>
              ))}
            </select>
          </label>
          {size === "mini" && (
            <Count
              name="world"
              label="Seed of the world"
              least={0}
              most={SEED_LIMIT - 1}
              absent="no habits"
            />
          )}
        </div>
      )}
      <div className="open-buttons">
        <button type="submit" disabled={busy}>
          Make games
        </button>
        <OpenGames />
      </div>
    </form>
  );
}

/** Files, or a folder of them. */
export function OpenGames() {
  const busy = useGames(({ opening }) => opening !== null);
  const open = async (picked: PathFile[]): Promise<void> => {
    if (await openGames(picked)) await player.playWaiting();
  };
  return (
    <>
      <PickButton
        label="Game files and catalogues"
        testId="pick-games"
        accept=".tw-pddl,.json"
        disabled={busy}
        onPick={open}
      >
        Open games…
      </PickButton>
      <PickButton folder label="A folder of games" testId="pick-game-folder" disabled={busy} onPick={open}>
        Open a folder of games…
      </PickButton>
    </>
  );
}

function OpeningLine() {
  const { opening, problem } = useGames();
  if (opening !== null)
    return (
      <p className="note" role="status">
        {opening.label}
        {opening.total > 0 && `: ${opening.done} of ${opening.total}`}{" "}
        <button type="button" onClick={stopOpeningGames}>
          Stop
        </button>
      </p>
    );
  return problem === null ? null : (
    <p className="run-line error" role="alert" data-testid="games-problem">
      {problem}
    </p>
  );
}
