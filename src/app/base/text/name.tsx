import { Fragment } from "react";

/** A name of a game or a record: its lines break after `/`, `_` and `-`, and inside a word only where it has no room. */
export function Name({ children: name }: { children: string }) {
  return (
    <bdi>
      {name.split(/(?<=[/_-])/).map((part, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name have no other name
        <Fragment key={n}>
          {n > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}
