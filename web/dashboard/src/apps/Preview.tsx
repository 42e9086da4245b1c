import { useEffect, useRef, useState } from "react";

import { absolute } from "../api/base";
import type { App } from "../api/types";
import { currentSettings } from "../shell/settings";
import { Switch } from "../ui/choices";

type Widget = App["settings"]["widget"];

const formOf = ({ show_email_field, require_email, allow_file_uploads }: Widget): string =>
  [show_email_field, require_email, allow_file_uploads].join();

function startsDark(): boolean {
  const { theme } = currentSettings();
  return theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

// The real widget with settings that need not be saved, on a page of its own that can send
// nothing. When the form's settings change, the form opens to show it.
export function Preview({ widget, sharing }: { widget: Widget; sharing: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const form = useRef(formOf(widget));
  const [ready, setReady] = useState(false);
  const [dark, setDark] = useState(startsDark);
  const look = JSON.stringify({ widget, sharing, theme: dark ? "dark" : "light" });

  useEffect(() => {
    function listen({ source, origin, data }: MessageEvent) {
      // The page is sandboxed, and has no origin.
      if (source === frame.current?.contentWindow && origin === "null" && data === "ready") setReady(true);
    }
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);

  useEffect(() => {
    if (!ready) return;
    const open = form.current !== formOf(widget);
    form.current = formOf(widget);
    // Without an origin it cannot be addressed by one; what it is told is no secret.
    frame.current?.contentWindow?.postMessage({ ...JSON.parse(look), open }, "*");
  }, [ready, look]);

  return (
    <div className="preview">
      <div className="preview-head">
        <h3>Preview</h3>
        <Switch isSelected={dark} onChange={setDark}>Dark page</Switch>
      </div>
      <iframe
        ref={frame}
        className="preview-frame"
        title="Preview of the widget"
        src={absolute("preview")}
        sandbox="allow-scripts allow-forms"
      />
      <p className="quiet small">This is the widget itself. Press its button and try the form: nothing that you send here is stored.</p>
    </div>
  );
}
