import { navigate } from "../../data/navigate.ts";

/** The first cells of a token's row: its place in the response, and its text, which selects it. */
export function TokenCells({ at, text, token = at }: { at: number; text: string; token?: number }) {
  return (
    <>
      <td className="number">{at}</td>
      <th scope="row">
        <button type="button" className="plain" onClick={() => navigate({ token })}>
          <bdi>
            <code>{text}</code>
          </bdi>
        </button>
      </th>
    </>
  );
}
