import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";

import { appsQuery, usersQuery } from "../api/queries";
import type { FeatureRequest } from "../api/types";
import { Switch } from "../ui/choices";
import { ReplyIcon } from "../ui/icons";
import { Avatar, StatusMark, TagMark, Time } from "../ui/marks";
import { useChanges } from "./changes";
import { etaText } from "./eta";
import { usePicker, type PickerKind } from "./picker";
import { statusName } from "./statuses";

export function Properties({ request, editable }: { request: FeatureRequest; editable: boolean }) {
  const { update } = useChanges();
  const users = useQuery(usersQuery);
  const apps = useQuery(appsQuery);
  const assignee = users.data?.find((user) => user.id === request.assignee_id);
  const app = apps.data?.find((one) => one.id === request.app_id);

  function property(kind: PickerKind, name: string, value: ReactNode, open = editable) {
    return (
      <Property name={name}>
        {open ? (
          <Chooser kind={kind} name={name} request={request}>
            {value}
          </Chooser>
        ) : (
          <span className="property-value">{value}</span>
        )}
      </Property>
    );
  }

  return (
    <dl className="properties">
      {property(
        "status",
        "Status",
        <StatusMark status={request.status} name={statusName(apps.data, request.status, request.app_id)} />,
        editable && !request.merged_into_id,
      )}
      {property(
        "assignee",
        "Assignee",
        request.assignee_id ? (
          <>
            <Avatar name={assignee?.name ?? ""} />
            {assignee?.name ?? (users.isPending ? "…" : "Former member")}
          </>
        ) : (
          <span className="quiet">Unassigned</span>
        ),
      )}
      {property("eta", "ETA", request.eta ? <span className="number">{etaText(request.eta)}</span> : <span className="quiet">None</span>)}
      {property(
        "tags",
        "Tags",
        request.tags.length > 0 ? (
          <span className="property-tags">
            {request.tags.map((tag) => (
              <TagMark key={tag} tag={tag} />
            ))}
          </span>
        ) : (
          <span className="quiet">None</span>
        ),
      )}
      {(editable || request.hidden) && (
        <Property name="Hidden">
          <Switch
            isSelected={request.hidden}
            isDisabled={!editable}
            onChange={(hidden) => void update({ requests: [request] }, { hidden })}
          >
            Show it only to your team and the submitter
          </Switch>
        </Property>
      )}
      <Property name="App">
        <span className="property-value">{app?.name ?? "…"}</span>
      </Property>
      {request.reply_at && (
        <Property name="Replied">
          <span className="property-value"><Time at={request.reply_at} /><span className="replied"><ReplyIcon size={16} /></span></span>
        </Property>
      )}
    </dl>
  );
}

function Property({ name, children }: { name: string; children: ReactNode }) {
  return <div className="property"><dt>{name}</dt><dd>{children}</dd></div>;
}

function Chooser({ kind, name, request, children }: { kind: PickerKind; name: string; request: FeatureRequest; children: ReactNode }) {
  const pick = usePicker();
  return (
    <AriaButton data-picker={kind} className="property-value property-button" onPress={() => pick(kind, { requests: [request] })}>
      <span className="visually-hidden">Change {name}: </span>{children}
    </AriaButton>
  );
}
