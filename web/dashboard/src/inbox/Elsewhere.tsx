import { useQuery } from "@tanstack/react-query";

import type { Sort } from "../api/types";
import { readRows } from "../requests/rows";
import { Button } from "../ui/Button";
import { number } from "../ui/marks";

interface Props {
  words: string;
  sort: Sort;
  total: number; // of the list
  onShow(): void;
}

// Elsewhere says how many more requests a search finds without the filters, and shows them.
export function Elsewhere({ words, sort, total, onShow }: Props) {
  const { data } = useQuery({
    queryKey: ["requests", "everywhere", words, sort],
    queryFn: ({ signal }) => readRows({ query: words }, sort, "", 1, signal),
    staleTime: 0,
  });
  const more = (data?.total ?? 0) - total;
  if (more <= 0) return null;
  return (
    <Button small aria-label={`${number(more)} more in all requests`} onPress={onShow}>
      <span>{number(more)} more<span className="list-words"> in all requests</span></span>
    </Button>
  );
}
