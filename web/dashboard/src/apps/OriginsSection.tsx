import { useRef } from "react";

import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { CloseIcon, PlusIcon } from "../ui/icons";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

// The service does not say which origin is wrong.
const isOrigin = (origin: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(origin);

export function OriginsSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { allowed_origins: app.settings.allowed_origins }, ({ allowed_origins = [] }) => ({
    allowed_origins: allowed_origins.map((origin) => origin.trim()).filter(Boolean),
  }));
  const list = useRef<HTMLDivElement>(null);
  const rows = form.value.allowed_origins;
  const error = form.errors["allowed_origins"];
  const someWrong = rows.some((row) => row.trim() && !isOrigin(row.trim()));
  const set = (allowed_origins: string[]) => form.change({ allowed_origins });

  function remove(at: number) {
    set(rows.filter((_, i) => i !== at));
    list.current?.querySelector<HTMLElement>("[data-add]")?.focus(); // the focused row is gone
  }

  return (
    <SettingsForm form={form}>
      <p className="quiet">
        The API key is in your pages, where anyone can copy it. List the origins of your pages, so that browsers can use the key only there.
        Calls from your own backend always work.
      </p>
      <div ref={list} className="stack" role="group" aria-label="Allowed origins">
        {rows.length === 0 && (
          <p className="card origins-any">
            No origins yet: <b>any site</b> can show the widget and send requests.
          </p>
        )}
        {rows.map((row, i) => (
          <div key={i} className="origin-row">
            <Field
              hideLabel
              label={`Origin ${i + 1}`}
              inputMode="url"
              placeholder="https://www.example.com"
              value={row}
              onChange={(text) => set(rows.with(i, text))}
              error={error && row.trim() && !isOrigin(row.trim()) ? error : undefined}
              isDisabled={form.readOnly}
              autoFocus={row === ""}
              autoComplete="off"
              spellCheck="false"
            />
            {!form.readOnly && (
              <Button kind="quiet" icon aria-label={`Remove ${row || "empty origin"}`} onPress={() => remove(i)}>
                <CloseIcon size={16} />
              </Button>
            )}
          </div>
        ))}
        {error && !someWrong && (
          <p className="field-error" role="alert">
            {error}
          </p>
        )}
        {!form.readOnly && rows.length < 100 && (
          <div>
            <Button data-add onPress={() => set([...rows, ""])}>
              <PlusIcon size={16} />
              Add origin
            </Button>
          </div>
        )}
      </div>
      <p className="quiet small">
        An origin is the scheme, host and port of an address, such as https://www.example.com or http://localhost:3000. Each subdomain is
        a separate origin.
      </p>
    </SettingsForm>
  );
}
