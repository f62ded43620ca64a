import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

// The script of the frame that shows diagrams and pages: one file, apart from the page, which never loads it.
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: fileURLToPath(new URL("../dist/preview", import.meta.url)),
    emptyOutDir: true,
    target: "safari17",
    chunkSizeWarningLimit: 5000,
    lib: { entry: "main.ts", formats: ["iife"], name: "preview", fileName: () => "preview.js" },
  },
  define: { "process.env.NODE_ENV": '"production"' },
});
