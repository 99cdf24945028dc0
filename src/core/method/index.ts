export * from "./method.ts";
export * from "./method-schema.ts";
export * from "./methods.ts";
export * from "./ramp.ts";
export * from "./signal.ts";
export { configuredSignal, namedSignal, namedSignalSchema } from "./signal-schema.ts";
