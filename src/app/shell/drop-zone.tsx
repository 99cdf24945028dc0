/** Files and folders dropped anywhere on the page. */
import { type ReactNode, useEffect } from "react";
import { droppedFiles, type PathFile } from "../base/dropped-files.ts";
import { openGames } from "../compute/games/games.ts";
import { player } from "../compute/games/play.ts";
import { openDropped } from "../compute/open/open.ts";
import { getUi } from "../compute/store.ts";
import { navigate } from "../data/navigate.ts";
import { gamesAmong } from "./dropped-games.ts";
import { setShell, useShell } from "./shell-state.ts";

/** Games go where they are played; everything else is opened as what it is. */
async function openAny(files: PathFile[]): Promise<void> {
  const { games, rest } = await gamesAmong(files, getUi().place.view === "play");
  if (games.length > 0) {
    navigate({ view: "play" }, "push");
    if (await openGames(games)) await player.playWaiting();
  }
  if (rest.length > 0) await openDropped(rest);
}

export function DropZone({ children }: { children: ReactNode }) {
  const dragging = useShell((shell) => shell.dragging);
  useEffect(() => {
    let depth = 0;
    const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      depth += 1;
      setShell({ dragging: true });
    };
    const leave = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      depth -= 1;
      if (depth <= 0) setShell({ dragging: false });
    };
    const over = (event: DragEvent): void => {
      if (carriesFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      depth = 0;
      setShell({ dragging: false });
      if (event.dataTransfer === null || !carriesFiles(event)) return;
      event.preventDefault();
      void droppedFiles(event.dataTransfer).then(openAny);
    };
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, []);
  return (
    <>
      {children}
      {dragging && (
        <div className="drop-overlay" aria-hidden="true">
          Drop sources and episodes, recordings to import, a model folder, or games
        </div>
      )}
    </>
  );
}
