import { useState } from "react";

import { Button } from "../ui/Button";
import { useChanges } from "./changes";
import type { PickerProps } from "./picker";
import { PickerAudience } from "./SeenBy";

// UnmergePicker unmerges one request.
export function UnmergePicker({ target, close }: PickerProps) {
  const [quiet, setQuiet] = useState(false);
  const { unmerge } = useChanges();
  const [request] = "requests" in target ? target.requests : [];
  if (!request) return null;
  return (
    <>
      <div className="picker-form">
        <p>It gets its own status and votes back.</p>
        <div className="picker-foot">
          <Button onPress={close}>Cancel</Button>
          <Button
            kind="primary"
            autoFocus
            onPress={() => {
              close();
              void unmerge(request, quiet);
            }}
          >
            Unmerge
          </Button>
        </div>
      </div>
      <PickerAudience target={target} quiet={quiet} onQuiet={setQuiet} />
    </>
  );
}
