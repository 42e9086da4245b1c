import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";

import { call } from "../api/call";
import { NextIcon, SearchIcon } from "../ui/icons";
import { StatusMark } from "../ui/marks";
import { useSettled } from "../ui/useSettled";
import { currentCommands, type Command } from "./commands";
import { Keys } from "./ShortcutsHelp";
import "../ui/dialog.css";
import "../ui/menu.css";
import "./palette.css";

// Everything that can be done here, and every request, by its words.
export default function Palette({ onClose }: { onClose(): void }) {
  return (
    <ModalOverlay className="veil palette" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="modal modal-wide"><Dialog className="dialog" aria-label="Commands"><Chooser onClose={onClose} /></Dialog></Modal>
    </ModalOverlay>
  );
}

function Chooser({ onClose }: { onClose(): void }) {
  const [commands] = useState(() => currentCommands().filter((command) => !command.bare));
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(words.trim());
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  const choices = [
    ...commands
      .filter((command) => matches(command, words))
      .map((command) => ({ key: command.group + command.name, run: command.run, content: <CommandLine command={command} /> })),
    ...found.map((request) => ({
      key: request.id,
      run: () => void navigate({ to: "/", search: (old: object) => ({ ...old, request: request.id }) }),
      content: <><StatusMark status={request.status} bare /><span>{request.title}</span></>,
    })),
  ];
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  // It has closed, and the focus is back, when the command runs: it may open something itself.
  const run = (choice: (typeof choices)[number]) => {
    onClose();
    setTimeout(choice.run, 0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) setAt((chosen + step + choices.length) % choices.length);
    else if (event.key === "Enter" && choices[chosen] && !event.nativeEvent.isComposing) run(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="palette-search">
        <SearchIcon />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={choices[chosen] && `${id}-${chosen}`}
          aria-label="Find a command or a request"
          placeholder="Find a command or a request…"
          value={words}
          maxLength={200}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div ref={list} id={id} className="palette-list" role="listbox" aria-label="Found">
        {choices.map((choice, i) => (
          <div
            key={choice.key}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            className="menu-item"
            onPointerMove={() => setAt(i)}
            onClick={() => run(choice)}
          >
            {choice.content}
          </div>
        ))}
      </div>
      {choices.length === 0 && <p className="palette-none" role="status">Nothing is called that.</p>}
    </>
  );
}

function CommandLine({ command }: { command: Command }) {
  return (
    <>
      <NextIcon size={16} />
      <span>
        {command.name} <small>{command.group}</small>
      </span>
      {command.keys && <Keys keys={command.keys[0]!} />}
    </>
  );
}

// matches says whether all words begin one of the command's.
function matches({ name, group }: Command, words: string): boolean {
  const own = `${group} ${name}`.toLowerCase().split(/\s+/);
  return words.toLowerCase().split(/\s+/).every((word) => own.some((has) => has.startsWith(word)));
}

function useFound(words: string) {
  const settled = useSettled(words);
  const { data } = useQuery({
    queryKey: ["palette", settled],
    queryFn: async ({ signal }) => (await call("requests-list", { query: settled, limit: 8 }, signal)).requests,
    enabled: settled.length > 1,
    placeholderData: keepPreviousData,
  });
  return words.length > 1 ? (data ?? []) : [];
}
