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

// Preview shows the real widget with unsaved settings, in a frame that cannot send anything.
// When the settings of the form change, it opens the form.
export function Preview({ widget, sharing }: { widget: Widget; sharing: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const form = useRef(formOf(widget));
  const [ready, setReady] = useState(false);
  const [dark, setDark] = useState(startsDark);
  const settings = JSON.stringify({ widget, sharing, theme: dark ? "dark" : "light" });

  useEffect(() => {
    function listen({ source, origin, data }: MessageEvent) {
      // The page is sandboxed, so its origin is opaque.
      if (source === frame.current?.contentWindow && origin === "null" && data === "ready") setReady(true);
    }
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);

  useEffect(() => {
    if (!ready) return;
    const open = form.current !== formOf(widget);
    form.current = formOf(widget);
    // An opaque origin cannot be a target. The message contains no secret.
    frame.current?.contentWindow?.postMessage({ ...JSON.parse(settings), open }, "*");
  }, [ready, settings]);

  return (
    <div className="preview">
      <div className="preview-head">
        <h3>Preview</h3>
        <Switch isSelected={dark} onChange={setDark}>Dark page</Switch>
      </div>
      <iframe
        ref={frame}
        className="preview-frame"
        title="Widget preview"
        src={absolute("preview")}
        sandbox="allow-scripts allow-forms"
      />
      <p className="quiet small">This is the real widget. Try the form: nothing that you send here is stored.</p>
    </div>
  );
}
