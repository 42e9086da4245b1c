import { usePageTitle } from "../shell/title";

export default function InsightsPage() {
  usePageTitle("Insights");
  return <div className="page"><h1>Insights</h1></div>;
}
