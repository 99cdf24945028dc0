/** Synthetic libraries of any size with the statistics of recorded ones. */
export { type SynthOptions, synthEpisodes, synthSources } from "./synthesize.ts";
