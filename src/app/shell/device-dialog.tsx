/** What models are computed on: what the device offers, what is taken of its memory, and what it reaches. */

import { useEffect, useState } from "react";
import type { DeviceSpeed } from "../../engine/native/index.ts";
import { gibibytes } from "../../tensor/memory-plan.ts";
import { describeFault } from "../base/faults.ts";
import { shownName, shownText } from "../base/text/shown-text.ts";
import { useDialog } from "../base/use-dialog.ts";
import type { DeviceFacts } from "../compute/clients.ts";
import { isModelAtWork } from "../compute/computing.ts";
import { useMemory } from "../compute/models/memory.ts";
import { models } from "../compute/models/models.ts";
import { type DeviceState, useUi } from "../compute/store.ts";
import { setShell, useShell } from "./shell-state.ts";

const close = (): void => setShell({ deviceOpen: false });

export function DeviceDialog() {
  const open = useShell((shell) => shell.deviceOpen);
  const dialog = useDialog(open);
  return (
    <dialog
      ref={dialog}
      className="help device-facts"
      data-dialog="device"
      aria-labelledby="device-title"
      onClose={close}
    >
      <header>
        <h2 id="device-title">Device</h2>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {open && <Facts />}
    </dialog>
  );
}

/** Products in words, with the reason where matrix units are not used. */
function arithmetic({ kind, compute, whyF32 }: DeviceState): string {
  if (compute === "f16") return "f16 operands on matrix units, f32 sums";
  return whyF32 === null
    ? "f32, as chosen: f16 on matrix units is there"
    : `f32: ${whyF32}${kind === "cpu" ? "" : "."}`;
}

function Facts() {
  const device = useUi((ui) => ui.device);
  const busy = useUi(isModelAtWork);
  const plans = useMemory((state) => state.plans);
  const [facts, setFacts] = useState<DeviceFacts | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [speed, setSpeed] = useState<DeviceSpeed | "measuring" | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another device, and work that ends, change them
  useEffect(() => {
    let wanted = true;
    models
      .worker()
      .then(({ api }) => api.device())
      .then(
        (found) => wanted && setFacts(found),
        (error) => wanted && setProblem(describeFault(error)),
      );
    return () => {
      wanted = false;
    };
  }, [device, busy]);
  const measure = async (): Promise<void> => {
    setSpeed("measuring");
    try {
      const { api } = await models.worker();
      setSpeed(await api.probeDevice());
    } catch (error) {
      setSpeed(null);
      setProblem(describeFault(error));
    }
  };
  const gpu = facts?.gpu ?? null;
  const planned = (["score", "train"] as const).flatMap((job) => {
    const { plan } = plans[job];
    return plan === null ? [] : [`${job === "score" ? "scoring" : "training"} ${gibibytes(plan.total)}`];
  });
  const rows: [string, string][] = [
    ["Adapter", device.kind === "unknown" ? "not known yet" : shownName(device.adapter)],
    ...(device.reason === null ? [] : [["No WebGPU", shownText(device.reason)] as [string, string]]),
    ["Arithmetic", arithmetic(device)],
    ["Tensors now", facts === null ? "…" : gibibytes(facts.bytes)],
    ["Planned", planned.length === 0 ? "nothing yet" : planned.join(", ")],
  ];
  if (gpu !== null) {
    const { features, limits } = gpu;
    rows.push(
      ["Features", featureWords(features)],
      ["Largest buffer", gibibytes(limits.maxBufferSize)],
      ["Largest binding", gibibytes(limits.maxStorageBufferBindingSize)],
      [
        "Workgroup",
        `${limits.maxComputeInvocationsPerWorkgroup.toLocaleString("en")} threads, ${(limits.maxComputeWorkgroupStorageSize / 1024).toLocaleString("en")} KiB shared, ${limits.maxStorageBuffersPerShaderStage} storage buffers`,
      ],
    );
  }
  return (
    <div className="device-body">
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>Speed</dt>
          <dd>
            {speed !== null && speed !== "measuring" ? (
              <span data-testid="device-speed">
                {operations(speed.teraflops)} in products, {figure(speed.gigabytes)} GB/s of memory
              </span>
            ) : (
              <button type="button" disabled={busy || speed === "measuring"} onClick={() => void measure()}>
                {speed === "measuring" ? "Measuring…" : "Measure, about a second"}
              </button>
            )}
          </dd>
        </div>
      </dl>
      {problem !== null && <p role="alert">{shownText(problem)}</p>}
    </div>
  );
}

const operations = (teraflops: number): string =>
  teraflops < 1 ? `${figure(1000 * teraflops)} GFLOP/s` : `${figure(teraflops)} TFLOP/s`;

const figure = (value: number): string => value.toPrecision(value >= 100 ? 3 : 2);

function featureWords({
  f16,
  subgroups,
  subgroupSize,
  timestamps,
  matrices,
}: NonNullable<DeviceFacts["gpu"]>["features"]): string {
  const words = [
    f16 && "f16",
    subgroups && (subgroupSize === undefined ? "subgroups" : `subgroups of ${subgroupSize}`),
    matrices.length > 0 && `matrix units (${matrices.map(({ m, n, k }) => `${m} × ${n} × ${k}`).join(", ")})`,
    timestamps && "timestamps",
  ].filter((word) => word !== false);
  return words.length === 0 ? "none beyond the standard" : words.join(", ");
}
