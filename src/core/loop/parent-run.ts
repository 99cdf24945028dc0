/** The run that another one continues: its student's weights and optimizer state are where the child begins. */
export interface ParentRun {
  /** Folder of its checkpoint, for people. */
  name: string;
  /** Optimizer steps that its student has had. The child counts its own steps on from there. */
  step: number;
}
