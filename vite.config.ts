import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { guidePlugin } from "./scripts/guide-plugin.mjs";
import { GUIDE_PAGES } from "./src/app/shell/guide-pages.ts";

/** A running worker, for `npm run dev`: start both with the same GCOPD_TOKEN. */
const worker = "http://127.0.0.1:8791";
const token = process.env.GCOPD_TOKEN;

/** Annotations for other bundlers inside packages are nothing that we could change: no warnings about them. */
const quiet = (): Plugin => ({
  name: "gcopd-quiet",
  onLog: (_, log) => (log.code === "INVALID_ANNOTATION" ? false : undefined),
});

/**
 * Preloads the Latin typefaces, so that text is drawn in them from the first frame, and puts their licences beside the
 * page, as the Open Font License asks.
 */
const fonts = (): Plugin => ({
  name: "gcopd-fonts",
  apply: "build",
  generateBundle() {
    for (const name of ["inter", "jetbrains-mono"]) {
      const source = readFileSync(`node_modules/@fontsource-variable/${name}/LICENSE`);
      this.emitFile({ type: "asset", fileName: `licenses/${name}.txt`, source });
    }
  },
  transformIndexHtml: {
    order: "post",
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => /-latin-wght-normal-.*\.woff2$/.test(name))
        .map((name) => ({
          tag: "link",
          attrs: { rel: "preload", href: `./${name}`, as: "font", type: "font/woff2", crossorigin: true },
          injectTo: "head",
        })),
  },
});

/** The page: built to dist/page, served by the Node worker (`npm start`) or any static host. */
export default defineConfig({
  base: "./",
  build: { outDir: "dist/page", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 1200 },
  // The workers' packages too, so that the first visit to the development server is not interrupted by a reload.
  optimizeDeps: { entries: ["index.html", "src/app/**/*.worker.ts"] },
  worker: { format: "es", plugins: () => [quiet()] },
  server: {
    host: "127.0.0.1",
    port: 5173,
    // The worker takes its own Host and Origin only.
    proxy: { "/api": { target: worker, changeOrigin: true, headers: { origin: worker } } },
  },
  plugins: [
    quiet(),
    guidePlugin(GUIDE_PAGES),
    fonts(),
    {
      // The worker does this when it serves the built page.
      name: "gcopd-token",
      apply: "serve",
      transformIndexHtml: () =>
        token
          ? [{ tag: "meta", attrs: { name: "gcopd-token", content: token }, injectTo: "head-prepend" }]
          : [],
    },
    {
      // Vite's own client waits for its server in a worker made of a blob.
      name: "gcopd-vite-client",
      apply: "serve",
      transformIndexHtml: (html) =>
        html
          .replace("worker-src 'self'", "worker-src 'self' blob:")
          .replace(/; require-trusted-types-for [^"]*/, ""),
    },
  ],
});
