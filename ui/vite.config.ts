import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  server: { port: 5173, strictPort: true },
  // The oldest webview the app runs in: macOS 14. Nothing is inlined, so that the content policy needs no exception.
  // The page is read from the disk, so its size matters little.
  build: {
    target: "safari17",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  // Properties are tried on many texts, which takes its time on a busy machine.
  // Long enough for a busy machine; what is read again and again for each new word takes longer still.
  // By itself vitest leaves a processor unused.
  // The contrast of the colours is computed from where they are said.
  test: {
    setupFiles: "./src/language/setup.ts",
    testTimeout: 240_000,
    maxWorkers: "100%",
    css: { include: [/tokens\.css/] },
  },
});
