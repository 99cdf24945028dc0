/** Models that other programs serve: vLLM, SGLang, and what speaks the OpenAI API. */
export { type FoundServer, findServer } from "./find-server.ts";
export { RemoteSampler } from "./remote-sampler.ts";
export { Server, type ServerOptions } from "./server.ts";
