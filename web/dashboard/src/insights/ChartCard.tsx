import { type ReactNode, useId, useState } from "react";
import { ToggleButton } from "react-aria-components";

// A chart with its numbers: whoever cannot or does not want to read the picture turns it
// into a table.
export function ChartCard({ title, note, chart, table, wide }: { title: string; note?: ReactNode; chart: ReactNode; table: ReactNode; wide?: boolean }) {
  const heading = useId();
  const [asTable, setAsTable] = useState(false);
  return (
    <section className={wide ? "card chart-card chart-card-wide" : "card chart-card"} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        <ToggleButton className="chart-toggle" isSelected={asTable} onChange={setAsTable} aria-describedby={heading}>
          Show as table
        </ToggleButton>
      </header>
      {note && <p className="quiet small">{note}</p>}
      {asTable ? <div className="chart-table">{table}</div> : chart}
    </section>
  );
}
