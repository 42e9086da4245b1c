import { useEffect, useRef, useState, type ReactNode } from "react";

import type { App } from "../api/types";
import { useAppChange } from "../apps/data";
import { SettingsForm, useSettingsForm } from "../apps/SettingsForm";
import { ProgressLine } from "../inbox/ProgressLine";
import { Button } from "../ui/Button";
import { Radios } from "../ui/choices";
import { focusPage } from "../ui/focus";
import { ExternalIcon } from "../ui/icons";
import { notify, notifyError } from "../ui/notices";
import { Address } from "./Address";
import { addressOf } from "./url";
import { Blocked } from "./Blocked";
import { Check } from "./Check";
import { settingsOf, slugOf, type Access, type Values } from "./draft";
import { Look } from "./Look";
import type { Sharing } from "./queries";
import { Rules } from "./Rules";
import "./portal.css";

const sharings: { id: Sharing; name: string; hint: string }[] = [
  { id: "triaged", name: "Triaged requests", hint: "Under review, planned, in progress or completed." },
  { id: "all", name: "All requests", hint: "Also those that are open or declined. Suspected spam is never shown." },
];

// PortalSection leads through the settings of an app's portal, to the button that switches it on.
export default function PortalSection({ app }: { app: App }) {
  const { portal, sharing: shared, public_name } = app.settings;
  const form = useSettingsForm<Values>(app, { ...portal, sharing: shared, public_name }, settingsOf);
  const [chosen, setChosen] = useState<Access>("public"); // while the portal is off
  const [emptied, setEmptied] = useState(false); // whether the user has removed the proposed slug
  const { value, errors, saving, readOnly } = form;
  const on = portal.access !== "off";
  const access = value.access === "off" ? chosen : value.access;
  const sharing = value.sharing === "none" ? "triaged" : value.sharing;
  const slug = value.slug || (emptied || portal.slug ? "" : slugOf(value.public_name || app.name));

  const page = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The page is long, and the field with the error may be out of sight.
    if (!saving) page.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [saving]);

  return (
    <div ref={page} className="portal">
      {on ? (
        <State app={app} canTurnOff={!readOnly} onOff={() => form.settle({ access: value.access })} />
      ) : (
        <p className="quiet">
          The portal is a page where people outside see the requests that you share, vote and comment. Nobody sees it before you switch
          it on.
        </p>
      )}
      <SettingsForm form={form} done="Saved.">
        <Step title="What becomes public">
          <Radios
            label="People see"
            value={sharing}
            options={sharings}
            onChange={(sharing) => form.change({ sharing })}
            error={errors["sharing"]}
            isDisabled={readOnly}
          />
          {!readOnly && <Check app={app} sharing={sharing} />}
          <ProgressLine />
        </Step>
        <Step title="Address and access">
          <Address
            app={app}
            form={form}
            slug={slug}
            onSlug={(typed) => {
              const slug = typed.toLowerCase().replace(/[^a-z0-9-]+/g, "-");
              setEmptied(!slug);
              form.change({ slug });
            }}
            access={access}
            onAccess={(access) => (on ? form.change({ access }) : setChosen(access))}
          />
        </Step>
        <Step title="Who may take part"><Rules form={form} /></Step>
        <Step title="Look"><Look app={app} form={form} /></Step>
        {!on && !readOnly && (
          <Step title="Switch it on">
            <p className="quiet">
              {access === "link" ? "Nobody can open the portal before you create its link." : "People can open the portal at once."} You
              can turn it off at any time.
            </p>
            <div>
              <Button kind="primary" isPending={saving} onPress={() => form.save({ access, sharing, slug })}>Switch on the portal</Button>
            </div>
          </Step>
        )}
      </SettingsForm>
      <Step title="Blocked people"><Blocked app={app} /></Step>
    </div>
  );
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return <section className="portal-step" aria-label={title}><h3>{title}</h3>{children}</section>;
}

function State({ app, canTurnOff, onOff }: { app: App; canTurnOff: boolean; onOff(): void }) {
  const turnOff = useAppChange("apps-update-settings");
  async function off() {
    try {
      await turnOff.mutateAsync({ id: app.id, settings: { portal: { access: "off" } } });
      onOff();
      focusPage();
      notify("The portal is off.");
    } catch (error) {
      notifyError(error, "The portal is still on.");
    }
  }
  return (
    <div className="card portal-state">
      <p><b>The portal is on.</b></p>
      <a className="button" href={addressOf(app.settings.portal)} target="_blank" rel="noreferrer">
        <ExternalIcon size={16} />Open the portal
      </a>
      {canTurnOff && <Button kind="danger" isPending={turnOff.isPending} onPress={() => void off()}>Turn off</Button>}
    </div>
  );
}
