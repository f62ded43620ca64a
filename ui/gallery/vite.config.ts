import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const target = fileURLToPath(new URL("../../target/gallery", import.meta.url));

// The page of the app with a scripted shell, for pictures of every state.
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  cacheDir: `${target}/cache`,
  build: { outDir: `${target}/page`, emptyOutDir: true, target: "safari17", chunkSizeWarningLimit: 2000 },
  preview: { host: "127.0.0.1", strictPort: true },
});
