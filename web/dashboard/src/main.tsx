// First, so that the styles of components win over them.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/print.css";
import "./ui/composition";

import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";

import { absolute } from "./api/base";
import { queryClient } from "./api/queries";
import { router } from "./router";
import { Outbox } from "./shell/Outbox";
import { Notices } from "./ui/notices";

// Absolute, because browsers resolve the icon again after each navigation.
document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = absolute("icon.svg");

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <I18nProvider locale="en-US">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Notices><Outbox /></Notices>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
