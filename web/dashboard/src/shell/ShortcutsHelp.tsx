import { useNavigate } from "@tanstack/react-router";

import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { currentCommands } from "./commands";
import { useSettings } from "./settings";
import "./palette.css";

const names: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Escape: "Esc",
  Delete: "Del",
  PageDown: "PgDn",
  PageUp: "PgUp",
  " ": "Space",
};

export function Keys({ keys }: { keys: string }) {
  const parts = keys === " " ? [keys] : keys.split(/[ +]/);
  return <span className="keys">{parts.map((part, i) => <kbd key={i}>{names[part] ?? (part === "shift" ? "Shift" : part)}</kbd>)}</span>;
}

// ShortcutsHelp lists the keys of the page.
export default function ShortcutsHelp({ onClose }: { onClose(): void }) {
  const { shortcuts } = useSettings();
  const navigate = useNavigate();
  const commands = currentCommands().filter((command) => command.keys || command.keysWhen);
  const groups = [...new Set(commands.map((command) => command.group))];
  return (
    <Dialog title="Keyboard shortcuts" isOpen onClose={onClose} wide>
      {!shortcuts && <p className="quiet small">Single-key shortcuts are off.</p>}
      <div className="help">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {commands.filter((command) => command.group === group).map((command) => (
                <div key={command.name}>
                  <dt>{command.name}</dt>
                  <dd>{[...(command.keys ?? []), ...(command.keysWhen ?? [])].map((keys) => <Keys key={keys} keys={keys} />)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="dialog-actions">
        <Button
          onPress={() => {
            onClose();
            void navigate({ to: "/account" });
          }}
        >
          Shortcut settings
        </Button>
      </div>
    </Dialog>
  );
}
