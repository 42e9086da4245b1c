import { useEffect, useState } from "react";

// useDebounced returns the value after typing has paused.
export function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
