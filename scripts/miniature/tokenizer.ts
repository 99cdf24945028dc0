/**
 * Makes the miniature's tokenizer: byte-level BPE of Qwen's kind in which every word of the world, of the prompts and of
 * the evidence's fixed phrases is one token, and so is every numbered name (` cabinet 3`) and every label of evidence.
 *
 *     node scripts/run.mjs scripts/miniature/tokenizer.ts
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { CONTROLS } from "../../src/core/retrieval/index.ts";
import { tokenBytes } from "../../src/text/byte-level.ts";
import { loadTokenizer, textCodec } from "../../src/text/index.ts";
import { contextsOf } from "./contexts.ts";
import { MiniatureTask } from "./task.ts";

const FROM = "public/sample/tokenizer";
const TO = "public/miniature/tokenizer";
/** Games whose texts are read: together they show every word. */
const GAMES = 48;

/** Phrases that those games may not show. */
const RARE = [
  "Unreadable reply. Nothing happens.",
  "Did: (unreadable)",
  "Recorded action: none (the response held no executable action)",
  "Recorded action: none (the execution ends in this state)",
  "Status: rejected by the environment, not executed",
  "Status: malformed response, nothing executed",
  "Final outcome: success; score 1; ended by the environment after 1 decision",
  "Anchor: unaligned; no source event is matched to a student event",
  "<student_hindsight>\n</student_hindsight>",
];

/** Phrases that take one token each: they frame every event. */
const LABELS = [
  "Recorded action:",
  "Actual feedback:",
  "Student event",
  "Source event",
  "Final outcome:",
  "Initial observation:",
  "You walk to the",
  "You stand at the",
  "Nothing happens.",
  " is closed.",
  " is open. In it there is",
  " there is nothing.",
];

const SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const TAGS = ["<think>", "</think>", "<action>", "</action>"];

const file = JSON.parse(readFileSync(`${FROM}/tokenizer.json`, "utf8"));
const config = JSON.parse(readFileSync(`${FROM}/tokenizer_config.json`, "utf8"));
const PIECE = /[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

const ALPHABET = Object.entries(file.model.vocab as Record<string, number>)
  .sort(([, a], [, b]) => a - b)
  .slice(0, 256)
  .map(([token]) => token);
const letters = new Map(ALPHABET.map((letter) => [tokenBytes(letter)[0]!, letter]));

// The sample's tokenizer reads the texts while there is no other.
const sample = textCodec(
  loadTokenizer({
    tokenizerJson: JSON.stringify(file),
    tokenizerConfigJson: JSON.stringify(config),
    file: FROM,
  }),
);
const texts = [...RARE];
const names = new Set<string>();
for (let seed = 0; seed < GAMES; seed++) {
  const task = new MiniatureTask(seed, seed);
  for (const { text } of task.game.commands)
    for (const [name] of text.matchAll(/ [a-z]+ \d/g)) names.add(name);
  const sources = await Promise.all([0, 1, 2, 3].map((k) => task.source(k, 0.3)));
  const { episode } = await task.episode(0, 0.4, sample);
  const contexts = await contextsOf(episode, sources, sample);
  for (let t = 0; t < episode.decisions.length; t += 5)
    for (const control of CONTROLS) texts.push(sample.decode(contexts(control, t).promptIds));
  texts.push(...episode.decisions.map(({ response }) => response!));
}
const added = [...SPECIAL, ...TAGS, ...LABELS, ...[...names].sort()];
const split = new RegExp(added.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");

/** Words with their counts, as the alphabet spells them. */
const words = new Map<string, number>();
for (const text of texts)
  for (const part of text.split(split))
    for (const [piece] of part.matchAll(PIECE)) {
      const spelled = [...new TextEncoder().encode(piece)].map((byte) => letters.get(byte)!).join("");
      words.set(spelled, (words.get(spelled) ?? 0) + 1);
    }

/** Merges of the most frequent pair, ties by the text, until every word is one token. */
function merges(): string[] {
  const spelled = [...words].map(([word, count]) => ({ parts: [...word], count }));
  const made: string[] = [];
  for (;;) {
    const pairs = new Map<string, number>();
    for (const { parts, count } of spelled)
      for (let i = 1; i < parts.length; i++) {
        const pair = `${parts[i - 1]} ${parts[i]}`;
        pairs.set(pair, (pairs.get(pair) ?? 0) + count);
      }
    const [best] = [...pairs].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    if (best === undefined) return made;
    const [left, right] = best[0].split(" ") as [string, string];
    made.push(best[0]);
    for (const { parts } of spelled)
      for (let i = 1; i < parts.length; i++)
        if (parts[i - 1] === left && parts[i] === right) parts.splice(i - 1, 2, left + right);
  }
}

const rules = merges();
const tokens = [...ALPHABET, ...new Set(rules.map((rule) => rule.replace(" ", "")))];
const addedTokens = added.map((content, n) => ({
  id: tokens.length + n,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: SPECIAL.includes(content),
}));
file.added_tokens = addedTokens;
file.model.vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
file.model.merges = rules;
config.added_tokens_decoder = Object.fromEntries(addedTokens.map(({ id, ...rest }) => [id, rest]));
const tokenizerJson = JSON.stringify(file);
const tokenizerConfigJson = `${JSON.stringify(config, null, 2)}\n`;
const made = loadTokenizer({ tokenizerJson, tokenizerConfigJson, file: TO });
for (const text of texts) {
  const ids = made.encode(text);
  if (made.decode(ids) !== text) throw new Error(`does not come back: ${text}`);
}
mkdirSync(TO, { recursive: true });
writeFileSync(`${TO}/tokenizer.json`, tokenizerJson);
writeFileSync(`${TO}/tokenizer_config.json`, tokenizerConfigJson);
console.log(`${tokens.length + added.length} tokens, of ${words.size} words and ${added.length} added`);
