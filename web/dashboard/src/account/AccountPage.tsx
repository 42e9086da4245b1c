import { usePageTitle } from "../shell/title";

export default function AccountPage() {
  usePageTitle("Your account");
  return <div className="page"><h1>Your account</h1></div>;
}
