// Prints the WebGPU adapter that Node gets, or null, as one line of JSON. Run by the worker in a process of its own.
import { writeSync } from "node:fs";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
// As the commands themselves choose: see src/engine/native/node.ts.
const flags = process.platform === "linux" ? ["backend=vulkan"] : [];
if (process.env.GCOPD_ADAPTER) flags.push(`adapter=${process.env.GCOPD_ADAPTER}`);
const gpu = create(flags);
const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
let line = "null";
if (adapter !== null) {
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  const names = [vendor, architecture, device, description].join(" ");
  const software =
    Boolean(isFallbackAdapter) || /swiftshader|llvmpipe|lavapipe|basic render|warp\b/i.test(names);
  line = JSON.stringify({
    vendor,
    architecture,
    device,
    description,
    software,
    features: [...adapter.features].sort(),
  });
}
writeSync(1, `${line}\n`);
// Dawn keeps the process alive while its objects live.
process.exit(0);
