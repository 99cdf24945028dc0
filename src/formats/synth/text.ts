/** Texts of a wanted length that read like a simulator's: short sentences, long descriptions of rooms. */
import { FEEDBACK_LENGTHS, quantile } from "./statistics.ts";

const ROOMS = [
  "kitchen",
  "hallway",
  "workshop",
  "bathroom",
  "greenhouse",
  "art studio",
  "living room",
  "bedroom",
  "foundry",
  "outside",
];
const THINGS = [
  "a substance called air",
  "a glass jar (containing nothing)",
  "a thermometer, currently reading a temperature of 10 degrees celsius",
  "a stove, which is turned off. On the stove is: nothing",
  "a wood cup (containing a substance called water)",
  "a painting",
  "an orange",
  "a metal pot",
  "a self watering flower pot 3 (containing soil)",
  "a bee hive. The bee hive door is closed",
  "a light bulb, which is off",
  "a yellow wire",
  "a counter. On the counter is: a bowl (containing a red apple, a banana)",
  "a cupboard. The cupboard door is open. In the cupboard is: a ceramic cup",
  "the agent",
  "a pea seed, drying naïvely in the sun",
];
const VERBS = [
  "open door to",
  "go to",
  "look at",
  "pick up",
  "focus on",
  "move orange to",
  "activate",
  "pour water into",
];

const pick = <T>(items: readonly T[], u: number): T => items[Math.floor(u * items.length)]!;

/** A text of about `length` characters, never longer than `length` unless `length` is under 4. */
export function observationText(length: number, uniform: () => number): string {
  if (length < 30)
    return `You ${pick(["see", "move to", "open", "wait near"], uniform())} the ${pick(ROOMS, uniform())}.`.slice(
      0,
      Math.max(length, 4),
    );
  let text =
    length < 120
      ? `The ${pick(ROOMS, uniform())} door is now open, and you see ${pick(THINGS, uniform())}.`
      : `This room is called the ${pick(ROOMS, uniform())}. In it, you see: `;
  while (text.length < length) text += `\n\t${pick(THINGS, uniform())}`;
  return text.slice(0, length).trimEnd();
}

/** What a simulator answers. */
export function feedbackText(uniform: () => number): string {
  return observationText(quantile(FEEDBACK_LENGTHS, uniform()), uniform);
}

/** An action of about `length` characters. */
export function actionText(length: number, uniform: () => number): string {
  let text = `${pick(VERBS, uniform())} ${pick(ROOMS, uniform())}`;
  while (text.length < length) text += ` in ${pick(ROOMS, uniform())}`;
  return text.length > length && length > 8 ? text.slice(0, length).trimEnd() : text;
}

/** The constant parts of a student's prompt. */
const FORMS =
  "Command forms: activate OBJ; close OBJ; deactivate OBJ; dunk OBJ in OBJ; eat OBJ; flush OBJ; focus on OBJ; go OBJ; " +
  "inventory; look around; look at OBJ; look in OBJ; mix OBJ; move OBJ to OBJ; open OBJ; pick up OBJ; pour OBJ in OBJ; " +
  "put down OBJ; read OBJ; task; teleport OBJ; use OBJ on OBJ; wait; wait1";

/** The user message before a decision: task, the last five pairs, the observation, what can be done and named. */
export function promptText(
  description: string,
  history: readonly { observation: string; action: string | null }[],
  observation: string,
): string {
  const shown = history
    .slice(-5)
    .map((pair, i) => `(${i + 1}) saw: ${pair.observation}\n    did: ${pair.action ?? ""}\n`);
  return (
    `You are an agent in a text world of science tasks.\nTask: ${description}\n` +
    `You have made ${history.length} decision(s) so far.\n${shown.join("")}` +
    `Decision ${history.length + 1}. You now see: ${observation}\n${FORMS}\n` +
    `Objects you can name: agent; air; ${[...ROOMS, ...ROOMS.map((room) => `${room} door`)].join("; ")}; ` +
    "apple; banana; bowl; chair; counter; cup; cupboard; drawer; freezer; fridge; glass jar; lighter; orange; oven; painting\n" +
    "Think first inside <thought></thought>, then give exactly one command inside <action></action>."
  );
}

/** A response of about `length` characters around an action. */
export function responseText(length: number, action: string, uniform: () => number): string {
  let thought = "Nothing here contradicts my plan";
  while (thought.length + action.length + 37 < length)
    thought += `, and I still see ${pick(THINGS, uniform())}`;
  const room = Math.max(0, length - action.length - 36);
  return room < 6
    ? `<action>${action}</action>`
    : `<thought>${thought.slice(0, room)}</thought><action>${action}</action>`;
}
