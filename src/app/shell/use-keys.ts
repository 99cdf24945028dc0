/** The keyboard commands, wherever the focus is. */
import { useEffect } from "react";
import { goToDecision, goToTask, navigate } from "../place/navigate.ts";
import { episodeAt } from "../session/follow-place.ts";
import { cancelScoring, scoreDecision } from "../session/score.ts";
import { startTraining } from "../session/training.ts";
import { getUi, setUi } from "../state/store.ts";
import { visibleTasks } from "../views/library/sort-tasks.ts";
import { type Command, commandFor } from "./keys.ts";

export function useKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const { key, ctrlKey, metaKey, altKey } = event;
      const command = commandFor({ key, ctrlKey, metaKey, altKey, typing: isTyping(event.target) });
      if (command === null || (getUi().helpOpen && command !== "help" && command !== "escape")) return;
      if (run(command)) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

/** In a text field letters are text. A slider or a menu takes arrows, but no letters of ours. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["range", "checkbox", "radio", "button"].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
  );
}

/** Returns whether the command did something. */
function run(command: Command): boolean {
  const { place, helpOpen } = getUi();
  switch (command) {
    case "library":
    case "task":
    case "tokens":
    case "training":
    case "statistics":
      navigate({ view: command }, "push");
      return true;
    case "next-decision":
      return step(1);
    case "previous-decision":
      return step(-1);
    case "next-task":
      return stepTask(1);
    case "previous-task":
      return stepTask(-1);
    case "score":
      if (getUi().decision === null) return false;
      if (place.view !== "tokens") navigate({ view: "tokens" }, "push");
      void scoreDecision();
      return true;
    case "update":
      // The first press only shows what would be done.
      if (place.view !== "training") navigate({ view: "training" }, "push");
      else void startTraining();
      return true;
    case "filter":
      navigate({ view: "library" }, place.view === "library" ? "replace" : "push");
      requestAnimationFrame(() => document.getElementById("task-filter")?.focus());
      return true;
    case "help":
      setUi({ helpOpen: !helpOpen });
      return true;
    case "escape":
      return leave();
  }
}

function step(by: number): boolean {
  const { task, place } = getUi();
  const episode = task === null ? null : episodeAt(task, place);
  if (episode === null) return false;
  const decision = place.decision + by;
  if (decision < 0 || decision >= episode.decisions) return false;
  goToDecision(decision);
  return true;
}

function stepTask(by: number): boolean {
  const { library, place } = getUi();
  const tasks = visibleTasks(library?.tasks ?? [], { ...place, filter: "" });
  const at = tasks.findIndex(
    ({ task, environment }) => task === place.task && (place.environment ?? environment) === environment,
  );
  const next = tasks[at < 0 ? 0 : at + by];
  if (next === undefined) return false;
  goToTask(next.task, next.environment);
  return true;
}

/** What is on top goes first. */
function leave(): boolean {
  const { helpOpen, place, scoring, notice } = getUi();
  if (helpOpen) setUi({ helpOpen: false });
  else if (
    document.activeElement instanceof HTMLInputElement &&
    document.activeElement.id === "task-filter"
  ) {
    navigate({ filter: "" });
    document.activeElement.blur();
  } else if (scoring.status === "running") void cancelScoring();
  else if (place.visit !== null) navigate({ visit: null });
  else if (place.token !== null) navigate({ token: null });
  else if (notice !== null) setUi({ notice: null });
  else return false;
  return true;
}
