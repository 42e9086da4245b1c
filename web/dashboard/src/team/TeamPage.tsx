import { usePageTitle } from "../shell/title";

export default function TeamPage() {
  usePageTitle("Team");
  return <div className="page"><h1>Team</h1></div>;
}
