import { useEffect } from "react";

// HoldKeys keeps keys from the page while a dialog that was opened by a key loads.
export function HoldKeys() {
  useEffect(() => {
    const hold = (event: KeyboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", hold, true);
    return () => window.removeEventListener("keydown", hold, true);
  }, []);
  return null;
}
