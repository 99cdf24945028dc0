import { create } from "zustand";

/** Whether the case study of the shown decision is open. */
export const useCaseOpen = create<{ open: boolean }>(() => ({ open: false }));

export const setCaseOpen = (open: boolean): void => useCaseOpen.setState({ open });
