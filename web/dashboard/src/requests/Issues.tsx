import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useRef, useState, type RefObject } from "react";

import { absolute } from "../api/base";
import { call } from "../api/call";
import { appsQuery } from "../api/queries";
import type { FeatureRequest, Link } from "../api/types";
import { useForm } from "../pages/useForm";
import { webAddress } from "../text/address";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { CloseIcon, ExternalIcon } from "../ui/icons";
import { notify, notifyError } from "../ui/notices";
import { besideQuery } from "./details";
import { issueName, longestAddress, newIssue } from "./issues";
import { requestQuery } from "./rows";
import { Folded, Waiting } from "./Section";

// Issues are the links of a request to the issues of a tracker.
export function Issues({ request, editable }: { request: FeatureRequest; editable: boolean }) {
  const beside = useQuery(besideQuery(request.id));
  const links = beside.data?.links;
  const form = useRef<HTMLFormElement>(null);
  const client = useQueryClient();

  async function changed() {
    void client.invalidateQueries(requestQuery(request.id));
    await client.invalidateQueries(besideQuery(request.id));
  }

  async function add(url: string) {
    await call("links-add", { request_id: request.id, url });
    await changed();
  }

  async function remove({ id, url }: Link) {
    try {
      await call("links-remove", { request_id: request.id, id });
      await changed();
      form.current?.querySelector("input")!.focus(); // the focused button is gone
      notify("Link removed.", { undo: () => void add(url).catch((error) => notifyError(error)) });
    } catch (error) {
      notifyError(error, "Could not remove the link.");
    }
  }

  if (!editable && !beside.error && !links?.length) return null;
  return (
    <Folded title="Issues" count={links?.length} action={editable && <CreateIssue request={request} />}>
      <Waiting query={beside} lines={1} />
      <ul className="lines">
        {links?.map((link) => {
          const url = webAddress(link.url);
          const name = url ? issueName(url) : link.url;
          return (
            <li key={link.id} className="line">
              <ExternalIcon size={16} />
              <a className="line-title" href={url} title={url} target="_blank" rel="noopener noreferrer">{name}</a>
              {editable && (
                <Button small kind="quiet" icon aria-label={`Remove ${name}`} onPress={() => void remove(link)}>
                  <CloseIcon size={16} />
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {editable && <AddLink form={form} onAdd={add} />}
    </Folded>
  );
}

function CreateIssue({ request }: { request: FeatureRequest }) {
  const { data: apps } = useQuery(appsQuery);
  const { href } = useRouter().buildLocation({ to: "/", search: { request: request.id } });
  const template = apps?.find(({ id }) => id === request.app_id)?.settings.issue_template;
  const url = template && newIssue(template, request, absolute(href));
  if (!url) return null;
  return (
    <a className="button button-quiet button-small" href={url} target="_blank" rel="noopener noreferrer">
      <ExternalIcon size={16} />Create issue
    </a>
  );
}

interface AddProps {
  form: RefObject<HTMLFormElement | null>;
  onAdd(url: string): Promise<void>;
}

function AddLink({ form: element, onAdd }: AddProps) {
  const [url, setUrl] = useState("");
  const form = useForm(["url"], async () => {
    await onAdd(url.trim());
    setUrl("");
    notify("Link added.");
  });
  return (
    <form ref={element} className="issue-form" onSubmit={form.onSubmit}>
      <Field
        hideLabel
        label="Address of an issue"
        placeholder="Paste an issue link"
        inputMode="url"
        maxLength={longestAddress}
        value={url}
        onChange={setUrl}
        error={form.errorOf("url") ?? form.error}
        autoComplete="off"
        spellCheck="false"
      />
      <Button type="submit" isDisabled={!url.trim()} isPending={form.sending}>Add</Button>
    </form>
  );
}
