/** One key of an address: how it is read and written, and the kinds of keys that there are. */
import { isOneOf } from "../../core/one-of.ts";
import { HOME, type Place } from "./place.ts";

export interface AddressKey {
  name: string;
  /** What a problem says was expected in place of a value. */
  expected: string;
  /** The place with this value in it; null where the text is no value, or does not go with what the place has. */
  read(text: string, place: Place): Place | null;
  /** The place's values, one for each time that the key is written; none for the default. */
  write(place: Place): readonly string[];
}

/** A key with one value. Null, the default and the empty text are not written. */
export function one<F extends keyof Place>(
  name: string,
  field: F,
  expected: string,
  read: (text: string) => Place[F] | null,
  write: (value: NonNullable<Place[F]>) => string = String,
): AddressKey {
  return {
    name,
    expected,
    read(text, place) {
      const value = read(text);
      return value === null ? null : { ...place, [field]: value };
    },
    write({ [field]: value }) {
      const text = value === null || value === HOME[field] ? "" : write(value);
      return text === "" ? [] : [text];
    },
  };
}

type ListField = { [F in keyof Place]: Place[F] extends readonly unknown[] ? F : never }[keyof Place];

/** A key that is given once for each value of a list. `fits` says whether a place may have this list of texts. */
export function each<F extends ListField>(
  name: string,
  field: F,
  expected: string,
  read: (text: string) => Place[F][number] | null,
  fits: (texts: readonly string[], place: Place) => boolean,
  write: (value: Place[F][number]) => string = String,
): AddressKey {
  const texts = (values: readonly Place[F][number][]): readonly string[] => values.map(write);
  return {
    name,
    expected,
    read(text, place) {
      const value = read(text);
      if (value === null) return null;
      const values = [...place[field], value];
      return fits(texts(values), place) ? { ...place, [field]: values } : null;
    },
    write: (place) => texts(place[field]),
  };
}

/** A key whose value is one of some names. */
export function choice<F extends "signal" | "axis" | "control" | "show">(
  field: F,
  names: readonly Place[F][],
  expected = `one of ${names.join(", ")}`,
): AddressKey {
  return one(field, field, expected, (text) => (isOneOf(names, text) ? text : null));
}

/** A key with the one value that its field does not have by default, `on` or `off`. */
export function flag(name: string, field: "augmentation" | "terminalFailureNote" | "endOfTurn"): AddressKey {
  const word = HOME[field] ? "off" : "on";
  const read = (text: string): boolean | null => (text === word ? !HOME[field] : null);
  return one(name, field, word, read, () => word);
}

/** A key that says by what a table is sorted, with - before it for descending. */
export function order<F extends "sort" | "changesSort">(
  name: string,
  field: F,
  descending: "descending" | "changesDescending",
  names: readonly Place[F][],
): AddressKey {
  const text = (place: Place): string => `${place[descending] ? "-" : ""}${place[field]}`;
  return {
    name,
    expected: `one of ${names.join(", ")}, with - before it for descending`,
    read(value, place) {
      const by = value.replace(/^-/, "");
      return isOneOf(names, by) ? { ...place, [field]: by, [descending]: value.startsWith("-") } : null;
    },
    write: (place) => (text(place) === text(HOME) ? [] : [text(place)]),
  };
}
