import { usePageTitle } from "../shell/title";

export default function Inbox() {
  usePageTitle("Inbox");
  return <div className="page"><h1>Inbox</h1></div>;
}
