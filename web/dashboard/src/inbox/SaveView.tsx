import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { useSession } from "../api/session";
import { useForm } from "../pages/useForm";
import { Button } from "../ui/Button";
import { Switch } from "../ui/choices";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { focusAfterDialog } from "../ui/focus";
import { FormError } from "../ui/FormError";
import { notify, notifyError } from "../ui/notices";
import type { Search } from "./search";
import { mayChange, opening, placeIn, savedAs, saveView, updateView, usePlaces } from "./views";

// SaveView saves a filter as a new view, or in the one that it began with.
export function SaveView({ search }: { search: Search }) {
  const [naming, setNaming] = useState(false);
  const update = useUpdate(search);
  const pressed = useRef(false);
  // The buttons disappear when the filter is saved. The name of the view is beside them.
  useEffect(() => () => {
    if (pressed.current) focusAfterDialog(() => document.querySelector(".view-menu"));
  }, []);
  const press = (run: () => void) => () => {
    pressed.current = true;
    run();
  };
  return (
    <>
      {update && <Button small onPress={press(update)}>Update view</Button>}
      <Button small kind="quiet" onPress={press(() => setNaming(true))}>Save as view</Button>
      <SaveAs search={search} isOpen={naming} onClose={() => setNaming(false)} />
    </>
  );
}

// useUpdate returns a function that saves a filter and its order in the view that they began with, if the
// user may change it.
export function useUpdate(search: Search): (() => void) | undefined {
  const { places } = usePlaces();
  const { can } = useSession();
  const { saved } = placeIn(search, places);
  if (!saved || !mayChange(saved, can("member"))) return undefined;
  return () =>
    void updateView(saved.id, savedAs(search))
      .then(() => notify(`View “${saved.name}” updated.`), (error) => notifyError(error));
}

// SaveAs saves a filter and its order as a new view, and opens it.
export function SaveAs({ search, isOpen, onClose }: { search: Search; isOpen: boolean; onClose(): void }) {
  const { can } = useSession();
  const navigate = useNavigate();
  const [shared, setShared] = useState(false);
  return (
    <NameView
      title="Save view"
      isOpen={isOpen}
      onClose={onClose}
      initial=""
      save={async (name) => {
        const { id } = await saveView({ name, shared, ...savedAs(search) });
        const { request: _, ...filter } = search;
        await navigate({ to: "/", search: opening({ id, name, search: filter }) });
      }}
    >
      {can("member") && (
        <Switch isSelected={shared} onChange={setShared} hint="Everybody on the team sees it in their navigation.">
          Share with the team
        </Switch>
      )}
    </NameView>
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
