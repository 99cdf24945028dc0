/** What a run is to do, and what that comes to. */
import type { ReactNode } from "react";
import { startTraining, stopTraining } from "../../session/training.ts";
import { setTrainingForm, type TrainingForm, useTrainingForm } from "../../session/training-form.ts";
import { useUi } from "../../state/store.ts";

const SCOPES: Record<TrainingForm["scope"], string> = {
  episode: "this episode",
  task: "this task’s episodes",
  library: "the whole library",
};

function useEpisodes(scope: TrainingForm["scope"]): number {
  const library = useUi((ui) => ui.library);
  const task = useUi((ui) => ui.task);
  if (scope === "episode") return 1;
  if (scope === "task") return task?.episodes.filter(({ decisions }) => decisions > 0).length ?? 0;
  return library?.tasks.reduce((sum, each) => sum + each.episodes, 0) ?? 0;
}

export function TrainingFormPanel() {
  const form = useTrainingForm();
  const status = useUi((ui) => ui.training.status);
  const scoring = useUi((ui) => ui.scoring.status);
  const ready = useUi((ui) => ui.decision !== null);
  const episodes = useEpisodes(form.scope);
  const perPass = Math.ceil(episodes / form.batchSize);
  const busy = status !== "idle";
  const [vanilla, graph] = [form.vanillaPasses * perPass, form.graphPasses * perPass];
  return (
    <form
      className="training-form"
      onSubmit={(event) => {
        event.preventDefault();
        void startTraining();
      }}
    >
      <Field label="Train on">
        <select
          value={form.scope}
          disabled={busy}
          onChange={(event) => setTrainingForm({ scope: event.target.value as TrainingForm["scope"] })}
        >
          {Object.entries(SCOPES).map(([scope, title]) => (
            <option key={scope} value={scope}>
              {title}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Vanilla passes">
        <Count
          value={form.vanillaPasses}
          min={0}
          disabled={busy}
          set={(vanillaPasses) => setTrainingForm({ vanillaPasses })}
        />
      </Field>
      <Field label="Graph-conditioned passes">
        <Count
          value={form.graphPasses}
          min={0}
          disabled={busy}
          set={(graphPasses) => setTrainingForm({ graphPasses })}
        />
      </Field>
      <Field label="Episodes a step">
        <Count
          value={form.batchSize}
          min={1}
          disabled={busy}
          set={(batchSize) => setTrainingForm({ batchSize })}
        />
      </Field>
      <Field label="Learning rate (paper: 1e-5)">
        <select
          value={form.learningRate}
          disabled={busy}
          onChange={(event) => setTrainingForm({ learningRate: Number(event.target.value) })}
        >
          {[0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3].map((rate) => (
            <option key={rate} value={rate}>
              {rate === 0 ? "0 (changes nothing)" : rate.toExponential(0)}
            </option>
          ))}
        </select>
      </Field>
      <div className="training-actions">
        {busy ? (
          <button type="button" disabled={status === "cancelling"} onClick={() => void stopTraining()}>
            {status === "running"
              ? "Stop after this step"
              : status === "stopping"
                ? "Stop at once, lose this run"
                : "Cancel requested…"}
          </button>
        ) : (
          <button
            type="submit"
            className="primary"
            disabled={!ready || scoring === "running" || vanilla + graph === 0}
          >
            Update <span className="key">u</span>
          </button>
        )}
        <span className="note" data-testid="plan">
          {vanilla} vanilla {vanilla === 1 ? "step" : "steps"}, then {graph} graph-conditioned, over{" "}
          {episodes} {episodes === 1 ? "episode" : "episodes"}; AdamW, clip 0.2, gradient norm ≤ 1
        </span>
      </div>
    </form>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label>
      <span className="caption">{label}</span>
      {children}
    </label>
  );
}

function Count({
  value,
  min,
  disabled,
  set,
}: {
  value: number;
  min: number;
  disabled: boolean;
  set: (value: number) => void;
}) {
  return (
    <input
      type="number"
      min={min}
      max={999}
      step={1}
      value={value}
      disabled={disabled}
      onChange={(event) => {
        const next = event.target.valueAsNumber;
        if (Number.isInteger(next) && next >= min && next <= 999) set(next);
      }}
    />
  );
}
