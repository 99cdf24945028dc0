/** Models that other programs serve: vLLM, SGLang, and what speaks the OpenAI API. */
export { calibration, calibrationSet, calibrationText, isFarApart, servedWords } from "./calibration.ts";
export { type FoundServer, findServer } from "./find-server.ts";
export { RemoteSampler } from "./remote-sampler.ts";
export { RemoteScorer } from "./remote-scorer.ts";
export { hasSameTokenizer } from "./same-tokenizer.ts";
export { Server, type ServerOptions } from "./server.ts";
