import { ApiError, send, type Operation, type Params, type Result } from "./send";
import { freshToken, reloadMe, replaceToken } from "./session";

export { ApiError, send, type Params, type Result } from "./send";

// call runs an operation as the logged-in user. It replaces an expired access token. If the
// session has ended, it waits until the user logs in again, so that no input is lost.
export async function call<O extends Operation>(operation: O, params: Params<O>, signal?: AbortSignal): Promise<Result<O>> {
  let token = await freshToken();
  for (;;) {
    try {
      return await send(operation, params, { Authorization: "Bearer " + token }, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "auth.forbidden") void reloadMe().catch(() => undefined); // the role may have changed
      if (error.code !== "auth.token_expired" && error.code !== "auth.invalid_token") throw error;
      token = await replaceToken(token);
    }
  }
}
