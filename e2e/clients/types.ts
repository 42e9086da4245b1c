// What the types of the TypeScript client allow and refuse. Only the compiler reads this file.
import { Gatherkit, type Request, type Status } from "@gatherkit/client";

declare const token: string | undefined; // as in process.env
const gatherkit = new Gatherkit({ url: "https://feedback.example.com", token });

const { requests, total_count } = await gatherkit.call("requests-list", { status: "opened", limit: 20 });
const first: Request | undefined = requests[0];
const status: Status = first?.status ?? "opened";
const total: number = total_count;
await gatherkit.call("requests-update", { id: "", eta: null, assignee_id: null });
await gatherkit.call("auth-me");
await gatherkit.call("requests-list");
for await (const request of gatherkit.each("requests-list", {})) request.title.toUpperCase();
for await (const comment of gatherkit.each("comments-list", { request_id: "" })) comment.visibility === "public";

// @ts-expect-error: not a status
await gatherkit.call("requests-list", { status: "open" });
// @ts-expect-error: not a parameter
await gatherkit.call("requests-list", { state: "opened" });
// @ts-expect-error: the id is missing
await gatherkit.call("requests-update", { title: "" });
// @ts-expect-error: null does not clear a title
await gatherkit.call("requests-update", { id: "", title: null });
// @ts-expect-error: needs parameters
await gatherkit.call("requests-get");
// @ts-expect-error: takes no parameters
await gatherkit.call("auth-me", { id: "" });
// @ts-expect-error: not an operation
await gatherkit.call("upload", {});
// @ts-expect-error: not a list
gatherkit.each("auth-me", {});
// @ts-expect-error: a request has no color
first?.colour;

export { status, total };
