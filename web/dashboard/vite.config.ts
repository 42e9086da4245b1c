import optimizeLocales from "@react-aria/optimize-locales-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The service that `npm run dev` talks to.
const service = process.env["GATHERKIT"] ?? "http://127.0.0.1:8080";

// matching matches the files in src whose paths begin with one of the parts.
const matching = (...parts: string[]) => new RegExp(`[/]src[/](${parts.join("|")})`);

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
        // A few chunks compress better than thirty: the libraries, what all pages share, the inbox, the details of a
        // request, what the keyboard opens, webhooks, and the pages besides. Portal and Changelog have chunks of their own.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "vendor", test: /node_modules/, priority: 1 },
            { name: "pages", test: matching("account|apps/(?!sections)|color|insights|mentions/M", "team|tokens|pages/Join") },
            { name: "webhooks", test: matching("webhooks") },
            { name: "help", test: matching("shell/(Palette|ShortcutsHelp)", "text/typos") },
            {
              name: "ui",
              test: matching("api|styles|ui|shell|pages|router|apps/sections|mentions/queries",
                "inbox/(facets.ts|SaveView|search|View|views)", "requests/(commentId|ExportMenu|fold|person.ts|statuses)",
                "text/(cut|letters|searchable)"),
            },
            {
              name: "details",
              test: matching("text/(?!address|device)|inbox/NewRequest",
                "requests/(AddVote|Attach|banners|Comment|Discard|draft|Facts|History)",
                "requests/(issues|Issues|keptFocus|Mention|MergedIn|Properties|Request|Similar|StatusLinks|TextEditor|Voters)"),
            },
            { name: "inbox", test: matching("inbox|requests|text") },
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
