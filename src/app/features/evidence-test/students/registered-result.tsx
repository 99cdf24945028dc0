/** What the registered experiment found. */
import type { Registered } from "../../../compute/students/registered.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { fallenText, registeredPair, registeredVerdict } from "./study-words.ts";

/** @param drawn its bands are in the chart */
export function RegisteredResult({ registered, drawn }: { registered: Registered; drawn: boolean }) {
  const { date, worlds, training_seeds, tasks, trainings, planned, methods, primary, bands } = registered;
  return (
    <div className="students-pairs" data-testid="registered">
      <p>
        <strong>{registeredVerdict(registered)}</strong> The registered experiment, success on {tasks} unseen
        tasks, paired by world and training seed:
      </p>
      <ul>
        {primary.map((pair) => (
          <li key={`${pair.a} ${pair.b}`}>{registeredPair(pair, methods)}</li>
        ))}
      </ul>
      <p>{fallenText(registered)}</p>
      <p className="note">
        Registered {date}, before any of these trainings ran: {training_seeds} training seeds in each of{" "}
        {worlds.length} worlds. {trainings} of {planned} planned trainings have ended; the other methods
        follow.{" "}
        {drawn ? (
          "Bands: mean and 95 % over the trainings, measured on fewer tasks while they ran."
        ) : (
          <button type="button" onClick={() => useStudents.setState({ recorded: bands })}>
            Draw as bands
          </button>
        )}
      </p>
    </div>
  );
}
