/** Teacher and student, each with its picker, and why one of them cannot take part. */
import { ModelPicker } from "./model-picker.tsx";

export function ModelPickers({ problem }: { problem: string | null }) {
  return (
    <div className="model-pickers">
      <ModelPicker of="teacher" />
      <ModelPicker of="student" />
      {problem !== null && (
        <p className="fault" role="status" data-testid="model-problem">
          {problem}
        </p>
      )}
    </div>
  );
}
