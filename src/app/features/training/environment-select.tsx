import { Labelled } from "../../base/labelled.tsx";
import { environmentsAt, setText, useTrainingForm } from "../../compute/training/training-form.ts";

/** Chooses a live environment for the key `at` of the config, among those that can be played where the run is. */
export function EnvironmentSelect({ at, label, disabled }: { at: string; label: string; disabled: boolean }) {
  const { where, texts } = useTrainingForm();
  const key = `${at}.name`;
  return (
    <Labelled label={label}>
      <select
        value={texts[key] ?? ""}
        disabled={disabled}
        onChange={({ target }) => setText(key, target.value)}
      >
        {environmentsAt(where, at).map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </Labelled>
  );
}
