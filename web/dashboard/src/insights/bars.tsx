import { Link } from "@tanstack/react-router";

import type { Status } from "../api/types";
import { number } from "../ui/marks";
import { ChartCard } from "./ChartCard";
import type { Search } from "../inbox/search";

// A Row is a bar of a chart. search is the filter with which the inbox shows the same requests.
export interface Row {
  key: string;
  name: string;
  count: number;
  detail?: string;
  search?: Search;
  status?: Status;
}

interface Props {
  title: string;
  note?: string | undefined;
  // The headings of the table.
  columns: { name: string; count: string; detail?: string };
  rows: Row[];
  // The sum, if each request is in one row only.
  total?: number;
  wide?: boolean;
}

export function BarChart(props: Props) {
  const { title, note, rows, wide } = props;
  const most = Math.max(1, ...rows.map((row) => row.count));
  const chart = (
    <ul className="bars" aria-label={title}>
      {rows.map((row) => (
        <li key={row.key}>
          {row.search ? (
            <Link to="/" search={row.search} className="bar">
              <Bar row={row} most={most} />
            </Link>
          ) : (
            <div className="bar">
              <Bar row={row} most={most} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
  return <ChartCard title={title} note={note} chart={chart} table={<RowTable {...props} />} wide={wide} />;
}

function Bar({ row, most }: { row: Row; most: number }) {
  return (
    <>
      <span className="bar-name">{row.name}</span>
      <span className="bar-number number">{number(row.count)}{row.detail && <span className="bar-detail quiet">{row.detail}</span>}</span>
      <svg className="bar-line" width="100%" height="6" aria-hidden="true">
        <rect className="bar-track" width="100%" height="6" rx="3" />
        {row.count > 0 && <rect className="bar-fill" data-status={row.status} width={`${(100 * row.count) / most}%`} height="6" rx="3" />}
      </svg>
    </>
  );
}

export function RowTable({ title, columns, rows, total }: Props) {
  return (
    <table>
      <caption className="visually-hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{columns.name}</th>
          <th scope="col" className="cell-number">{columns.count}</th>
          {columns.detail && <th scope="col" className="cell-number">{columns.detail}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.search ? <Link to="/" search={row.search}>{row.name}</Link> : row.name}</th>
            <td className="cell-number number">{number(row.count)}</td>
            {columns.detail && <td className="cell-number number">{row.detail}</td>}
          </tr>
        ))}
      </tbody>
      {total !== undefined && (
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td className="cell-number number">{number(total)}</td>
            {columns.detail && <td />}
          </tr>
        </tfoot>
      )}
    </table>
  );
}
