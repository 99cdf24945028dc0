import type { CheckpointState } from "./checkpoint.ts";

/** The run that another one continues: its student's weights and optimizer state are where the child begins. */
export interface ParentRun {
  /** Folder of its checkpoint, for people. */
  name: string;
  /** Optimizer steps that its student has had. The child counts its own steps on from there. */
  step: number;
  /** TurnOPD's moving average at the parent's end, where the child goes on in the middle of that stage. */
  depth?: CheckpointState["depth"];
}
