import { type ReactNode, useId, useState } from "react";

import { Button } from "../ui/Button";

// ChartCard shows a chart, or its numbers as a table.
export function ChartCard({
  title,
  note,
  chart,
  table,
  wide,
}: {
  title: string;
  note?: ReactNode;
  chart: ReactNode;
  table: ReactNode;
  wide?: boolean;
}) {
  const heading = useId();
  const [asTable, setAsTable] = useState(false);
  return (
    <section className={wide ? "card chart-card chart-card-wide" : "card chart-card"} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        <Button small aria-pressed={asTable} aria-describedby={heading} onPress={() => setAsTable(!asTable)}>Show as table</Button>
      </header>
      {note && <p className="quiet small">{note}</p>}
      {asTable ? <div className="chart-table">{table}</div> : chart}
    </section>
  );
}
