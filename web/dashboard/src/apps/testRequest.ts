import { ApiError, call, send } from "../api/call";
import { reloadApp } from "./data";
import type { Me } from "../api/session";
import type { App } from "../api/types";

// sendTest sends a request with the app's key, as the widget does. Where the app does not
// allow this page's origin, which is as it should be, the person writes it down instead.
export async function sendTest(app: App, { user }: Me): Promise<"key" | "hand"> {
  const text = {
    title: `Test request by ${user.name}`.slice(0, 200),
    description: `Sent from the dashboard to see whether ${app.name} gets requests. You can delete it.`,
  };
  try {
    await send(
      "widget-submit-request",
      { ...text, email: user.email, name: user.name, metadata: { page: location.origin + location.pathname } },
      { "X-API-Key": app.api_key },
    );
    return "key";
  } catch (error) {
    if (error instanceof ApiError && error.code === "auth.invalid_api_key") reloadApp(app.id); // somebody has made a new one
    if (!(error instanceof ApiError && error.code === "widget.origin_not_allowed")) throw error;
  }
  await call("requests-create", { app_id: app.id, ...text });
  return "hand";
}
