// A page of a customer who uses React.
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Gatherkit, useGatherkit, type Identity, type Theme } from "../../../clients/react/src/gatherkit";

declare global {
  interface Window {
    service: { url: string; appKey: string };
    heard: string[];
  }
}
window.heard = [];

function Ideas() {
  const [theme, setTheme] = useState<Theme>("light");
  const [identity, setIdentity] = useState<Identity | null>(null);
  const { open, close } = useGatherkit({
    ...window.service,
    launcher: "none",
    theme,
    strings: { send: theme === "light" ? "Send it" : "Send it by night" },
    identity,
    on: {
      open: () => {
        window.heard.push(`open ${theme}`);
        if (theme === "dark") close();
      },
      submit: ({ request }) => window.heard.push(`submit ${request.title}`),
    },
  });
  return (
    <>
      <button onClick={() => open({ title: "Prepared" })}>Ideas</button>
      <button onClick={() => setTheme("dark")}>Night</button>
      {["ada", "grace"].map((name) => (
        <button key={name} onClick={() => setIdentity({
          external_id: name, getToken: () => fetch(`/token/${name}`).then((answer) => answer.text()),
        })}>Log in as {name}</button>
      ))}
      <button onClick={() => setIdentity(null)}>Log out</button>
    </>
  );
}

function Shop() {
  const [shown, setShown] = useState("hook");
  return (
    <>
      {shown === "hook" && <Ideas />}
      {shown === "component" && <Gatherkit {...window.service} />}
      <nav>
        {["hook", "component", "nothing"].map((name) => <button key={name} onClick={() => setShown(name)}>Show {name}</button>)}
      </nav>
    </>
  );
}

createRoot(document.getElementById("root")!).render(<StrictMode><Shop /></StrictMode>);
