/** The run's figures by step; the two stages differ by point and dash. */
import type { StepPoint } from "../../state/store.ts";
import { LineChart, type Series } from "../chart/line-chart.tsx";

const FIGURES: { key: "loss" | "gradNorm" | "alignment" | "clipFraction"; title: string }[] = [
  { key: "loss", title: "Loss, Eq. (9)" },
  { key: "gradNorm", title: "Gradient norm before clipping" },
  { key: "alignment", title: "Σ w A log p" },
  { key: "clipFraction", title: "Share of clipped tokens" },
];

export function Curves({ points }: { points: StepPoint[] }) {
  return (
    <div className="curves">
      {FIGURES.map(({ key, title }) => {
        const of = (stage: StepPoint["stage"]) =>
          points.filter((point) => point.stage === stage).map((point) => ({ x: point.step, y: point[key] }));
        const series: Series[] = [
          { name: "vanilla", className: "vanilla", shape: "square", points: of("vanilla") },
          { name: "graph-conditioned", className: "graph", shape: "circle", points: of("graph") },
        ];
        return (
          <div className="panel curve" key={key}>
            <LineChart title={title} xLabel="step" series={series} wholeX />
          </div>
        );
      })}
    </div>
  );
}
