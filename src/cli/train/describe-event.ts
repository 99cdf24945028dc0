import { spentWords } from "../../core/loop/budget.ts";
import type { TrainEvent } from "../../core/loop/events.ts";
import { startedPolicy } from "../../core/loop/train-config.ts";
import { plainLine } from "../../core/plain-text.ts";
import { countOf, plural } from "../../core/plural.ts";
import type { EngineInfo } from "../../core/ports.ts";
import { servedWords } from "../../engine/remote/index.ts";
import { figuresText } from "../live/figures-text.ts";

const figure = (value: number): string => (value === 0 ? "0" : value.toPrecision(4));

function modelWords(teacher: EngineInfo | null, student: EngineInfo): string {
  const own = teacher !== null && teacher.served === undefined;
  const words =
    teacher === null
      ? "no teacher; student"
      : own
        ? `teacher ${teacher.parameters} parameters, student`
        : `teacher ${servedWords(teacher)}; student`;
  if (student.served !== undefined) return `${words} ${servedWords(student)}`;
  const { parameters, device, adapter, dtype } = student;
  return `${words}${own ? "" : " parameters"} ${parameters}, on ${device} (${adapter}), ${dtype}`;
}

/**
 * One line for a person, or null for events that say nothing new on a terminal.
 *
 * @param resume what lets a stopped run go on
 */
export function describeEvent(event: TrainEvent, resume = "the same command"): string | null {
  switch (event.type) {
    case "start": {
      const { method, units, unit, steps, teacher, student, parent, resumedFrom } = event;
      const from =
        resumedFrom !== null
          ? `, continued after step ${resumedFrom}`
          : parent !== null
            ? `, from step ${parent.step} of ${parent.name}`
            : "";
      const policy = startedPolicy(unit, event);
      return (
        `${method}: ${countOf(units, unit)}, ${countOf(steps, "step")}${from}` +
        `${policy === null ? "" : `, ${policy}`}; ` +
        modelWords(teacher, student)
      );
    }
    case "stage": {
      const { stage, name, epochs, evidence } = event;
      const shown = evidence.kind === "none" ? "no evidence" : `evidence: ${evidence.control}`;
      return `stage ${stage + 1}, ${name}: ${countOf(epochs, "epoch")}, ${shown}`;
    }
    case "rollout": {
      const { episodes, decisions, successes, replayed, depth } = event;
      return (
        `  sampled ${countOf(episodes, "episode")}, ${countOf(decisions, "decision")}, ${successes} successful` +
        `${replayed === undefined ? "" : `, behind ${countOf(replayed, "replayed decision")}`}` +
        `${depth === undefined ? "" : `, cut after ${countOf(depth, "decision")}`}`
      );
    }
    case "excluded": {
      const { episodes, of } = event;
      const noTurn = episodes.filter((each) => each.noTurn).length;
      const technical = episodes.length - noTurn;
      const what = [
        ...(technical === 0 ? [] : [`${technical} of ${countOf(of, "episode")} ended for technical reasons`]),
        ...(noTurn === 0 ? [] : [`${noTurn} of ${countOf(of, "episode")} had nothing to train on`]),
      ].join(", ");
      const named = episodes.map(({ episode, reason, noTurn }) =>
        reason === null || noTurn ? episode : `${episode} (${reason})`,
      );
      const then = episodes.length === of ? "no step is taken" : "they are left out of the update";
      return plainLine(`  ${what}: ${then}: ${named.slice(0, 3).join(", ")}${named.length > 3 ? ", …" : ""}`);
    }
    case "scored": {
      const policy = event.rolloutPolicy === "recorded" ? "" : `; p_old: ${event.rolloutPolicy} student`;
      const cut =
        event.cutPrompts === 0
          ? ""
          : `; ${countOf(event.cutPrompts, "student prompt")} cut to their last tokens`;
      const { unverifiedSuccesses, unverifiedFailures, unknownOutcomes = 0 } = event;
      const claims = (count = 0) => (count === 0 ? "" : ` (${count} unverified)`);
      const unknown = unknownOutcomes === 0 ? "" : `, of unknown outcome ${unknownOutcomes}`;
      return (
        `  scored ${countOf(event.decisions, "decision")}, ${countOf(event.tokens, "token")} in ${event.seconds.toFixed(1)} s` +
        ` (successful references ${event.successReferences}${claims(unverifiedSuccesses)}, ` +
        `failed ${event.failureReferences}${claims(unverifiedFailures)}${unknown})${policy}${cut}`
      );
    }
    case "bridged": {
      const { accepted, refused, invalid, seconds } = event;
      return `  bridges: ${accepted} accepted, ${refused} refused, ${invalid} invalid in ${seconds.toFixed(1)} s`;
    }
    case "updated": {
      const { metrics, step, seconds } = event;
      return (
        `step ${step}: loss ${figure(metrics.loss)}, gradient norm ${figure(metrics.gradNorm)}, ` +
        `mean advantage ${figure(metrics.meanAdvantage)}, log p ${figure(metrics.meanLogprob)}, ` +
        `clipped ${(100 * metrics.clipFraction).toFixed(1)} %, ${seconds.toFixed(1)} s`
      );
    }
    case "evaluated": {
      const { step, technical, seconds } = event;
      const left = new Set(technical.map(({ task }) => task)).size;
      return (
        `evaluation after step ${step}: ${figuresText(event)} in ${seconds.toFixed(1)} s` +
        (left === 0
          ? ""
          : `; ${left} more ${plural(left, "task")} left out, since an episode ended for a technical reason`)
      );
    }
    case "held-out": {
      const all = event.decisions.map(
        ({ episode, decision, logprob, whole }) =>
          `${episode}, decision ${decision}: ${figure(logprob)}${whole ? " (the whole response)" : ""}`,
      );
      return plainLine(
        `  watched after step ${event.step}, log p of the action: ${all.slice(0, 3).join("; ")}${all.length > 3 ? "; …" : ""}`,
      );
    }
    case "damaged":
      return `${event.checkpoint} is damaged (${event.reason}); going on after step ${event.step}, from the one before`;
    case "fault":
      return `${event.message} Going on after step ${event.step} ${event.fault === "server" ? "with a new model of the server" : "on a reopened device"} (${event.attempt} of ${event.attempts})`;
    case "stopped":
      if (event.budget !== undefined)
        return `ended by its budget after step ${event.step} of ${event.steps}: ${spentWords(event.budget)}; with a larger budget it goes on from here`;
      return `stopped after step ${event.step} of ${event.steps}; ${resume} goes on from here`;
    case "done":
      return `done after step ${event.step}`;
    case "epoch": {
      const { epoch, batches, repeating } = event;
      return repeating === 0
        ? null
        : `epoch ${epoch + 1}: ${repeating} of ${batches} batches hold a task more than once: there are too few tasks`;
    }
    case "step":
    case "checkpoint":
      return null;
  }
}
