/** What models are computed on, and the other choice. */

import { isModelAtWork } from "../compute/computing.ts";
import { chooseDevice } from "../compute/models/models.ts";
import { useUi } from "../compute/store.ts";

export function DeviceMenu() {
  const device = useUi((ui) => ui.device);
  const busy = useUi(isModelAtWork);
  if (device.kind === "unknown") return null;
  return (
    <label className="device" title={`Computed on ${device.adapter}`}>
      <span className="hidden-visually">The page computes on</span>
      <select
        value={device.kind}
        disabled={busy}
        data-testid="device"
        onChange={(event) => void chooseDevice(event.target.value === "cpu" ? "cpu" : "webgpu")}
      >
        <option value="webgpu">◆ WebGPU</option>
        <option value="cpu">◇ CPU reference</option>
      </select>
    </label>
  );
}
