/** What the registered experiment found. */
import { intervalText } from "../../../compute/run-card/figures.ts";
import type { Registered } from "../../../compute/students/registered.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { registeredPair, registeredVerdict } from "./study-words.ts";

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
      <p className="note">
        Registered {date}, before any of these trainings ran: {training_seeds} training seeds in each of{" "}
        {worlds.length} worlds.{" "}
        {trainings === planned
          ? `All ${planned} trainings have ended.`
          : `${trainings} of ${planned} planned trainings have ended; methods without all of theirs are not compared.`}{" "}
        {drawn ? (
          `Bands: mean and 95 % over the trainings, on ${bands.evaluation} while they ran; the table and the comparisons are of ${tasks} after the last step.`
        ) : (
          <button type="button" onClick={() => useStudents.setState({ recorded: bands })}>
            Draw as bands
          </button>
        )}
      </p>
    </div>
  );
}

/** What each method's trainings reached, whether all of them have ended or not. */
export function RegisteredMethods({ registered }: { registered: Registered }) {
  const { fallen_below, methods, tasks, training_seeds, worlds } = registered;
  return (
    <div className="run-table-scroll" data-testid="registered-methods">
      <table className="run-table">
        <caption className="note">
          The registered trainings, by method: success on {tasks} unseen tasks after the last step, mean over
          trainings. Those that fell below {fallen_below} % are in the mean and in every comparison. GC-OPD +
          GA, TCOD-B2F and FTB read planner records, too.
        </caption>
        <thead>
          <tr>
            <th scope="col">Method</th>
            <th scope="col">Trainings</th>
            <th scope="col">Success, %</th>
            <th scope="col">95 % interval</th>
            <th scope="col">Fell below {fallen_below} %</th>
            <th scope="col">Success of the others, %</th>
          </tr>
        </thead>
        <tbody>
          {methods.map(({ method, label, n, mean, interval, fallen, others }) => (
            <tr key={method}>
              <th scope="row">{label}</th>
              <td className="number">
                {n} of {worlds.length * training_seeds}
              </td>
              <td className="number">{mean.toFixed(1)}</td>
              <td className="number">{intervalText(interval)}</td>
              <td className="number">{fallen}</td>
              <td className="number">{fallen === 0 || others === null ? "–" : others.toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
