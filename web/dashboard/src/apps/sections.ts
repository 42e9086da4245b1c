// The sections of an app's page. Only admins see those with admin.
export const sections = [
  { id: "install", name: "Install" },
  { id: "widget", name: "Widget" },
  { id: "sharing", name: "Sharing" },
  { id: "statuses", name: "Statuses" },
  { id: "portal", name: "Portal" },
  { id: "changelog", name: "Changelog" },
  { id: "origins", name: "Allowed origins" },
  { id: "issues", name: "Issue tracker" },
  { id: "key", name: "API key" },
  { id: "identity", name: "Identity", admin: true },
  { id: "general", name: "General", admin: true },
] as const;

export type Section = (typeof sections)[number]["id"];

// readSection reads the section from an address. The first one is the default. The changelog has an entry: its id,
// or "new".
export function readSection(raw: Record<string, unknown>): { section?: Section; entry?: string } {
  const found = sections.find(({ id }) => id === raw["section"]);
  if (!found || found.id === "install") return {};
  return { section: found.id, ...(found.id === "changelog" && typeof raw["entry"] === "string" && { entry: raw["entry"] }) };
}
