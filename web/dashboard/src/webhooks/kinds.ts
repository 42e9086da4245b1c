interface Area {
  name: string;
  // Only a webhook with "internal" receives them.
  internal: boolean;
  kinds: { id: string; name: string }[];
}

const area = (name: string, internal: boolean, kinds: Record<string, string>): Area => ({
  name,
  internal,
  kinds: Object.entries(kinds).map(([id, name]) => ({ id, name })),
});

// The kinds of events to choose from, as sentences.
export const areas = [
  area("Requests", false, {
    "request.created": "A request is created",
    "request.updated:status": "A request changes its status",
    "request.updated": "A request changes in any way",
    "request.merged": "A request is merged",
    "request.unmerged": "A merge is undone",
    "request.deleted": "A request goes to the bin",
    "request.restored": "A request comes back from the bin",
    "request.purged": "A request is removed for good",
    "request.released": "A request leaves quarantine",
  }),
  area("Votes", false, {
    "vote.added": "A vote is added",
    "vote.removed": "A vote is removed",
  }),
  area("Comments", false, {
    "comment.created": "A comment is written",
    "comment.updated": "A comment is edited",
    "comment.deleted": "A comment is deleted",
  }),
  area("Internal", true, {
    "request.blocked": "A request is marked as spam",
    "link.*": "A link to an issue is added or removed",
    "app.*": "An app changes",
    "user.*": "A user joins, leaves or gets another role",
    "token.*": "A token is created or revoked",
    "webhook.*": "A webhook changes",
  }),
];

const names = new Map(areas.flatMap(({ kinds }) => kinds.map(({ id, name }) => [id, name])));

// kindName returns the sentence for a kind. Kinds that only programs choose, such as request.*, have none.
export const kindName = (kind: string): string => names.get(kind) ?? kind;
