import { type Days, fullDay, inWords } from "./range";

// A Bin is a bar of the chart over time: a day, or a week if days would be too thin.
export interface Bin extends Days {
  requests: number;
}

const mostDailyBars = 92;

// Weeks start on Monday. The first and the last one can be shorter.
export function binsOf(byDay: { day: string; requests: number }[]): Bin[] {
  if (byDay.length <= mostDailyBars) {
    return byDay.map(({ day, requests }) => ({ from: day, to: day, requests }));
  }
  const bins: Bin[] = [];
  for (const { day, requests } of byDay) {
    const last = bins.at(-1);
    if (!last || new Date(day).getUTCDay() === 1) bins.push({ from: day, to: day, requests });
    else {
      last.to = day;
      last.requests += requests;
    }
  }
  return bins;
}

export function binName(bin: Bin): string {
  return bin.from === bin.to ? fullDay(bin.from) : inWords(bin);
}

export function areWeeks(bins: Bin[]): boolean {
  return bins.some((bin) => bin.to !== bin.from);
}

// ticksUpTo returns round integers for the axis, from 0 to at least the greatest value.
export function ticksUpTo(greatest: number, wanted = 4): number[] {
  const rough = Math.max(1, greatest / wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.ceil([1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough);
  const ticks = [0];
  while (ticks[ticks.length - 1]! < Math.max(greatest, 1)) ticks.push(ticks.length * step);
  return ticks;
}

// labeled returns the indices of the bars that get a label, so that labels do not overlap.
export function labeled(bins: Bin[], width: number, labelWidth = 64): Set<number> {
  const most = Math.max(1, Math.floor(width / labelWidth));
  const every = Math.max(1, Math.ceil(bins.length / most));
  const chosen = new Set<number>();
  for (let i = 0; i < bins.length; i += every) chosen.add(i);
  return chosen;
}
