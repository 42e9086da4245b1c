import { usePageTitle } from "../shell/title";

export default function AppPage() {
  usePageTitle("App");
  return <div className="page"><h1>App</h1></div>;
}
