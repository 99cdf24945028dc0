/** What the figures were measured on. */
import type { ReactNode } from "react";
import type { EngineInfo } from "../../../core/ports.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { type Side, shortHash } from "../side.ts";

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
    ["model", shownName(info.model)],
    ["device", info.device === "webgpu" ? "WebGPU" : "CPU reference"],
    ["adapter", info.adapter],
    ["arithmetic", info.dtype],
    ["parameters", info.parameters?.toLocaleString("en") ?? "not said by the export"],
    ["vocabulary", info.vocabulary.toLocaleString("en")],
  ];
}

/** Where the figures of the two compared sides are from: once, where both are from the same. */
export function sideFacts(base: Side, side: Side): [string, ReactNode][] {
  const [a, b] = [factsOf(base), factsOf(side)];
  const same = a.length === b.length && a.every(([, value], i) => value === b[i]![1]);
  if (same) return a;
  return [...named("base", a), ...named("compared", b)];
}

function named(which: string, facts: [string, ReactNode][]): [string, ReactNode][] {
  return facts.map(([name, value]) => [`${which}: ${name}`, value]);
}

function factsOf({ provenance: { engine, file, tokenizer, template } }: Side): [string, ReactNode][] {
  if (engine === null)
    return [["model", file === null ? "recorded with the episode" : `recorded, from ${shownName(file)}`]];
  return [
    ...engineFacts(engine),
    ["tokenizer", shortHash(tokenizer)],
    ["chat template", shortHash(template)],
  ];
}
