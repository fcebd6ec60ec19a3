// Who may use services that run for one person on one machine: programs and pages of this machine, and no page of the web.
import { isIP } from "node:net";

type Caller = {
  readonly method?: string | undefined;
  readonly headers: { readonly host?: string | undefined; readonly origin?: string | undefined };
};

/** Why a request may not pass; null lets it pass. */
export type FindForeignCaller = (request: Caller) => string | null;

const READING_METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);
const LOOPBACK = /^(localhost|.+\.localhost|127(\.[0-9]+){3}|\[::1\])$/;
// Wallets call a chain from their own pages.
const EXTENSION = /^[a-z-]+-extension:$/;

/**
 * A page of any site can send requests to this machine, with its Origin. It can also lead its own name here after it was
 * loaded, so that its requests have no other Origin than ours; its Host then is that name.
 */
export function createLocalCallers({ publicUrl }: { readonly publicUrl: string | null }): FindForeignCaller {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).hostname;
  const isOwnHost = (host: string) => host === publicHost || LOOPBACK.test(host) || isPrivateName(host);
  return ({ method, headers }) => {
    const host = parseHost(`http://${headers.host ?? ""}`);
    if (headers.host !== undefined && (host === null || !isOwnHost(host)))
      return `Host ${headers.host} is not a name of this machine; use 127.0.0.1, or set PUBLIC_BASE_URL.`;
    if (headers.origin === undefined || READING_METHODS.has(method)) return null;
    const origin = parseHost(headers.origin);
    const isOwnPage = origin !== null && (LOOPBACK.test(origin) || origin === host || origin === publicHost);
    if (isOwnPage || isExtension(headers.origin)) return null;
    return `Pages of ${headers.origin} may not write on a local chain; only pages of this machine may.`;
  };
}

/** Addresses, and names without a dot, cannot be led elsewhere by the owner of a site. */
function isPrivateName(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, "")) !== 0 || !host.includes(".");
}

function parseHost(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname || null : null;
}

function isExtension(origin: string): boolean {
  return URL.canParse(origin) && EXTENSION.test(new URL(origin).protocol);
}
