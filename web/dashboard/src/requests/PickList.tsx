import type { KeyboardEvent, ReactNode } from "react";
import { Autocomplete, Input, ListBox, ListBoxItem, TextField, type Selection } from "react-aria-components";

import { CheckIcon } from "../ui/icons";

export type Choice = {
  id: string;
  text: string; // for screen readers
  content: ReactNode;
  part?: boolean; // whether it applies to some of the requests only
};

type Props = {
  label: string;
  placeholder: string;
  words: string;
  onWords(words: string): void;
  maxLength?: number;
  choices: Choice[];
  chosen: string[];
  multiple?: boolean;
  numbers?: boolean; // whether the keys 1 to 9 choose while nothing is typed
  loading?: boolean;
  onChoose(id: string): void;
  empty: ReactNode;
  foot?: ReactNode;
};

// PickList is a list with a field that filters it. Arrow keys move, and Enter chooses.
export function PickList(props: Props) {
  const { choices, chosen, onChoose } = props;

  function choose(keys: Selection) {
    const now = [...keys].map(String);
    const id = now.find((key) => !chosen.includes(key)) ?? chosen.find((key) => !now.includes(key));
    if (id !== undefined) onChoose(id);
  }

  function byNumber(event: KeyboardEvent) {
    if (!props.numbers || props.words || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    const choice = choices[Number(event.key) - 1];
    if (!choice && !props.loading) return;
    event.preventDefault(); // also while the choices load, so that the field does not get the digit
    event.stopPropagation();
    if (choice) onChoose(choice.id);
  }

  return (
    <div className="picker-list" onKeyDownCapture={byNumber}>
      <Autocomplete inputValue={props.words} onInputChange={props.onWords}>
        <TextField aria-label={props.label} autoFocus className="picker-field" maxLength={props.maxLength}>
          <Input role="combobox" aria-expanded="true" placeholder={props.placeholder} className="picker-input" autoComplete="off" />
        </TextField>
        <ListBox
          aria-label={props.label}
          className="picker-choices"
          items={choices}
          selectionMode={props.multiple ? "multiple" : "single"}
          selectedKeys={chosen}
          escapeKeyBehavior="none"
          onSelectionChange={choose}
          renderEmptyState={() => <p className="picker-empty">{props.empty}</p>}
        >
          {(choice) => (
            <ListBoxItem id={choice.id} textValue={choice.text} className="picker-choice">
              {({ isSelected }) => (
                <>
                  {props.multiple && (
                    <span className="picker-box" data-state={isSelected ? "all" : choice.part ? "some" : "none"}>
                      {isSelected && <CheckIcon size={14} />}
                    </span>
                  )}
                  <span className="picker-content">{choice.content}</span>
                  {choice.part && <span className="visually-hidden">, on some requests</span>}
                  {!props.multiple && isSelected && <CheckIcon size={16} />}
                  {props.numbers && !props.words && choices.indexOf(choice) < 9 && (
                    <kbd className="picker-number" aria-hidden="true">
                      {choices.indexOf(choice) + 1}
                    </kbd>
                  )}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
      {props.foot}
    </div>
  );
}
