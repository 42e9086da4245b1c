// copyText copies a text, which may still have to arrive. Safari allows this only right after a click, but
// then waits for the text. Pages over HTTP have no clipboard API, but they can handle the copy event.
export async function copyText(text: string | Promise<string>): Promise<void> {
  if (navigator.clipboard && typeof text !== "string") {
    const type = "text/plain";
    return navigator.clipboard.write([new ClipboardItem({ [type]: text.then((now) => new Blob([now], { type })) })]);
  }
  if (navigator.clipboard) return navigator.clipboard.writeText(text as string);
  const now = await text;
  const answer = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    event.clipboardData?.setData("text/plain", now);
  };
  document.addEventListener("copy", answer, { capture: true });
  const copied = document.execCommand("copy");
  document.removeEventListener("copy", answer, { capture: true });
  if (!copied) throw new Error("no clipboard");
}
