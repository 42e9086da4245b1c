import { useQuery } from "@tanstack/react-query";
import { useId, useRef, useState, type ReactNode } from "react";

import type { Token } from "../api/types";
import { Button } from "../ui/Button";
import { PlusIcon } from "../ui/icons";
import { Failure, Skeleton } from "../ui/states";
import { newNames, tokensQuery } from "./data";
import { NewToken } from "./NewToken";
import { RevokeDialog } from "./RevokeDialog";
import { TokenRow } from "./TokenRow";
import "./tokens.css";

interface Props {
  title: string;
  // Whether the section has a token.
  has(token: Token): boolean;
  // The kind of tokens to create here.
  kind?: Token["kind"];
  // What the tokens are for.
  children: ReactNode;
}

export function TokenSection({ title, has, kind, children }: Props) {
  const tokens = useQuery(tokensQuery);
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const shown = tokens.data?.filter(has) ?? [];
  return (
    <section className="card stack" aria-labelledby={id}>
      <div className="tokens-head">
        <h2 id={id} ref={heading} tabIndex={-1}>{title}</h2>
        {kind && <Button onPress={() => setCreating(true)}><PlusIcon size={16} />{newNames[kind]}</Button>}
      </div>
      <p className="quiet">{children}</p>
      {tokens.isPending && <Skeleton lines={2} label="Loading tokens" />}
      {tokens.isError && !tokens.data && <Failure error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {shown.length > 0 && (
        <ul aria-labelledby={id}>
          {shown.map((token) => <TokenRow key={token.id} token={token} onRevoke={() => setRevoking(token)} />)}
        </ul>
      )}
      {creating && kind && <NewToken kind={kind} onClose={() => setCreating(false)} />}
      {revoking && <RevokeDialog token={revoking} heading={heading} onClose={() => setRevoking(undefined)} />}
    </section>
  );
}
