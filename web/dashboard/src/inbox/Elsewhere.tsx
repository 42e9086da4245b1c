import { useQuery } from "@tanstack/react-query";

import type { Sort } from "../api/types";
import { readRows } from "../requests/rows";
import { Button } from "../ui/Button";
import { number } from "../ui/marks";

interface Props {
  words: string;
  sort: Sort;
  total: number; // of the list
  exact: boolean;
  onShow(): void;
}

// Elsewhere says how many more requests a search finds without the filters, if that is known, and shows them.
export function Elsewhere({ words, sort, total, exact, onShow }: Props) {
  const { data } = useQuery({
    queryKey: ["requests", "everywhere", words, sort],
    queryFn: ({ signal }) => readRows({ query: words }, sort, "", 1, signal),
    staleTime: 0,
  });
  if (!data) return null;
  const counted = exact && data.exact;
  const more = data.total - total;
  if (counted && more <= 0) return null;
  const text = counted ? `${number(more)} more` : "More";
  return (
    <Button small aria-label={`${text} in all requests`} onPress={onShow}>
      <span>{text}<span className="list-words"> in all requests</span></span>
    </Button>
  );
}
