// A request with a wallet's name: the service redirects it to the address, which is checked before anything is signed.
import { SextantError } from "../errors.ts";
import { sendRepeatedly } from "./repeat.ts";
import { type HttpResponse, shorten, type Transport } from "./transport.ts";

type NamedRequest = {
  readonly method: string;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const REDIRECTS = [301, 302, 303, 307, 308];
// The status of a redirect in a browser, which hides where it leads.
const HIDDEN = 0;

/**
 * Returns the URL with the address in place of the name, or the same URL if it has no name. Sends one request without a
 * payment, and follows no redirect: its target is compared with the request first.
 */
export async function locateWallet(
  { transport, attemptsMax }: { readonly transport: Transport; readonly attemptsMax: number },
  { method, url, signal }: NamedRequest,
): Promise<string> {
  if (!isNamedWallet(url)) return url;
  const request = { method, url, signal, returnsRedirect: true };
  const response = await sendRepeatedly(transport, request, {
    attemptsMax,
    accepted: [200, 402, HIDDEN, ...REDIRECTS],
  });
  if (response.status === HIDDEN) {
    throw new SextantError(
      "REDIRECTED",
      "A browser does not show where the service redirects a name, so nothing is sent there: give the address of the wallet.",
    );
  }
  const target = readTarget(response, url);
  const address = target?.searchParams.get("address") ?? "";
  const located = withAddress(url, address);
  if (target === null || !ADDRESS.test(address) || !isSame(new URL(located), target)) {
    const where = target === null ? "nowhere" : `to ${shorten(target.href)}`;
    throw new SextantError(
      "REDIRECTED",
      `The service redirects the name ${where}, which is not the same request by address.`,
    );
  }
  return located;
}

/** Whether the wallet of a request is given by its name. */
export function isNamedWallet(url: string): boolean {
  return new URL(url).searchParams.get("address")?.includes(".") === true;
}

/** Null if the service names no target that can be read. */
function readTarget(response: HttpResponse, url: string): URL | null {
  if (!REDIRECTS.includes(response.status)) return null;
  const location = response.headers.get("location");
  return location !== null && URL.canParse(location, url) ? new URL(location, url) : null;
}

/** In the order and spelling of a call by address, so that both are the same purchase. */
function withAddress(url: string, address: string): string {
  const changed = new URL(url);
  changed.searchParams.set("address", address.toLowerCase());
  return changed.href;
}

function isSame(left: URL, right: URL): boolean {
  const place = ({ origin, pathname }: URL) => origin + pathname;
  const query = ({ searchParams }: URL) => JSON.stringify([...searchParams]);
  return place(left) === place(right) && query(left) === query(right);
}
