import type { ReactNode, RefObject } from "react";

import { CheckIcon } from "../ui/icons";

export interface Item {
  done: boolean | undefined; // undefined while it is unknown
  title: string;
  hint: ReactNode;
  action?: ReactNode; // which does it
}

interface Props {
  title: string;
  items: Item[];
  card?: RefObject<HTMLElement | null>;
  children?: ReactNode; // below the items
}

// Checklist shows what is done and what can be done next.
export function Checklist({ title, items, card, children }: Props) {
  return (
    <section ref={card} className="card checklist" aria-label={title} tabIndex={-1}>
      <h3>{title}</h3>
      <ol>
        {items.map((item) => (
          <li key={item.title} className={item.done ? "checklist-item checklist-done" : "checklist-item"}>
            <span className="checklist-mark" aria-hidden="true">{item.done && <CheckIcon size={14} />}</span>
            <div>
              <p><span className="visually-hidden">{item.done ? "Done: " : "To do: "}</span>{item.title}</p>
              {item.done === false && <p className="quiet small">{item.hint}</p>}
            </div>
            {!item.done && item.action}
          </li>
        ))}
      </ol>
      {children}
    </section>
  );
}
