import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";

import { call } from "../api/call";
import { useStatusName } from "../requests/statuses";
import { NextIcon, SearchIcon } from "../ui/icons";
import { StatusMark } from "../ui/marks";
import { useDebounced } from "../ui/useDebounced";
import { searchable } from "../text/searchable";
import { begins } from "../text/typos";
import { currentCommands, type Command } from "./commands";
import { Keys } from "./ShortcutsHelp";
import "../ui/dialog.css";
import "../ui/menu.css";
import "./palette.css";

// Palette searches commands and requests.
export default function Palette({ onClose }: { onClose(): void }) {
  return (
    <ModalOverlay className="overlay palette" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="modal modal-wide">
        <Dialog className="dialog" aria-label="Command palette"><Chooser onClose={onClose} /></Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Chooser({ onClose }: { onClose(): void }) {
  const [commands] = useState(() => currentCommands().filter((command) => !command.unlisted));
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const requests = useRequests(words.trim());
  const nameOf = useStatusName();
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  const choices = [
    ...commands
      .filter((command) => matches(command, words))
      .map((command) => ({ key: command.group + command.name, run: command.run, content: <CommandLine command={command} /> })),
    ...requests.map((request) => ({
      key: request.id,
      run: () => void navigate({ to: "/", search: (old: object) => ({ ...old, request: request.id }) }),
      content: (
        <><StatusMark status={request.status} name={nameOf(request.status, request.app_id)} dotOnly /><span>{request.title}</span></>
      ),
    })),
  ];
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  // Close first, so that the focus is back before the command opens something itself.
  const run = (choice: (typeof choices)[number]) => {
    onClose();
    setTimeout(choice.run, 0);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) setAt((chosen + step + choices.length) % choices.length);
    else if (event.key === "Enter" && choices[chosen]) run(choices[chosen]);
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
          aria-label="Search commands and requests"
          placeholder="Search commands and requests…"
          value={words}
          maxLength={200}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div ref={list} id={id} className="palette-list" role="listbox" aria-label="Results">
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
      {choices.length === 0 && <p className="palette-none" role="status">No results</p>}
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

// matches reports whether every search word starts a word of the command's name or group, if need be with a typing error.
function matches({ name, group }: Command, words: string): boolean {
  const own = searchable(`${group} ${name}`).split(/\s+/);
  return searchable(words).split(/\s+/).every((word) => own.some((has) => begins(has, word)));
}

function useRequests(words: string) {
  const debounced = useDebounced(words);
  const { data } = useQuery({
    queryKey: ["palette", debounced],
    queryFn: async ({ signal }) => (await call("requests-list", { query: debounced, sort: "relevance", limit: 8 }, signal)).requests,
    enabled: debounced.length > 1,
    placeholderData: keepPreviousData,
  });
  return words.length > 1 ? (data ?? []) : [];
}
