import { useId, useState } from "react";
import { FileTrigger } from "react-aria-components";

import { Button } from "../ui/Button";
import { AppMark } from "../ui/marks";
import type { Step } from "./draft";
import { shrunk } from "./shrunk";

const types = ["image/png", "image/jpeg", "image/webp", "image/gif"];

// Logo edits the picture beside the app's name. It makes the file that the user chooses small enough.
export function Logo({ app, form }: Step) {
  const { value, change, errors, readOnly: isDisabled } = form;
  const [unreadable, setUnreadable] = useState(false);
  const label = useId();
  const error = unreadable ? "This file is not a picture that the browser can read. Choose a PNG, JPEG, WebP or GIF." : errors["logo"];

  const choose = async (files: FileList | null) => {
    const [file] = files ?? [];
    if (!file) return;
    try {
      change({ logo: await shrunk(file) });
      setUnreadable(false);
    } catch {
      setUnreadable(true);
    }
  };

  return (
    <div className="field" role="group" aria-labelledby={label}>
      <span className="field-label" id={label}>Logo (optional)</span>
      <div className="portal-logo">
        <Mark app={app} logo={value.logo} />
        <FileTrigger acceptedFileTypes={types} onSelect={choose}>
          <Button small isDisabled={isDisabled}>{value.logo ? "Replace" : "Choose a file"}</Button>
        </FileTrigger>
        {value.logo && <Button small kind="quiet" onPress={() => change({ logo: "" })} isDisabled={isDisabled}>Remove</Button>}
      </div>
      <p className="field-hint">A square picture that is visible on light and dark pages.</p>
      <p className="field-error" role="alert">{error}</p>
    </div>
  );
}

// Mark is the logo, or the square in the color of the app.
export function Mark({ app, logo }: { app: Step["app"]; logo: string }) {
  return logo ? <img className="portal-mark" src={`data:image/png;base64,${logo}`} width={32} height={32} alt="" /> : <AppMark app={app} />;
}
