import { useRef } from "react";

import type { App } from "../api/types";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { CloseIcon, PlusIcon } from "../ui/icons";
import { SettingsForm, useSettingsForm } from "./SettingsForm";

// The service says that one is wrong, but not which.
const looksRight = (origin: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(origin);

// The origins whose pages may use the app's key, one a row.
export function OriginsSection({ app }: { app: App }) {
  const form = useSettingsForm(app, { allowed_origins: app.settings.allowed_origins }, ({ allowed_origins = [] }) => ({
    allowed_origins: allowed_origins.map((origin) => origin.trim()).filter(Boolean),
  }));
  const list = useRef<HTMLDivElement>(null);
  const rows = form.value.allowed_origins;
  const fault = form.faults["allowed_origins"];
  const someWrong = rows.some((row) => row.trim() && !looksRight(row.trim()));
  const set = (allowed_origins: string[]) => form.change({ allowed_origins });

  function remove(at: number) {
    set(rows.filter((_, i) => i !== at));
    list.current?.querySelector<HTMLElement>("[data-add]")?.focus(); // the row that had the focus is gone
  }

  return (
    <SettingsForm form={form}>
      <p className="quiet">
        The key stands in your pages, where anybody can copy it. Name the origins of your pages here, and browsers can use it on no others.
        Calls from your own backend always work.
      </p>
      <div ref={list} className="stack" role="group" aria-label="Allowed origins">
        {rows.length === 0 && (
          <p className="card origins-any">
            The list is empty: <b>pages of any origin</b> can show the widget and send requests.
          </p>
        )}
        {rows.map((row, i) => (
          <div key={i} className="origin-row">
            <Field
              bare
              label={`Origin ${i + 1}`}
              inputMode="url"
              placeholder="https://www.example.com"
              value={row}
              onChange={(text) => set(rows.with(i, text))}
              error={fault && row.trim() && !looksRight(row.trim()) ? fault : undefined}
              isDisabled={form.readOnly}
              autoFocus={row === ""}
              autoComplete="off"
              spellCheck="false"
            />
            {!form.readOnly && (
              <Button kind="quiet" icon aria-label={`Remove ${row || "the empty row"}`} onPress={() => remove(i)}>
                <CloseIcon size={16} />
              </Button>
            )}
          </div>
        ))}
        {fault && !someWrong && (
          <p className="field-error" role="alert">
            {fault}
          </p>
        )}
        {!form.readOnly && rows.length < 100 && (
          <div>
            <Button data-add onPress={() => set([...rows, ""])}>
              <PlusIcon size={16} />
              Add an origin
            </Button>
          </div>
        )}
      </div>
      <p className="quiet small">
        An origin is how an address begins: the scheme, the host, and the port if there is one, such as https://www.example.com or
        http://localhost:3000. Each subdomain is an origin of its own.
      </p>
    </SettingsForm>
  );
}
