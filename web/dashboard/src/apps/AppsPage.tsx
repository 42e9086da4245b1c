import { usePageTitle } from "../shell/title";

export default function AppsPage() {
  usePageTitle("Apps");
  return <div className="page"><h1>Apps</h1></div>;
}
