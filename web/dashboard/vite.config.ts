import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The service that `npm run dev` talks to.
const service = process.env["GATHERKIT"] ?? "http://127.0.0.1:8080";

// What the inbox does not need at once of React Aria: components, and the folders of their hooks.
const later = [
  ...["Tabs", "ListBox", "Select", "RadioGroup", "Switch", "ToggleButton", "ToggleButtonGroup"],
  ...["tabs", "select", "radio", "switch", "listbox", "list"],
];

export default defineConfig({
  // Relative, as a proxy may serve the program below a path; web/dashboard.go adds "../"
  // for deeper pages.
  base: "./",
  // The dashboard speaks English, and so must what React Aria says to screen readers.
  plugins: [react(), optimizeLocales.vite({ locales: ["en-US"] })],
  build: {
    target: "es2022",
    // Inlined pictures would be data: URLs, and the polyfill an inline script; the policy
    // allows neither.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000, // weigh.mjs has limits of its own
    rollupOptions: {
      output: {
        // Two chunks of libraries compress better than thirty. The second has what the
        // inbox does not need at once.
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
