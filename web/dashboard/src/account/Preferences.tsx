import { changeSettings, useSettings } from "../shell/settings";
import { Radios, Switch } from "../ui/choices";

const themes = [
  { id: "system", name: "As the system" },
  { id: "light", name: "Light" },
  { id: "dark", name: "Dark" },
] as const;

// What holds for this browser only.
export function Preferences() {
  const { theme, shortcuts } = useSettings();
  return (
    <div className="stack preferences">
      <Radios label="Appearance" value={theme} options={[...themes]} onChange={(next) => changeSettings({ theme: next })} />
      <Switch
        isSelected={shortcuts}
        onChange={(on) => changeSettings({ shortcuts: on })}
        hint="Keys such as j, k and s work without Ctrl or ⌘. Turn them off when they get in the way of your keyboard or of speech input."
      >
        Single-key shortcuts
      </Switch>
    </div>
  );
}
