/** The charts on the screen as one picture: an SVG that needs no style sheet, or the same as PNG. */
import { saveFile } from "../../session/save-file.ts";

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-size",
  "font-family",
  "font-weight",
] as const;

/** A copy of a drawn chart that carries its styles in itself. */
function standalone(drawn: SVGSVGElement): SVGSVGElement {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawn.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, n) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) (to[n] as SVGElement).setAttribute(name, style.getPropertyValue(name));
  });
  return copy;
}

/** All charts below each other, each with its title, on the page's background. */
function picture(): { text: string; width: number; height: number } {
  const figures = [...document.querySelectorAll<HTMLElement>("[data-charts] figure")];
  const page = getComputedStyle(document.body);
  const ink = page.color;
  const parts: string[] = [];
  let [width, height] = [0, 0];
  const serializer = new XMLSerializer();
  for (const figure of figures) {
    const drawn = figure.querySelector("svg");
    if (drawn === null) continue;
    const title = new Text(figure.querySelector("figcaption")?.textContent ?? "");
    parts.push(
      `<text x="8" y="${height + 18}" fill="${ink}" font-size="12" font-weight="600" font-family="sans-serif">${serializer.serializeToString(title)}</text>`,
      `<g transform="translate(0,${height + 24})">${serializer.serializeToString(standalone(drawn))}</g>`,
    );
    width = Math.max(width, drawn.width.baseVal.value);
    height += 24 + drawn.height.baseVal.value;
  }
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="${page.backgroundColor}"/>${parts.join("")}</svg>`;
  return { text, width, height };
}

/** Saves the charts as `curves.svg` or, at twice the size, as `curves.png`. */
export async function saveChart(format: "svg" | "png"): Promise<void> {
  const { text, width, height } = picture();
  const svg = new Blob([text], { type: "image/svg+xml" });
  if (format === "svg") {
    saveFile("curves.svg", svg);
    return;
  }
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(2 * width, 2 * height);
  canvas.getContext("2d")!.drawImage(image, 0, 0, 2 * width, 2 * height);
  saveFile("curves.png", await canvas.convertToBlob({ type: "image/png" }));
}
