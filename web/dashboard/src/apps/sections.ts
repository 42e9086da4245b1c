// The sections of an app's page, in their order. What only admins can use, the others do
// not get to see.
export const sections = [
  { id: "install", name: "Install" },
  { id: "widget", name: "Widget" },
  { id: "sharing", name: "Sharing" },
  { id: "origins", name: "Allowed origins" },
  { id: "key", name: "API key" },
  { id: "identity", name: "Identity", admin: true },
  { id: "general", name: "Name and deletion", admin: true },
] as const;

export type Section = (typeof sections)[number]["id"];

// readSection takes the section from an address; without one it is the first.
export function readSection(raw: Record<string, unknown>): { section?: Section } {
  const found = sections.find(({ id }) => id === raw["section"]);
  return found && found.id !== "install" ? { section: found.id } : {};
}
