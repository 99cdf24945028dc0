/** Light, dark or as the system wishes. */
import { useEffect } from "react";
import { remember, remembered } from "../base/remembered.ts";
import { setShell, THEMES, type Theme, useShell } from "./shell-state.ts";

const KEY = "gcopd-theme";

export function rememberedTheme(): Theme {
  const value = remembered(KEY);
  return THEMES.find((theme) => theme === value) ?? "system";
}

export function chooseTheme(theme: Theme): void {
  setShell({ theme });
  remember(KEY, theme);
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
