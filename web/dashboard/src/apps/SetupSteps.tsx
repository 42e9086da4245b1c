import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";

import type { Params } from "../api/call";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { notify, notifyError } from "../ui/notices";
import { Checklist, type Item } from "./Checklist";
import { latestQuery, sentQuery, useAppChange } from "./data";
import { NextSteps } from "./NextSteps";

type Settings = Params<"apps-update-settings">["settings"];

interface Step extends Item {
  on?: Settings; // what turns it on, and back off
  off?: Settings;
}

// SetupSteps is a checklist for a new app. When everything is done, it says what else helps.
export function SetupSteps({ app }: { app: App }) {
  const latest = useQuery(latestQuery(app.id)).data?.request;
  const sent = useQuery({ ...sentQuery(app.id, latest?.id ?? ""), enabled: !!latest, placeholderData: keepPreviousData });
  const change = useAppChange("apps-update-settings");
  const card = useRef<HTMLElement>(null);
  const { sharing, widget } = app.settings;
  const params = { id: app.id };
  const steps: Step[] = [
    {
      done: latest === null ? false : sent.data,
      title: "Receive a request from your site",
      hint: "Paste the line below into your pages, then send an idea.",
    },
    {
      done: sharing !== "none",
      title: "Show similar ideas",
      hint: (
        <>
          People vote for an idea instead of sending it again. They see ideas that you have triaged, but not who sent them.{" "}
          <Link to="/apps/$id" params={params} search={{ section: "sharing" }}>More choices</Link>
        </>
      ),
      on: { sharing: "triaged" },
      off: { sharing: "none" },
    },
    {
      done: widget.allow_file_uploads,
      title: "Accept files",
      hint: "People can attach up to 5 images, PDFs or text files, such as a screenshot.",
      on: { widget: { allow_file_uploads: true } },
      off: { widget: { allow_file_uploads: false } },
    },
  ];
  const left = steps.filter(({ done }) => done === false).length;
  if (left === 0) return <NextSteps app={app} latest={latest} />;

  function turnOn({ title, on, off }: Step) {
    const set = (settings: Settings) => change.mutateAsync({ id: app.id, settings });
    set(on!).then(
      () => {
        notify(`${title}: on.`, { undo: () => void set(off!).catch((error) => notifyError(error)) });
        (left > 1 ? card.current : document.getElementById("main"))?.focus(); // the button disappears
      },
      (error) => notifyError(error),
    );
  }
  const items = steps.map((step) => ({
    ...step,
    action: step.on && (
      <Button small aria-label={`Turn on: ${step.title}`} isPending={change.isPending} onPress={() => turnOn(step)}>Turn on</Button>
    ),
  }));
  return <Checklist card={card} title={`Set up ${app.name}`} items={items} />;
}
