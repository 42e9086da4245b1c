import type { ReactNode } from "react";
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Radio,
  RadioGroup,
  Select as AriaSelect,
  SelectValue,
  Switch as AriaSwitch,
  type SwitchProps,
} from "react-aria-components";

import { CheckIcon, DownIcon } from "./icons";
import "./field.css";
import "./menu.css";

interface SelectProps<T extends string> {
  label: string;
  hideLabel?: boolean;
  value: T;
  options: { id: T; name: string; hint?: string }[];
  onChange(value: T): void;
}

export function Select<T extends string>({ label, hideLabel, value, options, onChange }: SelectProps<T>) {
  return (
    <AriaSelect className="field" value={value} onChange={(key) => onChange(key as T)}>
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

export function Switch({ children, hint, ...props }: Omit<SwitchProps, "className" | "children"> & { children: ReactNode; hint?: string }) {
  return (
    <AriaSwitch {...props} className="choice">
      <span className="switch-track" />
      <span className="choice-text">{children}{hint && <small>{hint}</small>}</span>
    </AriaSwitch>
  );
}

interface RadiosProps<T extends string> {
  label: string;
  value: T;
  options: { id: T; name: string; hint?: string }[];
  onChange(value: T): void;
  error?: string | undefined;
  isDisabled?: boolean;
}

export function Radios<T extends string>({ label, value, options, onChange, error, isDisabled }: RadiosProps<T>) {
  return (
    <RadioGroup
      className="radio-group"
      value={value}
      onChange={(next) => onChange(next as T)}
      isInvalid={!!error}
      validationBehavior="aria"
      {...(isDisabled && { isDisabled })}
    >
      <Label className="field-label">{label}</Label>
      {options.map((option) => (
        <Radio key={option.id} value={option.id} className="choice">
          <span className="radio-dot" />
          <span className="choice-text">{option.name}{option.hint && <small>{option.hint}</small>}</span>
        </Radio>
      ))}
      <FieldError className="field-error">{error}</FieldError>
    </RadioGroup>
  );
}
