/** The shell around the view that the URL names. */
import { type ComponentType, useEffect, useLayoutEffect, useRef } from "react";
import { followUrl } from "./place/navigate.ts";
import type { View } from "./place/place.ts";
import { followWorker } from "./runs/follow-worker.ts";
import { followTags } from "./runs/run-tags.ts";
import { describeFault } from "./session/faults.ts";
import { followPlace } from "./session/follow-place.ts";
import { followStudent } from "./session/kept-student.ts";
import { followLaunches } from "./session/launches.ts";
import { computeWorker } from "./session/models.ts";
import { cancelRun, stopRun } from "./session/run-actions.ts";
import { endSimulatorSessions } from "./session/simulator.ts";
import { followLiveTabs } from "./session/tab-live-runs.ts";
import { followTabs } from "./session/tab-runs.ts";
import { Banners } from "./shell/banners.tsx";
import { DropZone } from "./shell/drop-zone.tsx";
import { GuideDialog } from "./shell/guide-dialog.tsx";
import { Header } from "./shell/header.tsx";
import { HelpDialog } from "./shell/help-dialog.tsx";
import { HintLine } from "./shell/hint-line.tsx";
import { Palette } from "./shell/palette/palette.tsx";
import { StatusBar } from "./shell/status-bar.tsx";
import { useTheme } from "./shell/theme.ts";
import { Title } from "./shell/title.ts";
import { Tour } from "./shell/tour/tour-card.tsx";
import { useKeys } from "./shell/use-keys.ts";
import { useUi } from "./state/store.ts";
import { HubDialog } from "./views/hub-dialog.tsx";
import { LibraryView } from "./views/library/library-view.tsx";
import { SharedDialog } from "./views/library/shared-dialog.tsx";
import { LiveRuns } from "./views/live-runs/live-runs.tsx";
import { LiveRunsPanel } from "./views/live-runs/live-runs-panel.tsx";
import { PlayView } from "./views/play/play-view.tsx";
import { RunsView } from "./views/runs/runs-view.tsx";
import { TargetsPanel } from "./views/runs/targets-panel.tsx";
import { StatisticsView } from "./views/statistics/statistics-view.tsx";
import { TaskView } from "./views/task/task-view.tsx";
import { TokensView } from "./views/tokens/tokens-view.tsx";
import { TrainingView } from "./views/training/training-view.tsx";

const Runs = () => (
  <RunsView
    beside={
      <>
        <LiveRuns />
        <TargetsPanel />
      </>
    }
  />
);

const Play = () => <PlayView collecting={<LiveRunsPanel />} />;

const VIEWS: Record<View, ComponentType> = {
  library: LibraryView,
  task: TaskView,
  tokens: TokensView,
  training: TrainingView,
  statistics: StatisticsView,
  runs: Runs,
  play: Play,
};

export function App() {
  const view = useUi((ui) => ui.place.view);
  useTheme();
  useKeys();
  useEffect(() => {
    const leaveUrl = followUrl();
    const leavePlace = followPlace();
    const leaveWorker = followWorker();
    const leaveLaunches = followLaunches();
    const leaveStudent = followStudent();
    const leaveTabs = followTabs((id, what) => void (what === "stop" ? stopRun(id) : cancelRun(id)));
    const leaveLiveTabs = followLiveTabs();
    const leaveTags = followTags();
    addEventListener("pagehide", endSimulatorSessions);
    return () => {
      removeEventListener("pagehide", endSimulatorSessions);
      leaveUrl();
      leavePlace();
      leaveWorker();
      leaveLaunches();
      leaveStudent();
      leaveTabs();
      leaveLiveTabs();
      leaveTags();
    };
  }, []);
  useEffect(() => {
    // Early, so that a missing GPU is said before it is missed; what fails here is said again when it is needed.
    const timer = setTimeout(() => void computeWorker().catch(describeFault), 200);
    return () => clearTimeout(timer);
  }, []);
  const library = useUi((ui) => ui.library?.id ?? null);
  const main = useRef<HTMLElement>(null);
  const scrolled = useRef(new Map<View, number>());
  // Every view comes back as far down as it was left; none takes over the place of another.
  useLayoutEffect(() => {
    main.current!.scrollTop = scrolled.current.get(view) ?? 0;
  }, [view]);
  const Shown = VIEWS[view];
  // What these keep by themselves is of one task: another library resets it.
  const of = view === "task" || view === "tokens" ? library : null;
  return (
    <DropZone>
      <div className="app">
        <Header />
        <Banners />
        <main
          id="view"
          ref={main}
          tabIndex={-1}
          className={`main main-${view}`}
          onScroll={({ currentTarget, target }) => {
            if (target === currentTarget) scrolled.current.set(view, currentTarget.scrollTop);
          }}
        >
          <Shown key={of} />
        </main>
        <StatusBar />
      </div>
      <Title />
      <HintLine />
      <Tour />
      <HelpDialog />
      <Palette />
      <HubDialog />
      <GuideDialog />
      <SharedDialog />
    </DropZone>
  );
}
