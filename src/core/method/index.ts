export * from "./method.ts";
