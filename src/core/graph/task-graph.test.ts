import { describe, expect, it } from "vitest";
import { library } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureSources } from "../../../test/support/scienceworld.ts";
import { InputError } from "../errors.ts";
import type { Source } from "../record/schema.ts";
import { type GraphStatistics, graphStatistics } from "./statistics.ts";
import { nodeAt, stateAt, taskGraph, visitsAt } from "./task-graph.ts";

/** A source that visits the named states in turn; "-" is an unreliable capture. */
function source(id: string, path: string): Source {
  const states = [...path].map((key) => (key === "-" ? null : { key, mode: "normal", options: {} }));
  return {
    format: "gcopd.source.v1",
    environment: "scienceworld",
    task: "t",
    source: id,
    repetition: 0,
    origin: { kind: "teacher" },
    task_description: "",
    initial_observation: "",
    decisions: states.slice(0, -1).map((state) => ({
      observation: "",
      state,
      action: "go",
      binding: null,
      status: "executed",
      feedback: "",
      score: null,
      gap_before: false,
      attempts: [],
    })),
    final_state: states.at(-1) ?? null,
    outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
  };
}

const at = (key: string) => ({ key, mode: "normal", options: {} });

describe("taskGraph", () => {
  it("projects the figure's two executions onto shared states", () => {
    const graph = taskGraph([source("one", "ABDG"), source("two", "ACDF")]);
    expect(graph.nodes.map((node) => node.state.key).join("")).toBe("ABDGCF");
    expect(nodeAt(graph, at("D"))!.sources).toEqual([0, 1]);
    expect(visitsAt(graph, at("D"))).toEqual([
      { source: 0, position: 2, terminal: false, node: 2 },
      { source: 1, position: 2, terminal: false, node: 2 },
    ]);
    expect(
      graph.edges.map(({ from, to }) => graph.nodes[from]!.state.key + graph.nodes[to]!.state.key),
    ).toEqual(["AB", "BD", "DG", "AC", "CD", "DF"]);
    expect(visitsAt(graph, at("X"))).toEqual([]);
    expect(visitsAt(graph, null)).toEqual([]);
  });

  it("counts traversals and executions apart, and keeps self-loops and cycles", () => {
    const graph = taskGraph([source("one", "AABAB"), source("two", "AB")]);
    const edges = graph.edges.map((edge) => [
      graph.nodes[edge.from]!.state.key + graph.nodes[edge.to]!.state.key,
      edge.transitions.length,
      edge.sources.length,
    ]);
    expect(edges).toEqual([
      ["AA", 1, 1],
      ["AB", 3, 2],
      ["BA", 1, 1],
    ]);
    expect(graph.nodes[0]!.visits).toEqual([0, 1, 3, 5]);
    expect(graph.nodes[0]!.sources).toEqual([0, 1]);
    expect(graphStatistics(graph)).toMatchObject({
      sources: 2,
      visits: 7,
      locatedVisits: 7,
      decisions: 5,
      states: 2,
      sharedStates: 2,
      edges: 3,
      sharedEdges: 1,
      selfLoops: 1,
      traversals: 5,
    });
  });

  it("gives an unreliable capture no node and no edge", () => {
    const graph = taskGraph([source("one", "A-B"), source("two", "-")]);
    expect(graph.visits.map((visit) => visit.node)).toEqual([0, null, 1, null]);
    expect(graph.edges).toEqual([]);
    expect(graphStatistics(graph)).toMatchObject({ visits: 4, locatedVisits: 2, states: 2, traversals: 0 });
  });

  it("has no single-source lift for a walk across sources (the converse of Proposition 1)", () => {
    const graph = taskGraph([source("one", "AXF"), source("two", "BXG")]);
    const [a, x, g] = ["A", "X", "G"].map((key) => graph.nodes.findIndex((node) => node.state.key === key));
    const executions = (from?: number, to?: number) =>
      graph.edges.find((edge) => edge.from === from && edge.to === to)!.sources;
    expect(executions(a, x)).toEqual([0]);
    expect(executions(x, g)).toEqual([1]);
  });

  it("takes an empty library and refuses mixed tasks and repeated ids", () => {
    expect(taskGraph([])).toMatchObject({ visits: [], nodes: [], edges: [] });
    expect(() => taskGraph([source("one", "A"), { ...source("two", "A"), task: "u" }])).toThrow(InputError);
    expect(() => taskGraph([source("one", "A"), source("one", "B")])).toThrow(/two sources named one/);
  });
});

