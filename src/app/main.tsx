import "./without-eval.ts";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { setShell } from "./shell/shell-state.ts";
import { rememberedTheme } from "./shell/theme.ts";
import "./styles/fonts.css";
import "./styles/theme.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/library.css";
import "./styles/task.css";
import "./styles/visits.css";
import "./styles/what-if.css";
import "./styles/matrix.css";
import "./styles/graph.css";
import "./styles/tokens.css";
import "./styles/training.css";
import "./styles/statistics.css";
import "./styles/play.css";
import "./styles/hub.css";
import "./styles/guide.css";
import "./styles/tour.css";

setShell({ theme: rememberedTheme() });
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
