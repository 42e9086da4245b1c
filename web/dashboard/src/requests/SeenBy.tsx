import { useQuery } from "@tanstack/react-query";

import { Switch } from "../ui/choices";
import { seenBy, seenOfSeveral } from "./audience";
import { audiencesQuery, besideQuery } from "./details";
import { rowOf } from "./rows";
import type { Target } from "./target";
import "./audience.css";

const mostAsked = 20; // requests whose people it counts, each with a call

interface SeenByProps {
  target: Target;
  what?: string; // the change, if the text stands beside several
  comment?: boolean; // voters do not see comments
}

// SeenBy says who outside the team will see a change. It takes its place before it knows.
export function SeenBy({ target, what, comment }: SeenByProps) {
  const requests = "requests" in target ? target.requests : [];
  const few = requests.length > 0 && requests.length <= mostAsked;
  const one = requests.length === 1 ? rowOf(requests[0]!) : undefined;
  const single = useQuery({ ...besideQuery(one?.id ?? ""), enabled: !!one });
  const several = useQuery({ ...audiencesQuery(requests.map(({ id }) => id)), enabled: few && !one });
  let text = "";
  if (!few) text = "Customers who asked or voted may see this";
  else if (one && single.data) text = seenBy({ ...single.data.audience, ...(comment && { voters: 0 }) }, one, what ?? "this");
  else if (several.data) text = seenOfSeveral(several.data);
  else if (single.error ?? several.error) text = "Couldn’t load who will see this";
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
