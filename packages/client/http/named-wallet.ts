// A request with a wallet's name: the service redirects it to the address, which is checked before anything is signed.
import { SextantError } from "../errors.ts";
import { sendRepeatedly } from "./repeat.ts";
import { shorten, type Transport } from "./transport.ts";

type NamedRequest = {
  readonly method: string;
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * The URL with the address in place of the name; the same URL for a request that has no name. One request without a
 * payment, whose redirect may change the address and nothing else.
 */
export async function locateWallet(
  { transport, attemptsMax }: { readonly transport: Transport; readonly attemptsMax: number },
  { method, url, signal }: NamedRequest,
): Promise<string> {
  if (!isNamed(url)) return url;
  const request = { method, url, signal, followsRedirect: true };
  const response = await sendRepeatedly(transport, request, { attemptsMax, accepted: [200, 402] });
  const address = new URL(response.url).searchParams.get("address") ?? "";
  const located = withAddress(url, address);
  if (!ADDRESS.test(address) || !isSame(located, response.url)) {
    throw new SextantError(
      "REDIRECTED",
      `The service redirects the name to ${shorten(response.url)}, which is not the same request by address.`,
    );
  }
  return located;
}

function isNamed(url: string): boolean {
  return new URL(url).searchParams.get("address")?.includes(".") === true;
}

/** In the order and spelling of a call by address, so that both are the same purchase. */
function withAddress(url: string, address: string): string {
  const changed = new URL(url);
  changed.searchParams.set("address", address.toLowerCase());
  return changed.href;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [new URL(a), new URL(b)];
  const place = ({ origin, pathname }: URL) => origin + pathname;
  const query = ({ searchParams }: URL) => JSON.stringify([...searchParams]);
  return place(left) === place(right) && query(left) === query(right);
}
