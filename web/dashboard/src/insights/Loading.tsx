import { Skeleton } from "../ui/states";

// Loading has the height of the charts, so that nothing jumps.
export function Loading() {
  return (
    <div className="charts" aria-busy="true">
      <div className="headline headline-loading"><Skeleton lines={2} label="Loading insights" /></div>
      <div className="card chart-card chart-card-wide loading-time" />
      <div className="card chart-card chart-card-wide loading-bars" />
      <div className="card chart-card loading-half" />
      <div className="card chart-card loading-half" />
    </div>
  );
}
