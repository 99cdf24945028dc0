/** Several cards of one host, from Node: a process per card, scoring dealt out, gradients summed. */
export { Cards, type CardsOptions } from "./cards.ts";
export { CardsScorer } from "./cards-scorer.ts";
export { CardsTrainer } from "./cards-trainer.ts";
export { cardFiles, chosenCards, onCard } from "./devices.ts";
export { processCards } from "./process-link.ts";
export { serveCard } from "./program.ts";
