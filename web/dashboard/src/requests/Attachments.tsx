import { useEffect, useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { absolute } from "../api/base";
import type { Attachment } from "../api/types";
import { webAddress } from "../text/address";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { ClipIcon, DownloadIcon } from "../ui/icons";
import { size } from "../ui/marks";
import { Section } from "./Section";

const kinds: Record<Attachment["content_type"], string> = {
  "image/png": "PNG image",
  "image/jpeg": "JPEG image",
  "image/gif": "GIF image",
  "image/webp": "WebP image",
  "application/pdf": "PDF",
  "text/plain": "Text",
};

const isPicture = (file: Attachment) => file.content_type.startsWith("image/");

export function Attachments({ attachments }: { attachments: Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <Section title="Files" count={attachments.length}>
      <Pictures pictures={attachments.filter(isPicture)} />
      <ul className="lines">
        {attachments.filter((file) => !isPicture(file)).map((file) => {
          const url = webAddress(absolute(file.url));
          return (
            <li key={file.id} className="line">
              <ClipIcon size={16} />
              {url ? (
                <a className="line-title" href={url} download={file.filename} target="_blank" rel="noreferrer">
                  {file.filename}
                </a>
              ) : (
                <span className="line-title">{file.filename}</span>
              )}
              <span className="quiet small">
                {kinds[file.content_type]}, {size(file.size)}
              </span>
              <DownloadIcon size={16} />
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

// Pictures shows pictures small. They open large, and the arrow keys lead from one to the next.
function Pictures({ pictures }: { pictures: Attachment[] }) {
  const [at, setAt] = useState<number>();
  const shown = at === undefined ? undefined : pictures[at];
  const many = pictures.length > 1;
  const turn = (by: number) => setAt((now) => (now! + by + pictures.length) % pictures.length);
  useEffect(() => {
    if (!shown || !many) return;
    const keys = ({ key }: KeyboardEvent) => {
      if (key === "ArrowRight") turn(1);
      if (key === "ArrowLeft") turn(-1);
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  });
  if (pictures.length === 0) return null;
  return (
    <>
      <ul className="pictures">
        {pictures.map((file, i) => (
          <li key={file.id}>
            <AriaButton className="picture" aria-label={`Open ${file.filename}`} onPress={() => setAt(i)}>
              <img src={absolute(file.url)} alt="" loading="lazy" />
            </AriaButton>
          </li>
        ))}
      </ul>
      {shown && (
        <Dialog title={shown.filename} isOpen wide onClose={() => setAt(undefined)}>
          <img className="picture-large" src={absolute(shown.url)} alt={shown.filename} />
          <div className="dialog-actions">
            <a className="button button-quiet" href={absolute(shown.url)} download={shown.filename}><DownloadIcon size={16} />Download</a>
            {many && <Button onPress={() => turn(-1)}>Previous</Button>}
            {many && <Button onPress={() => turn(1)} autoFocus>Next</Button>}
          </div>
        </Dialog>
      )}
    </>
  );
}
