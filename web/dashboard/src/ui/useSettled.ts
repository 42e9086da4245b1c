import { useEffect, useState } from "react";

// The value as it is after a pause in typing.
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
