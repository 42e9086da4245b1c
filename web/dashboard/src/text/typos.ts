const shortest = 4;

// begins reports whether a word begins with what was typed. From four letters on, one of them may be wrong, missing, too much,
// or swapped with the next.
export function begins(word: string, typed: string): boolean {
  if (word.startsWith(typed)) return true;
  if (typed.length < shortest) return false;
  let at = 0;
  while (at < typed.length && word[at] === typed[at]) at++;
  const rest = typed.slice(at);
  const after = (letters: number) => word.slice(at + letters);
  return (
    after(1).startsWith(rest.slice(1)) || // wrong
    after(1).startsWith(rest) || // missing
    after(0).startsWith(rest.slice(1)) || // too much
    (rest.length > 1 && after(0).startsWith(rest[1]! + rest[0]! + rest.slice(2))) // swapped
  );
}
