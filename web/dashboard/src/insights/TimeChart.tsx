import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, useId, useState } from "react";

import { number } from "../ui/marks";
import { type Bin, binName, labeled, ticksUpTo } from "./bins";
import type { Search } from "../inbox/search";
import { requestCount } from "./numbers";
import { shortDay, timesOf } from "./range";
import { useWidth } from "./useWidth";

const height = 200;
const margin = { top: 8, right: 4, bottom: 24, left: 36 };
const plotHeight = height - margin.top - margin.bottom;

// TimeChart shows bars over time. A single link covers all bars and opens the one under the
// pointer, or the one that the arrow keys chose. A link for each bar would be too thin for a
// finger, and would make up to ninety tab stops.
export function TimeChart({ bins, search }: { bins: Bin[]; search: Search }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [chosen, setChosen] = useState<number | null>(null);
  const help = useId();
  const plotWidth = Math.max(0, width - margin.left - margin.right);
  const step = plotWidth / bins.length;
  const at = chosen === null || chosen >= bins.length ? null : chosen;
  const current = bins[at ?? bins.length - 1]!;

  function point(event: PointerEvent) {
    const { left } = event.currentTarget.getBoundingClientRect();
    setChosen(Math.min(bins.length - 1, Math.max(0, Math.floor((event.clientX - left) / step))));
  }

  function move(event: KeyboardEvent) {
    const from = at ?? bins.length - 1;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: bins.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setChosen(Math.min(bins.length - 1, Math.max(0, to)));
  }

  return (
    <div className="time-chart" ref={box}>
      <p className="time-readout" role="status">
        {at === null ? summaryOf(bins) : `${binName(current)}: ${requestCount(current.requests)}`}
      </p>
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          <Axes bins={bins} step={step} plotWidth={plotWidth} chosen={at} />
        </svg>
      )}
      <Link
        to="/"
        search={{ ...search, ...timesOf(current) }}
        className="time-link"
        aria-label={`${binName(current)}: ${requestCount(current.requests)}, open in inbox`}
        aria-describedby={help}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={(event) => event.pointerType === "mouse" && setChosen(null)}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && setChosen(at ?? bins.length - 1)}
        onBlur={() => setChosen(null)}
        onKeyDown={move}
      />
      <span id={help} hidden>
        Use the arrow keys to move between bars.
      </span>
    </div>
  );
}

function Axes({ bins, step, plotWidth, chosen }: { bins: Bin[]; step: number; plotWidth: number; chosen: number | null }) {
  const ticks = ticksUpTo(Math.max(...bins.map((bin) => bin.requests)));
  const top = ticks[ticks.length - 1]!;
  const y = (requests: number) => margin.top + plotHeight * (1 - requests / top);
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0;
  const labels = labeled(bins, plotWidth);
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line className="time-grid" x1={margin.left} x2={margin.left + plotWidth} y1={y(tick)} y2={y(tick)} />
          <text className="time-label" x={margin.left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
            {number(tick)}
          </text>
        </g>
      ))}
      {bins.map((bin, i) => {
        const x = margin.left + i * step;
        const barWidth = Math.max(1, Math.min(step - gap, 48));
        return (
          <g key={bin.from}>
            {chosen === i && <rect className="time-pointed" x={x} y={margin.top} width={step} height={plotHeight} />}
            <rect
              className={chosen === i ? "time-bar time-bar-chosen" : "time-bar"}
              x={x + (step - barWidth) / 2}
              y={y(bin.requests)}
              width={barWidth}
              height={plotHeight + margin.top - y(bin.requests)}
              rx={Math.min(3, step / 4)}
            />
            {labels.has(i) && (
              <text className="time-label" x={x} y={height - 6}>
                {shortDay(bin.from)}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function summaryOf(bins: Bin[]): string {
  const most = bins.reduce((a, b) => (b.requests > a.requests ? b : a));
  return most.requests === 0 ? "No requests" : `Peak: ${requestCount(most.requests)}, ${binName(most)}`;
}
