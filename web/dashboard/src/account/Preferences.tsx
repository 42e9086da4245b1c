import { changeSettings, useSettings } from "../shell/settings";
import { Radios, Switch } from "../ui/choices";

const themes = [
  { id: "system", name: "System" },
  { id: "light", name: "Light" },
  { id: "dark", name: "Dark" },
] as const;

export function Preferences() {
  const { theme, compact, shortcuts } = useSettings();
  return (
    <div className="stack preferences">
      <p className="quiet small">These settings apply to this browser only.</p>
      <Radios label="Theme" value={theme} options={[...themes]} onChange={(next) => changeSettings({ theme: next })} />
      <Switch isSelected={compact} onChange={(on) => changeSettings({ compact: on })} hint="The inbox shows each request in one line.">
        Compact rows
      </Switch>
      <Switch
        isSelected={shortcuts}
        onChange={(on) => changeSettings({ shortcuts: on })}
        hint="Keys such as j, k and s run commands. Turn this off if it interferes with your keyboard or with speech input."
      >
        Single-key shortcuts
      </Switch>
    </div>
  );
}
