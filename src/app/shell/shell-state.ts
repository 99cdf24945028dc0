/** The frame around the views: its theme, and which dialog of it is open. */
import { create } from "zustand";
import type { GuidePage } from "./guide-pages.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface ShellState {
  theme: Theme;
  helpOpen: boolean;
  paletteOpen: boolean;
  deviceOpen: boolean;
  /** The open page of the guide. */
  guide: GuidePage | null;
  /** Files are dragged over the page. */
  dragging: boolean;
}

export const useShell = create<ShellState>(() => ({
  theme: "system",
  helpOpen: false,
  paletteOpen: false,
  deviceOpen: false,
  guide: null,
  dragging: false,
}));

export const setShell = useShell.setState;
