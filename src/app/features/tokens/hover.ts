/** The token under the pointer, the same in every drawing of the response; no part of the address. */
import { create } from "zustand";

export const useHover = create<{ token: number | null }>(() => ({ token: null }));

export function hover(token: number | null): void {
  if (useHover.getState().token !== token) useHover.setState({ token });
}
