/** What the figures were measured on. */
import type { ReactNode } from "react";
import type { EngineInfo } from "../../../core/ports.ts";

export function Provenance({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="provenance" aria-label="Measured on">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A model in facts. */
export function engineFacts(info: EngineInfo): [string, ReactNode][] {
  return [
    ["model", info.model],
    ["device", info.device === "webgpu" ? "WebGPU" : "CPU reference"],
    ["adapter", info.adapter],
    ["arithmetic", info.dtype],
    ["parameters", info.parameters.toLocaleString("en")],
    ["vocabulary", info.vocabulary.toLocaleString("en")],
  ];
}
