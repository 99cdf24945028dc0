/** What the training form says: kept outside the view, so that the key `u` and the button do the same. */
import { create } from "zustand";

export interface TrainingForm {
  scope: "episode" | "task" | "library";
  /** Passes over the episodes in each stage. */
  vanillaPasses: number;
  graphPasses: number;
  /** Episodes a step. */
  batchSize: number;
  learningRate: number;
}

export const useTrainingForm = create<TrainingForm>(() => ({
  scope: "episode",
  vanillaPasses: 1,
  graphPasses: 1,
  batchSize: 4,
  learningRate: 1e-4,
}));

export const trainingForm = useTrainingForm.getState;
export const setTrainingForm = useTrainingForm.setState;
