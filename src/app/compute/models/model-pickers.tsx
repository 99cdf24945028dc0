/** Teacher and student, each with its picker. */
import { ModelPicker } from "./model-picker.tsx";

export function ModelPickers() {
  return (
    <div className="model-pickers">
      <ModelPicker of="teacher" />
      <ModelPicker of="student" />
    </div>
  );
}
