// Splits configured nodes by transport: HTTP for requests, WebSocket only for new heads.
import type { Secret } from "../lib/secret.ts";

type Urls = readonly Secret<string>[];

export function splitRpcUrls(urls: Urls): { readonly http: Urls; readonly sockets: Urls } {
  const isSocket = (url: Secret<string>) => /^wss?:/i.test(url.reveal());
  return { http: urls.filter((url) => !isSocket(url)), sockets: urls.filter(isSocket) };
}
