/** Which of the dropped files are games. */

import type { PathFile } from "../base/dropped-files.ts";
import { firstLine } from "../data/files/path-files.ts";

const isJson = ({ path }: PathFile): boolean => /\.json$/i.test(path);

/** What ALFWorld has beside a game: of no use without it. */
const BESIDE_GAME = /(^|\/)(traj_data\.json|initial_state\.pddl)$/;

/** A what-if's line is far shorter; catalogues are not read here. */
const FIRST_BYTES = 2 ** 20;

/** A catalogue of a shop, judging by its name and beginning. */
async function mayBeCatalogue(each: PathFile): Promise<boolean> {
  if (!isJson(each) || /(^|\/)config\.json$/i.test(each.path)) return false;
  return (await firstLine({ path: each.path, file: each.file.slice(0, FIRST_BYTES) })) !== "what-if";
}

/**
 * Games (`.tw-pddl`) are games anywhere. On the Play view a drop of nothing but catalogues (`.json`) is one of games, too.
 * All other files are `rest`.
 */
export async function gamesAmong(
  files: readonly PathFile[],
  onPlayView: boolean,
): Promise<{ games: PathFile[]; rest: PathFile[] }> {
  const games = files.filter(({ path }) => path.endsWith(".tw-pddl"));
  if (games.length > 0)
    return {
      games,
      rest: files.filter((each) => !games.includes(each) && !BESIDE_GAME.test(each.path)),
    };
  const shops =
    onPlayView && files.every(isJson) && (await Promise.all(files.map(mayBeCatalogue))).every(Boolean);
  return shops ? { games: [...files], rest: [] } : { games: [], rest: [...files] };
}
