/** 1 rem in CSS pixels: 16, unless the user has chosen another size of text. */
export const remPixels = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
