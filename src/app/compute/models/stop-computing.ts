import { models } from "./models.ts";

/** What scoring calls. */
export const stopComputing = (goesOn: () => boolean): Promise<boolean> => models.stopWork(goesOn);
