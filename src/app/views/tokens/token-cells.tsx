import { navigate } from "../../place/navigate.ts";

/** The first cells of a token's row: its place in the response, and its text, which leads to it. */
export function TokenCells({ at, text }: { at: number; text: string }) {
  return (
    <>
      <td className="number">{at}</td>
      <th scope="row">
        <button type="button" className="plain" onClick={() => navigate({ token: at })}>
          <bdi>
            <code>{text}</code>
          </bdi>
        </button>
      </th>
    </>
  );
}
