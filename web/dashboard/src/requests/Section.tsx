import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";

import { changeSettings, useSettings } from "../shell/settings";
import { Button } from "../ui/Button";
import { DownIcon } from "../ui/icons";
import { number } from "../ui/marks";
import { type Pages, readPages, usePrinting, usePrintLoad } from "../ui/printing";
import { message, Skeleton } from "../ui/states";

interface Props {
  title: string;
  count?: number | undefined;
  action?: ReactNode;
  children: ReactNode;
}

export function Section({ title, count, action, children }: Props) {
  return (
    <section className="request-section" aria-label={title} tabIndex={-1}>
      <div className="request-section-head">
        <h3>{title}{count !== undefined && <span className="quiet number"> {number(count)}</span>}</h3>
        {action}
      </div>
      {children}
    </section>
  );
}

type Asked = { isPending: boolean; error: Error | null; data: unknown; refetch(): unknown };

// Folded is a section whose content loads when the user opens it. The browser keeps which ones are open.
export function Folded({ title, count, action, children }: Props) {
  const { unfolded } = useSettings();
  const open = unfolded.includes(title);
  const toggle = () => changeSettings({ unfolded: open ? unfolded.filter((one) => one !== title) : [...unfolded, title] });
  return (
    <section className="request-section" aria-label={title} tabIndex={-1}>
      <div className="request-section-head">
        <h3>
          <AriaButton className="request-fold" aria-expanded={open} onPress={toggle}>
            <DownIcon size={16} />{title}{count !== undefined && <span className="quiet number"> {number(count)}</span>}
          </AriaButton>
        </h3>
        {action}
      </div>
      {open && children}
    </section>
  );
}

// Waiting shows that a section loads, with as many lines as it will have, or that loading it failed.
export function Waiting({ query, lines = 2 }: { query: Asked; lines?: number }) {
  if (query.isPending) return lines > 0 ? <Skeleton lines={lines} /> : null;
  if (!query.error || query.data) return null;
  return (
    <div className="request-failure" role="alert">
      <span>{message(query.error)}</span>
      <Button small onPress={() => void query.refetch()}>Try again</Button>
    </div>
  );
}

const printedPages = 20;

// More is the button for the next page, and reads what is printed.
export function More({ query, children }: { query: Pages & { isFetchingNextPage: boolean }; children: ReactNode }) {
  usePrintLoad(() => readPages(query, printedPages));
  const printing = usePrinting();
  if (!query.hasNextPage) return null;
  return (
    <>
      <Button small kind="quiet" isPending={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>{children}</Button>
      {printing && <p className="quiet small">The rest is not printed.</p>}
    </>
  );
}
