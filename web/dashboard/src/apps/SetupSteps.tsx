import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";

import type { Params } from "../api/call";
import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { CheckIcon } from "../ui/icons";
import { notify, notifyError } from "../ui/notices";
import { latestQuery, sentQuery, useAppChange } from "./data";

type Settings = Params<"apps-update-settings">["settings"];

interface Step {
  done: boolean | undefined; // undefined while it is unknown
  title: string;
  hint: ReactNode;
  on?: Settings; // what turns it on, and back off
  off?: Settings;
}

// SetupSteps is a checklist for a new app. It disappears when everything is done.
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
  if (left === 0) return null;

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
  return (
    <section ref={card} className="card setup-steps" aria-labelledby="setup-steps-title" tabIndex={-1}>
      <h3 id="setup-steps-title">Set up {app.name}</h3>
      <ol>
        {steps.map((step) => (
          <li key={step.title} className={step.done ? "setup-step setup-done" : "setup-step"}>
            <span className="setup-mark" aria-hidden="true">{step.done && <CheckIcon size={14} />}</span>
            <div>
              <p><span className="visually-hidden">{step.done ? "Done: " : "To do: "}</span>{step.title}</p>
              {step.done === false && <p className="quiet small">{step.hint}</p>}
            </div>
            {step.on && !step.done && (
              <Button small aria-label={`Turn on: ${step.title}`} isPending={change.isPending} onPress={() => turnOn(step)}>Turn on</Button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
