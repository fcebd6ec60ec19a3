// A request with a wallet's name or a time: the service redirects it to address and blocks, which is checked before a signature.
import { SextantError } from "../errors.ts";
import { sendRepeatedly } from "./repeat.ts";
import { type HttpResponse, shorten, type Transport } from "./transport.ts";

type NamedRequest = {
  readonly method: string;
  readonly url: string;
  /** A payment among them makes the service lead to the wallet and the blocks that were paid for, or nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const REDIRECTS = [301, 302, 303, 307, 308];
// The status of a redirect in a browser, which hides where it leads.
const HIDDEN = 0;

/** The parameter that takes the blocks of a time. */
const BLOCKS_OF: Readonly<Record<string, string>> = { at: "block", from: "from", to: "to" };
const TIME = /^(?:\d{1,6}[mhdw]$|\d{4}-)/;
const DATE_START = /^\s*\d{4}-/;
const BLOCKS = /^[a-z0-9-]+:\d+(?:,[a-z0-9-]+:\d+)*$/;

/**
 * Returns the URL with the address in place of the name and blocks in place of times, or the same URL if it has neither.
 * Sends a request for each, and follows no redirect: its target is compared with the request first.
 */
export async function locateWallet(context: LocateContext, request: NamedRequest): Promise<string> {
  const byAddress = await locateName(context, request);
  return hasTime(byAddress) ? follow(context, { ...request, url: byAddress }, DATE) : byAddress;
}

/** The same for the name only. */
async function locateName(context: LocateContext, request: NamedRequest): Promise<string> {
  return isNamedWallet(request.url) ? follow(context, request, NAME) : request.url;
}

/**
 * Returns the URL that stays the same while calls repeat it: ages, which lead to later blocks at every request, stay as
 * they are. A date leads to the same blocks each time.
 */
export async function locateRepeatably(context: LocateContext, request: NamedRequest): Promise<string> {
  const byAddress = await locateName(context, request);
  return hasAge(byAddress) ? byAddress : locateWallet(context, { ...request, url: byAddress });
}

/** The request as it was given, with the address of the located one: how a caller writes it that knows the address. */
export function giveAddress(given: string, located: string): string {
  const address = new URL(located).searchParams.get("address");
  return address === null ? given : withAddress(given, address);
}

type LocateContext = { readonly transport: Transport; readonly attemptsMax: number };

/** A part of a request that the service redirects. */
type Redirected = {
  readonly noun: string;
  readonly instead: string;
  readonly advice: string;
  /** The URL as the target should be; null if the target lacks what it needs. */
  rewrite(url: string, target: URL): string | null;
};

const NAME: Redirected = {
  noun: "name",
  instead: "by address",
  advice: "give the address of the wallet",
  rewrite: (url, target) => {
    const address = target.searchParams.get("address") ?? "";
    return ADDRESS.test(address) ? withAddress(url, address) : null;
  },
};

const DATE: Redirected = {
  noun: "time",
  instead: "by blocks",
  advice: "give blocks",
  rewrite: (url, target) => {
    const changed = new URL(url);
    const entries = [...changed.searchParams].map(([name, value]): [string, string] => {
      const taken = isTime(name, value) ? (BLOCKS_OF[name] ?? name) : null;
      return taken === null ? [name, value] : [taken, target.searchParams.get(taken) ?? ""];
    });
    changed.search = new URLSearchParams(entries).toString();
    return hasTime(changed.href) || !entries.every(isWhole) ? null : changed.href;
  },
};

const isWhole = ([name, value]: readonly [string, string]) => {
  const isBlocks = Object.values(BLOCKS_OF).includes(name);
  return !isBlocks || BLOCKS.test(value) || /^[0-9a-f]{64}$/.test(value);
};

async function follow(
  { transport, attemptsMax }: LocateContext,
  { method, url, headers = {}, signal }: NamedRequest,
  { noun, instead, advice, rewrite }: Redirected,
): Promise<string> {
  const request = { method, url, headers, signal, returnsRedirect: true };
  const response = await sendRepeatedly(transport, request, {
    attemptsMax,
    accepted: [200, 402, HIDDEN, ...REDIRECTS],
  });
  if (response.status === HIDDEN) {
    throw new SextantError(
      "REDIRECTED",
      `A browser does not show where the service redirects a ${noun}, so nothing is sent there: ${advice}.`,
    );
  }
  const target = readTarget(response, url);
  const located = target === null ? null : rewrite(url, target);
  if (target === null || located === null || !isSame(new URL(located), target)) {
    const where = target === null ? "nowhere" : `to ${shorten(target.href)}`;
    throw new SextantError(
      "REDIRECTED",
      `The service redirects the ${noun} ${where}, which is not the same request ${instead}.`,
    );
  }
  return located;
}

/** Whether only the service can say what a request is for: its wallet is a name, or its blocks are a time. */
export function isUnlocated(url: string): boolean {
  return isNamedWallet(url) || hasTime(url);
}

function hasTime(url: string): boolean {
  return [...new URL(url).searchParams].some(([name, value]) => isTime(name, value));
}

function hasAge(url: string): boolean {
  return [...new URL(url).searchParams].some(
    ([name, value]) => isTime(name, value) && !DATE_START.test(value),
  );
}

function isTime(name: string, value: string): boolean {
  return name === "at" || (name in BLOCKS_OF && TIME.test(value));
}

/** Whether the wallet of a request is given by its name. */
function isNamedWallet(url: string): boolean {
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
