import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The service that `npm run dev` talks to.
const service = process.env["GATHERKIT"] ?? "http://127.0.0.1:8080";

// The parts of React Aria that the inbox loads later: components, and the folders of their hooks.
const later = [
  ...["Tabs", "ListBox", "Select", "RadioGroup", "Switch", "ToggleButton", "ToggleButtonGroup"],
  ...["tabs", "select", "radio", "switch", "listbox", "list"],
];

export default defineConfig({
  // Relative, because a proxy may serve the program below a path. web/dashboard.go adds "../" for
  // deeper pages.
  base: "./",
  // The dashboard is in English, so React Aria's texts for screen readers must be, too.
  plugins: [react(), optimizeLocales.vite({ locales: ["en-US"] })],
  build: {
    target: "es2022",
    // The policy allows neither data: URLs of inlined images nor the inline script of the polyfill.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000, // weigh.mjs has its own limits
    rollupOptions: {
      output: {
        // Two chunks of libraries compress better than thirty. The inbox loads the second later.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "controls", test: new RegExp(`react-(aria|stately).*[/](${later.join("|")})(\\.mjs|[/])`), priority: 2 },
            { name: "vendor", test: /node_modules/, priority: 1 },
          ],
        },
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/exports", "/attachments", "/uploads", "/widget", "/preview", "/docs"].map((path) => [path, service]),
    ),
  },
});
