import { defineConfig } from "vite";

/** The page: built to dist/page, served by the Node worker (`npm start`) or any static host. */
export default defineConfig({
  base: "./",
  build: { outDir: "dist/page", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 1200 },
  worker: { format: "es" },
  server: { host: "127.0.0.1", port: 5173 },
});
