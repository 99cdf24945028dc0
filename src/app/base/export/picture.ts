/**
 * A drawing of the page as a picture that stands alone: light background, styles written into it, fonts named, title,
 * legend and caption around it. PNG is made of the same picture at twice its size.
 */
import { canvasMeasure, type Measure, round, SANS, textLine, wrapped, xmlText } from "./svg-text.ts";

export interface Picture {
  /** The text of an SVG file. */
  svg: string;
  /** In CSS pixels. */
  width: number;
  height: number;
}

/** Drawings of the page under one title. */
export interface Drawn {
  /** One drawing, or several with a heading each, which stand side by side as on the page. */
  svg: SVGSVGElement | readonly { svg: SVGSVGElement; heading: string }[];
  title: string;
  /** What the figures are of: model, evidence, files. */
  caption: string;
  /** Curves by the classes that style them on the page. */
  legend?: readonly { name: string; className: string; shape: string }[];
}

const PADDING = 14;
/** Between drawings side by side, and above each for its heading. */
const GAP = 16;
const HEADING = 20;
const INK = "#1b1d21";
const MUTED = "#555b65";

/** What the style sheet may say of a drawing. */
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-weight",
  "text-anchor",
] as const;

/** The picture of what is drawn, in the colours of the light theme whatever the page shows. */
export function picture({ svg, title, caption, legend = [] }: Drawn): Picture {
  const {
    body,
    samples,
    width: inner,
    height,
  } = "clientWidth" in svg ? single(svg, legend) : sheet(svg, legend);
  const width = inner + 2 * PADDING;
  const measure = canvasMeasure();
  const parts: string[] = [];
  let y = PADDING + 13;
  parts.push(textLine(title, { x: PADDING, y, size: 14, "font-weight": 600, fill: INK }));
  y += 8;
  if (legend.length > 0) {
    let x = PADDING;
    y += 14;
    for (const [i, { name }] of legend.entries()) {
      const wide = 32 + measure(name, 11, SANS) + 16;
      if (x > PADDING && x + wide > PADDING + inner) {
        x = PADDING;
        y += 16;
      }
      parts.push(`<g transform="translate(${round(x)},${round(y - 9)})">${samples[i]}</g>`);
      parts.push(textLine(name, { x: x + 32, y, size: 11, fill: MUTED }));
      x += wide;
    }
    y += 8;
  }
  parts.push(`<g transform="translate(${PADDING},${y})">${body}</g>`);
  y += height + 18;
  const foot = captionLines(caption, { x: PADDING, y, width: inner, measure });
  parts.push(foot.svg);
  return framed(parts, width, foot.end + PADDING - 6);
}

/** What stands between title and caption, its size, and the legend's samples. */
interface Body {
  body: string;
  samples: string[];
  width: number;
  height: number;
}

function single(svg: SVGSVGElement, legend: NonNullable<Drawn["legend"]>): Body {
  return { ...inLight(svg, legend), width: svg.clientWidth, height: svg.clientHeight };
}

/** Rows of drawings, broken where the page breaks them. */
function sheet(
  drawings: readonly { svg: SVGSVGElement; heading: string }[],
  legend: NonNullable<Drawn["legend"]>,
): Body {
  const parts: string[] = [];
  let samples: string[] = [];
  let [x, y, width, rowHeight] = [0, 0, 0, 0];
  let row: number | null = null;
  for (const { svg, heading } of drawings) {
    const { top } = svg.getBoundingClientRect();
    if (row !== null && Math.abs(top - row) > 1) {
      y += rowHeight + GAP;
      [x, rowHeight] = [0, 0];
    }
    row = top;
    const drawn = inLight(svg, parts.length === 0 ? legend : []);
    if (parts.length === 0) samples = drawn.samples;
    parts.push(textLine(heading, { x, y: y + 12, size: 11.5, "font-weight": 600, fill: INK }));
    parts.push(`<g transform="translate(${x},${y + HEADING})">${drawn.body}</g>`);
    x += svg.clientWidth + GAP;
    width = Math.max(width, x - GAP);
    rowHeight = Math.max(rowHeight, HEADING + svg.clientHeight);
  }
  return { body: parts.join(""), samples, width, height: y + rowHeight };
}

/** A caption in small letters; `end` is the baseline of its last line. */
export function captionLines(
  caption: string,
  { x, y, width, measure }: { x: number; y: number; width: number; measure: Measure },
): { svg: string; end: number } {
  const lines = wrapped(caption, width, (text) => measure(text, 10.5, SANS));
  const svg = lines.map((line, i) => textLine(line, { x, y: y + 14 * i, size: 10.5, fill: MUTED })).join("");
  return { svg, end: y + 14 * Math.max(0, lines.length - 1) };
}

/** The whole file, on white. */
export function framed(parts: readonly string[], width: number, height: number): Picture {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" ` +
    `font-family="${xmlText(SANS)}"><rect width="${w}" height="${h}" fill="#ffffff"/>${parts.join("")}</svg>\n`;
  return { svg, width: w, height: h };
}

/** Copies of the drawing and of the legend's samples with the light theme's styles written into them. */
function inLight(
  svg: SVGSVGElement,
  legend: NonNullable<Drawn["legend"]>,
): { body: string; samples: string[] } {
  const stage = document.createElement("div");
  stage.className = "picture-stage";
  stage.setAttribute("aria-hidden", "true");
  const figure = document.createElement("figure");
  // The style sheet knows the drawing by the figure around it.
  figure.className = svg.closest("figure")?.className ?? "";
  stage.append(figure);
  document.body.append(stage);
  try {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    // What the pointer did is not part of the picture.
    for (const transient of copy.querySelectorAll(".hovering")) transient.remove();
    figure.append(copy);
    const samples = legend.map(({ className, shape }) => {
      const sample = svgElement("svg", { class: className });
      sample.append(
        svgElement("path", { class: "curve", d: "M1,5h24" }),
        svgElement("path", { class: "point", transform: "translate(13,5)", d: shape }),
      );
      figure.append(sample);
      return contents(sample);
    });
    return { body: contents(copy), samples };
  } finally {
    stage.remove();
  }
}

function svgElement<Name extends "svg" | "path">(
  name: Name,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The inside of an SVG element as text, every element with its computed style. */
function contents(svg: SVGSVGElement): string {
  const elements = [...svg.querySelectorAll<SVGElement>("*")];
  const styles = elements.map((element) => {
    const computed = getComputedStyle(element);
    return STYLES.map((name) => [name, computed.getPropertyValue(name)] as const);
  });
  for (const [i, element] of elements.entries()) {
    for (const [name, value] of styles[i]!) if (value !== "") element.setAttribute(name, value);
    element.removeAttribute("class");
    element.removeAttribute("style");
  }
  const serializer = new XMLSerializer();
  return [...svg.children].map((child) => serializer.serializeToString(child)).join("");
}

/** The picture at twice its size, as dots. Rejects where the browser cannot draw it. */
export async function pngOf({ svg, width, height }: Picture, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser gives no canvas to draw on");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null)
        reject(new Error(`the browser makes no PNG of ${canvas.width} × ${canvas.height} dots`));
      else resolve(blob);
    }, "image/png");
  });
}
