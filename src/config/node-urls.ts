// The configured nodes by how they are spoken to: requests go over HTTP, sockets only tell of new heads.
import type { Secret } from "../lib/secret.ts";

type Urls = readonly Secret<string>[];

export function splitRpcUrls(urls: Urls): { readonly http: Urls; readonly sockets: Urls } {
  const isSocket = (url: Secret<string>) => /^wss?:/i.test(url.reveal());
  return { http: urls.filter((url) => !isSocket(url)), sockets: urls.filter(isSocket) };
}
