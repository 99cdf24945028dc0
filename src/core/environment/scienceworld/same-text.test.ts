import { expect, test } from "vitest";
import { sameText } from "./same-text.ts";

const room = (...items: string[]) =>
  `This room is called the kitchen. In it, you see: \n${items.map((item) => `\t${item}\n`).join("")}You also see:\n\tA door to the hallway (that is open)`;

test.each<[string, string, string]>([
  [
    "things in a room",
    room("a table. On the table is: nothing.", "the agent"),
    room("the agent", "a table. On the table is: nothing."),
  ],
  [
    "things in and on things",
    room("a counter. On the counter is: a bowl (containing a red apple, a banana), a drawer."),
    room("a counter. On the counter is: a drawer, a bowl (containing a banana, a red apple)."),
  ],
  [
    "things with a state",
    "In the toilet is: A drain, which is open, a substance called water.",
    "In the toilet is: a substance called water, A drain, which is open.",
  ],
  [
    "two containers in one line",
    "a cupboard. The cupboard door is open. In the cupboard is: a cup, a pot. On the cupboard is: x, y.",
    "a cupboard. The cupboard door is open. In the cupboard is: a pot, a cup. On the cupboard is: y, x.",
  ],
  [
    "containers in containers",
    "a box (containing a cup (containing milk, tea), a book)",
    "a box (containing a book, a cup (containing tea, milk))",
  ],
  [
    "doors of another room",
    "Inside the hallway is: \n\ta drawing\n\n You also see: A door to the kitchen (that is open), A door to the foundry (that is closed).",
    "Inside the hallway is: \n\ta drawing\n\n You also see: A door to the foundry (that is closed), A door to the kitchen (that is open).",
  ],
  [
    "menus",
    "Ambiguous request: Please enter the number:\n0:\tlook at door a\n1:\tlook at door b\n",
    "Ambiguous request: Please enter the number:\n0:\tlook at door b\n1:\tlook at door a\n",
  ],
])("the order of %s does not count", (_name, left, right) => {
  expect(left).not.toBe(right);
  expect(sameText(left, right)).toBe(true);
  expect(sameText(left, left)).toBe(true);
});

test.each<[string, string, string]>([
  ["a thing more", room("the agent"), room("the agent", "a cup")],
  ["a thing twice", room("a cup", "a cup", "a pot"), room("a cup", "a pot", "a pot")],
  [
    "a thing in another container",
    room("a box (containing a cup)", "a jar (containing nothing)"),
    room("a box (containing nothing)", "a jar (containing a cup)"),
  ],
  [
    "a state of another thing",
    "In it is: a drain, which is open, a tap, which is off.",
    "In it is: a drain, which is off, a tap, which is open.",
  ],
  [
    "a menu entry",
    "Ambiguous request:\n0:\tlook at a\n1:\tlook at b\n",
    "Ambiguous request:\n0:\tlook at a\n1:\tlook at c\n",
  ],
  ["a thing in a room and behind a door", "a\n\tx\nYou also see:\n\ty", "a\n\ty\nYou also see:\n\tx"],
  [
    "a door that is open",
    "You also see: A door to x (that is open), A door to y (that is closed).",
    "You also see: A door to x (that is closed), A door to y (that is open).",
  ],
  ["words", "You move to the hallway.", "You move to the kitchen."],
])("%s does", (_name, left, right) => {
  expect(sameText(left, right)).toBe(false);
});
