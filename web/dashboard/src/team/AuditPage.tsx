import { usePageTitle } from "../shell/title";

export default function AuditPage() {
  usePageTitle("Audit log");
  return <div className="page"><h1>Audit log</h1></div>;
}
