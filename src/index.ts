/** `import { … } from "gcopd"`: the method and its records, free of I/O. */
export * from "./core/index.ts";
export * from "./formats/index.ts";
