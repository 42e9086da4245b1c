import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { usersQuery } from "../api/queries";
import { useSession } from "../api/session";
import { Avatar } from "../ui/marks";
import { searchable } from "../text/searchable";
import { useChanges } from "./changes";
import { PickList, type Choice } from "./PickList";
import type { PickerProps } from "./picker";
import { shared } from "./target";

export function AssigneePicker({ target, close }: PickerProps) {
  const [words, setWords] = useState("");
  const { update } = useChanges();
  const me = useSession().user;
  const users = useQuery(usersQuery);
  const now = shared(target, (request) => request.assignee_id ?? "none");

  function choose(id: string) {
    close();
    if (id !== now) void update(target, { assignee_id: id === "none" ? null : id });
  }

  const others = (users.data ?? []).filter((user) => user.id !== me.id);
  const choices: Choice[] = [
    {
      id: me.id,
      text: `${me.name} ${me.email} me`,
      content: (
        <span className="picker-person">
          <Avatar name={me.name} />
          {me.name} <span className="quiet">you</span>
        </span>
      ),
    },
    {
      id: "none",
      text: "Unassigned",
      content: (
        <span className="picker-person quiet">
          <Avatar name="" />
          Unassigned
        </span>
      ),
    },
    ...others.map((user) => ({
      id: user.id,
      text: `${user.name} ${user.email}`,
      content: (
        <span className="picker-person">
          <Avatar name={user.name} />
          {user.name} <span className="quiet">{user.email}</span>
        </span>
      ),
    })),
  ].filter((choice) => searchable(choice.text).includes(searchable(words)));
  return (
    <PickList
      label="Assignee"
      placeholder="Assign to…"
      words={words}
      onWords={setWords}
      choices={choices}
      chosen={now ? [now] : []}
      onChoose={choose}
      empty={users.error ? users.error.message : "No matching people"}
    />
  );
}
