import { ApiError, call, send } from "../api/call";
import { reloadApp, testPage } from "./data";
import type { Me } from "../api/session";
import type { App } from "../api/types";

// sendTest sends a request with the app's key, as the widget does. If the app does not allow
// the origin of this page, which is normal, it creates the request as the user instead.
export async function sendTest(app: App, { user }: Me): Promise<"widget" | "dashboard"> {
  const text = {
    title: `Test request by ${user.name}`.slice(0, 200),
    description: `Sent from the dashboard to check that ${app.name} receives requests. You can delete it.`,
  };
  try {
    await send(
      "widget-submit-request",
      { ...text, email: user.email, name: user.name, metadata: { page: testPage() } },
      { "X-API-Key": app.api_key },
    );
    return "widget";
  } catch (error) {
    if (error instanceof ApiError && error.code === "auth.invalid_api_key") reloadApp(app.id); // it was regenerated
    if (!(error instanceof ApiError && error.code === "widget.origin_not_allowed")) throw error;
  }
  await call("requests-create", { app_id: app.id, ...text });
  return "dashboard";
}
