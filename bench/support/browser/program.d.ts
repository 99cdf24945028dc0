/** A program bundled for a Web Worker, as text: `scripts/run.mjs` makes it. */
declare module "*?program" {
  const text: string;
  export default text;
}
