/** Saves and copies pictures; what was done, or why it was not, as a sentence. */
import { saveFile } from "../save-file.ts";
import { type Picture, pngOf } from "./picture.ts";
import { safeName } from "./safe-name.ts";

export const PICTURE_FORMATS = ["SVG", "PNG"] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

/** `name` without its ending. */
export async function savePicture(picture: Picture, format: PictureFormat, name: string): Promise<string> {
  const file = `${safeName(name)}.${format.toLowerCase()}`;
  try {
    saveFile(
      file,
      format === "SVG" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await pngOf(picture),
    );
    return `Saved ${file}.`;
  } catch (error) {
    return `${file} was not saved: ${error instanceof Error ? error.message : String(error)}. Save the SVG instead.`;
  }
}

/** Copies the PNG, where the browser lets a page write images to the clipboard. */
export async function copyPicture(picture: Picture): Promise<string> {
  if (typeof ClipboardItem === "undefined" || navigator.clipboard?.write === undefined)
    return "This browser lets no page copy an image: save the PNG instead.";
  try {
    // Given as a promise, so that the click still counts when the picture is ready.
    await navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(picture) })]);
    return "Copied the picture as PNG.";
  } catch {
    return "The browser did not let this page copy an image: save the PNG instead.";
  }
}

/** The text of the SVG file. */
export async function copySvg(picture: Picture): Promise<string> {
  try {
    await navigator.clipboard.writeText(picture.svg);
    return "Copied the picture as SVG.";
  } catch {
    return "The browser does not let this page write to the clipboard: save the SVG instead.";
  }
}
