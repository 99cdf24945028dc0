import "./base/without-eval.ts";
import { StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { App } from "./shell/app.tsx";
import { setShell } from "./shell/shell-state.ts";
import { rememberedTheme } from "./shell/theme.ts";
import "./base/styles/fonts.css";
import "./base/styles/theme.css";
import "./base/styles/base.css";
import "./base/rail.css";
import "./shell/shell.css";
import "./features/library/library.css";
import "./features/task/task.css";
import "./features/task/visits.css";
import "./shell/what-if.css";
import "./features/task/matrix.css";
import "./data/state-graph/graph.css";
import "./features/tokens/tokens.css";
import "./features/training/training.css";
import "./features/runs/runs.css";
import "./compute/run-card/run-card.css";
import "./features/targets/targets.css";
import "./features/statistics/statistics.css";
import "./features/play/play.css";
import "./features/evidence-test/evidence-test.css";
import "./shell/hub.css";
import "./shell/guide.css";
import "./shell/tour.css";

setShell({ theme: rememberedTheme() });
const root = createRoot(document.getElementById("root")!);
// At once, with its effects: React would put them off, and a page that is loaded hears its keys.
flushSync(() =>
  root.render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);
