/** What models are computed on, and the other choice. */

import type { ComputeChoice } from "../compute/clients.ts";
import { isModelAtWork } from "../compute/computing.ts";
import { models } from "../compute/models/models.ts";
import { useUi } from "../compute/store.ts";

export function DeviceMenu() {
  const device = useUi((ui) => ui.device);
  const busy = useUi(isModelAtWork);
  if (device.kind === "unknown") return null;
  return (
    <label className="device" title={`Computed on ${device.adapter}`}>
      <span className="hidden-visually">The page computes on</span>
      <select
        value={
          device.kind === "webgpu" && device.whyF32 === null && device.compute === "f32"
            ? "webgpu-f32"
            : device.kind
        }
        disabled={busy}
        data-testid="device"
        onChange={(event) => void models.chooseDevice(event.target.value as ComputeChoice)}
      >
        <option value="webgpu">◆ WebGPU{device.compute === "f16" && ", f16"}</option>
        {device.whyF32 === null && <option value="webgpu-f32">◆ WebGPU, f32</option>}
        <option value="cpu">◇ CPU reference</option>
      </select>
    </label>
  );
}
