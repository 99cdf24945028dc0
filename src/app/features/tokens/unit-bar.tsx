/** What one token of the strip and of the table is: a piece, a whole word, a whole action. */
import { chooseUnit, usePreferences } from "./preferences.ts";
import { UNITS, type Unit } from "./units.ts";

const TITLES: Record<Unit, string> = { pieces: "pieces", words: "words", actions: "actions" };

const MEANINGS: Record<Unit, string> = {
  pieces: "tokens as the model reads them",
  words: "whole words: the log-probabilities of their pieces are added up",
  actions: "the whole thought and the whole action: the log-probabilities of their pieces are added up",
};

export function UnitBar() {
  const unit = usePreferences((state) => state.unit);
  return (
    <>
      <fieldset className="signals">
        <legend className="hidden-visually">Unit</legend>
        {UNITS.map((each) => (
          <label key={each} title={MEANINGS[each]} className={each === unit ? "chosen" : ""}>
            <input
              type="radio"
              name="unit"
              value={each}
              checked={each === unit}
              onChange={() => chooseUnit(each)}
            />
            {TITLES[each]}
          </label>
        ))}
      </fieldset>
      {unit !== "pieces" && <p className="note">Log-probabilities of the pieces are added up.</p>}
    </>
  );
}
