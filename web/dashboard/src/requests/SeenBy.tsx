import { useQuery } from "@tanstack/react-query";

import { Switch } from "../ui/choices";
import { seenBy } from "./audience";
import { besideQuery } from "./details";
import { rowOf } from "./rows";
import type { Target } from "./target";
import "./audience.css";

interface SeenByProps {
  target: Target;
  what?: string; // the change, if the text stands beside several
  comment?: boolean; // voters do not see comments
}

// SeenBy says who outside the team will see a change of one request. It takes its place before it knows. Of several
// requests, it says only that people may see it: counting them would take a call for each.
export function SeenBy({ target, what, comment }: SeenByProps) {
  const [first, ...others] = "requests" in target ? target.requests : [];
  const one = first && !others.length ? rowOf(first) : undefined;
  const { data, error } = useQuery({ ...besideQuery(one?.id ?? ""), enabled: !!one });
  let text = "";
  if (!one) text = "Customers who asked or voted may see this";
  else if (data) text = seenBy({ ...data.audience, ...(comment && { voters: 0 }) }, one, what ?? "this");
  else if (error) text = "Couldn’t load who will see this";
  return <p className="seen-by" role={what ? undefined : "status"}>{text}</p>;
}

interface Props {
  target: Target;
  quiet: boolean;
  onQuiet(quiet: boolean): void;
}

// PickerAudience is the foot of a picker whose change people outside may see.
export function PickerAudience({ target, quiet, onQuiet }: Props) {
  return (
    <div className="picker-foot picker-audience">
      <SeenBy target={target} />
      <QuietSwitch quiet={quiet} onQuiet={onQuiet} />
    </div>
  );
}

// QuietSwitch makes a change quiet: the people who asked or voted are not told.
export function QuietSwitch({ quiet, onQuiet }: Omit<Props, "target">) {
  return <Switch isSelected={quiet} onChange={onQuiet}>Don’t notify anyone</Switch>;
}
