import { existsSync } from "node:fs";
import { openDawn } from "../src/engine/native/dawn.ts";
import { TURN_ON_WEBGPU } from "../src/tensor/webgpu/device.ts";

/** Where Chromium and Chrome put the manifest of their software Vulkan driver. */
const SOFTWARE_DRIVERS = [
  "/usr/lib/chromium/vk_swiftshader_icd.json",
  "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
  "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
  "/opt/google/chrome/vk_swiftshader_icd.json",
];

/**
 * The WebGPU of npm `webgpu`, on whichever adapter Vulkan offers; without a chosen driver, on Chromium's software one.
 * @throws Error when there is no adapter: tests on the GPU must fail then, not pass by doing nothing.
 */
export async function openGpu(): Promise<GPU> {
  if (!process.env.VK_ICD_FILENAMES && !process.env.VK_DRIVER_FILES) {
    const found = SOFTWARE_DRIVERS.find((path) => existsSync(path));
    if (found) process.env.VK_ICD_FILENAMES = found;
  }
  const gpu = await openDawn(["backend=vulkan"]);
  if (!(await gpu.requestAdapter())) throw new Error(TURN_ON_WEBGPU);
  return gpu;
}

/**
 * Dawn without a GPU: it compiles and validates everything, f16 and subgroup matrices too, and computes nothing.
 */
export async function openNullGpu(): Promise<GPU> {
  const gpu = await openDawn(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
  if (!(await gpu.requestAdapter())) throw new Error("Dawn offers no null adapter");
  return gpu;
}
