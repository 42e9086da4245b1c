import { useId, type ComponentProps, type ReactNode } from "react";
import { Button, Label, ListBox, ListBoxItem, Popover, Select as AriaSelect, SelectValue } from "react-aria-components";

import { CheckIcon, DownIcon } from "./icons";
import "./field.css";
import "./menu.css";

interface SelectProps<T extends string> {
  label: string;
  hideLabel?: boolean;
  value: T;
  options: { id: T; name: string; hint?: string }[];
  onChange(value: T): void;
  isDisabled?: boolean;
}

export function Select<T extends string>({ label, hideLabel, value, options, onChange, isDisabled }: SelectProps<T>) {
  return (
    <AriaSelect className="field" value={value} onChange={(key) => onChange(key as T)} isDisabled={!!isDisabled}>
      <Label className={hideLabel ? "visually-hidden" : "field-label"}>{label}</Label>
      <Button className="input select-button">
        <SelectValue>{options.find((option) => option.id === value)?.name ?? value}</SelectValue>
        <DownIcon size={16} />
      </Button>
      <Popover className="popover">
        <ListBox className="menu" items={options}>
          {(option) => (
            <ListBoxItem id={option.id} className="menu-item" textValue={option.name}>
              <span className="menu-text">{option.name}{option.hint && <small>{option.hint}</small>}</span>
              {option.id === value && <CheckIcon size={16} />}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface ChoiceProps extends Omit<ComponentProps<"input">, "onChange"> {
  onChange(isSelected: boolean): void;
}

// Choice is a checkbox, a switch or a radio button of the browser. What follows it in its label shows its
// state.
export function Choice({ className = "choice", children, onChange, ...input }: ChoiceProps) {
  return (
    <label className={className}>
      <input {...input} className="visually-hidden" onChange={(event) => onChange(event.target.checked)} />
      {children}
    </label>
  );
}

interface SwitchProps {
  isSelected: boolean;
  onChange(isSelected: boolean): void;
  children: ReactNode;
  hint?: string;
  isDisabled?: boolean;
}

export function Switch({ isSelected, onChange, children, hint, isDisabled }: SwitchProps) {
  return (
    <Choice type="checkbox" role="switch" checked={isSelected} onChange={onChange} disabled={isDisabled}>
      <span className="switch-track" />
      <span className="choice-text">{children}{hint && <small>{hint}</small>}</span>
    </Choice>
  );
}

export interface RadioOption<T extends string> {
  id: T;
  name: string;
  hint?: string;
  isDisabled?: boolean;
}

interface RadiosProps<T extends string> {
  label: string;
  value: T;
  options: RadioOption<T>[];
  onChange(value: T): void;
  error?: string | undefined;
  isDisabled?: boolean;
}

export function Radios<T extends string>({ label, value, options, onChange, error, isDisabled }: RadiosProps<T>) {
  const id = useId();
  return (
    <div className="radio-group" role="radiogroup" aria-labelledby={id} aria-invalid={!!error} aria-describedby={error && id + "error"}>
      <span id={id} className="field-label">{label}</span>
      {options.map((option) => (
        <Choice
          key={option.id}
          type="radio"
          name={id}
          checked={option.id === value}
          onChange={() => onChange(option.id)}
          disabled={isDisabled || option.isDisabled}
        >
          <span className="radio-dot" />
          <span className="choice-text">{option.name}{option.hint && <small>{option.hint}</small>}</span>
        </Choice>
      ))}
      {error && <span id={id + "error"} className="field-error">{error}</span>}
    </div>
  );
}
