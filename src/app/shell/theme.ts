/** Light, dark or as the system wishes; remembered where the browser lets a page remember. */
import { useEffect } from "react";
import { setShell, THEMES, type Theme, useShell } from "./shell-state.ts";

const KEY = "gcopd-theme";

export function rememberedTheme(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === value) ?? "system";
  } catch {
    return "system";
  }
}

export function chooseTheme(theme: Theme): void {
  setShell({ theme });
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A page that may not store anything just forgets the choice.
  }
}

/** Writes `data-theme` on the root element, and follows the system while it is asked to. */
export function useTheme(): void {
  const theme = useShell((shell) => shell.theme);
  useEffect(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = (): void => {
      document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
}
