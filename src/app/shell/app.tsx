/** The shell around the view that the URL names. */
import { type ComponentType, useEffect, useLayoutEffect, useRef } from "react";
import { describeFault } from "../base/faults.ts";
import { player } from "../compute/games/play.ts";
import { simulatorSessions } from "../compute/games/simulator.ts";
import { followFolders } from "../compute/models/gone-folders.ts";
import { keptModels } from "../compute/models/kept-models.ts";
import { followStudent } from "../compute/models/kept-student.ts";
import { models } from "../compute/models/models.ts";
import { placeFollower } from "../compute/open/follow-place.ts";
import { workerFollower } from "../compute/runs/follow-worker.ts";
import { launches } from "../compute/runs/launches.ts";
import { cancelRun, stopRun } from "../compute/runs/run-actions.ts";
import { followTags } from "../compute/runs/run-tags.ts";
import { tabRuns } from "../compute/runs/tab-runs.ts";
import { useUi } from "../compute/store.ts";
import { placeUrl } from "../data/navigate.ts";
import { LiveRunsPanel } from "../features/evaluation/live-runs-panel.tsx";
import { LiveRuns } from "../features/evaluation/live-runs-section.tsx";
import { tabLiveRuns } from "../features/evaluation/tab-live-runs.ts";
import { EvidenceTestView } from "../features/evidence-test/evidence-test-view.tsx";
import { LibraryView } from "../features/library/library-view.tsx";
import { PlayView } from "../features/play/play-view.tsx";
import { RunsView } from "../features/runs/runs-view.tsx";
import { StatisticsView } from "../features/statistics/statistics-view.tsx";
import { TargetsPanel } from "../features/targets/targets-panel.tsx";
import { TaskView } from "../features/task/task-view.tsx";
import { TokensView } from "../features/tokens/tokens-view.tsx";
import { TrainingView } from "../features/training/training-view.tsx";
import type { View } from "../url/place.ts";
import { Banners } from "./banners.tsx";
import { DeviceDialog } from "./device-dialog.tsx";
import { DropZone } from "./drop-zone.tsx";
import { GuideDialog } from "./guide-dialog.tsx";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { HintLine } from "./hint-line.tsx";
import { HubDialog } from "./hub-dialog.tsx";
import { Palette } from "./palette/palette.tsx";
import { SharedDialog } from "./shared-dialog.tsx";
import { StatusBar } from "./status-bar.tsx";
import { useTheme } from "./theme.ts";
import { Title } from "./title.ts";
import { Tour } from "./tour/tour-card.tsx";
import { useKeys } from "./use-keys.ts";

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
  "evidence-test": EvidenceTestView,
};

export function App() {
  const view = useUi((ui) => ui.place.view);
  useTheme();
  useKeys();
  useEffect(() => {
    const leaveUrl = placeUrl.follow();
    const leavePlace = placeFollower.follow();
    const leaveWorker = workerFollower.follow();
    const leaveLaunches = launches.follow();
    const leaveStudent = followStudent();
    const leaveFolders = followFolders();
    const leavePlayed = player.askBeforeLoss();
    const leaveTabs = tabRuns.follow((id, what) => void (what === "stop" ? stopRun(id) : cancelRun(id)));
    const leaveLiveTabs = tabLiveRuns.follow();
    const leaveTags = followTags();
    void keptModels.look();
    addEventListener("pagehide", simulatorSessions.end);
    return () => {
      removeEventListener("pagehide", simulatorSessions.end);
      leaveUrl();
      leavePlayed();
      leavePlace();
      leaveWorker();
      leaveLaunches();
      leaveStudent();
      leaveFolders();
      leaveTabs();
      leaveLiveTabs();
      leaveTags();
    };
  }, []);
  useEffect(() => {
    // Early, so that a missing GPU is said before it is missed; what fails here is said again when it is needed.
    const timer = setTimeout(() => void models.worker().catch(describeFault), 200);
    return () => clearTimeout(timer);
  }, []);
  const library = useUi((ui) => ui.library?.id ?? null);
  const main = useRef<HTMLElement>(null);
  const scrolled = useRef(new Map<View, number>());
  // Every view comes back as far down as it was left; none takes over the place of another. The position is read before
  // the next view is rendered: a scroll event would come a frame later, when a key has already left the view.
  useEffect(
    () =>
      useUi.subscribe(({ place }, { place: { view: left } }) => {
        if (place.view !== left) scrolled.current.set(left, main.current!.scrollTop);
      }),
    [],
  );
  useLayoutEffect(() => {
    main.current!.scrollTop = scrolled.current.get(view) ?? 0;
  }, [view]);
  const focusedFor = useRef(view);
  const focused = useRef<Element>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a library takes the place of the buttons that open one
  useEffect(() => {
    // What had the focus may have gone with its view, or with what it opened: Tab then goes on in what is there now, and
    // keys scroll it.
    const isGone = focusedFor.current !== view || focused.current?.isConnected === false;
    if (isGone && document.activeElement === document.body) main.current!.focus({ preventScroll: true });
    focusedFor.current = view;
  }, [view, library]);
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
          onFocus={({ target }) => {
            focused.current = target;
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
      <DeviceDialog />
      <HubDialog />
      <GuideDialog />
      <SharedDialog />
    </DropZone>
  );
}
