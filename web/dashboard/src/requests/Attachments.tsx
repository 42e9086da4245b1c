import { absolute } from "../api/base";
import type { Attachment } from "../api/types";
import { webAddress } from "../text/address";
import { ClipIcon, DownloadIcon } from "../ui/icons";
import { count } from "../ui/marks";
import { Section } from "./Section";

const kinds: Record<Attachment["content_type"], string> = {
  "image/png": "PNG image",
  "image/jpeg": "JPEG image",
  "image/gif": "GIF image",
  "image/webp": "WebP image",
  "application/pdf": "PDF",
  "text/plain": "Text",
};

export function Attachments({ attachments }: { attachments: Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <Section title="Files" count={attachments.length}>
      <ul className="lines">
        {attachments.map((file) => {
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

function size(bytes: number): string {
  if (bytes < 1_000) return count(bytes, "byte");
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