describe("properties of the representation", () => {
  it("holds Proposition 1: temporal edges keep their source, and project to edges of G_x", () => {
    fc.assert(
      fc.property(library, (sources) => {
        const graph = taskGraph(sources);
        const projected = new Set(graph.edges.flatMap((edge) => edge.transitions));
        let walks = 0;
        graph.visits.forEach((visit, v) => {
          expect(graph.offsets[visit.source]! + visit.position).toBe(v);
          const next = graph.visits[v + 1];
          if (visit.terminal) {
            expect(visit.position).toBe(sources[visit.source]!.decisions.length);
            expect(next === undefined || next.position === 0).toBe(true);
            expect(projected.has(v)).toBe(false);
            return;
          }
          expect(next).toMatchObject({ source: visit.source, position: visit.position + 1 });
          expect(projected.has(v)).toBe(visit.node !== null && next!.node !== null);
          if (projected.has(v)) walks++;
        });
        for (const edge of graph.edges) {
          for (const v of edge.transitions) {
            expect([graph.visits[v]!.node, graph.visits[v + 1]!.node]).toEqual([edge.from, edge.to]);
          }
          expect(edge.sources).toEqual([...new Set(edge.transitions.map((v) => graph.visits[v]!.source))]);
        }
        expect(graph.edges.reduce((n, edge) => n + edge.transitions.length, 0)).toBe(walks);
        expect(new Set(graph.edges.map((e) => `${e.from} ${e.to}`)).size).toBe(graph.edges.length);
      }),
    );
  });

  it("keeps the index a partition of the located visits, and the size bounds", () => {
    fc.assert(
      fc.property(library, (sources) => {
        const graph = taskGraph(sources);
        const longest = Math.max(0, ...sources.map((s) => s.decisions.length));
        expect(graph.visits.length).toBeLessThanOrEqual(sources.length * (longest + 1));
        expect(graph.nodes.length).toBeLessThanOrEqual(graph.visits.length);
        const indexed = graph.nodes.flatMap((node) => node.visits).sort((a, b) => a - b);
        expect(indexed).toEqual(graph.visits.flatMap((visit, v) => (visit.node === null ? [] : [v])));
        for (const visit of graph.visits) {
          const state = stateAt(sources[visit.source]!, visit.position);
          expect(nodeAt(graph, state)).toBe(visit.node === null ? null : graph.nodes[visit.node]);
        }
      }),
    );
  });
});

describe("the ScienceWorld fixture", () => {
  it("has the totals that its README states", () => {
    const all = [...byTask(fixtureSources()).values()].map((sources) => graphStatistics(taskGraph(sources)));
    const total = (key: Exclude<keyof GraphStatistics, "environment" | "task">) =>
      all.reduce((sum, statistics) => sum + statistics[key], 0);
    expect(total("sources")).toBe(195);
    expect(total("decisions")).toBe(3554);
    expect(total("visits")).toBe(3554 + 195);
    expect(total("visits") - total("locatedVisits")).toBe(47);
    expect(total("attempts")).toBe(140 + 409);
    expect(total("successes")).toBe(105);
    // Each source is one of four.
    expect(total("refuted")).toBeGreaterThan(0);
    expect(total("successes") + total("failures") + total("refuted") + total("untrusted")).toBe(195);
  });
});
