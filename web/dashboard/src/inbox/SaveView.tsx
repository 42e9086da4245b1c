import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { useSession } from "../api/session";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Switch } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { FormError } from "../ui/FormError";
import { notify, notifyError } from "../ui/notices";
import { edited, opening, placeIn, saveView, updateView, usePlaces } from "./views";
import { sortOf, whereOf, type Search } from "./search";

// SaveView saves a filter that is not that of a view, as a new view or in the one it began with.
export function SaveView({ search }: { search: Search }) {
  const { places } = usePlaces();
  const { can } = useSession();
  const navigate = useNavigate();
  const [naming, setNaming] = useState(false);
  const [shared, setShared] = useState(false);
  const place = placeIn(search, places);
  const { saved } = place;
  if (!edited(search, place)) return null;
  const fields = { filter: whereOf(search), sort: sortOf(search) };
  return (
    <>
      {saved && (can("member") || !saved.shared) && (
        <Button
          small
          onPress={() =>
            void updateView(saved.id, fields).then(() => notify(`View “${saved.name}” updated.`), (error) => notifyError(error))
          }
        >
          Update view
        </Button>
      )}
      <Button small kind="quiet" onPress={() => setNaming(true)}>Save as view</Button>
      <NameView
        title="Save view"
        isOpen={naming}
        onClose={() => setNaming(false)}
        initial=""
        save={async (name) => {
          const view = await saveView({ name, shared, ...fields });
          await navigate({ to: "/", search: opening({ id: view.id, name, search: { ...search, request: undefined } as Search }) });
        }}
      >
        {can("member") && (
          <Switch isSelected={shared} onChange={setShared} hint="Everybody on the team sees it in their navigation.">
            Share with the team
          </Switch>
        )}
      </NameView>
    </>
  );
}

interface NameProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  initial: string;
  save(name: string): Promise<unknown>;
  children?: ReactNode;
}

// NameView asks for the name of a view.
export function NameView({ isOpen, onClose, title, ...rest }: NameProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <NameForm onClose={onClose} {...rest} />
    </Dialog>
  );
}

function NameForm({ onClose, initial, save, children }: Omit<NameProps, "isOpen" | "title">) {
  const [name, setName] = useState(initial);
  const form = useForm(["name"], async () => {
    await save(name);
    onClose();
  });
  return (
    <form className="stack" onSubmit={form.onSubmit}>
      <FormError error={form.error} />
      <Field label="Name" value={name} onChange={setName} error={form.errorOf("name")} maxLength={60} isRequired autoFocus />
      {children}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isPending={form.sending}>Save</Button>
      </div>
    </form>
  );
}
