// Decodes base64 and base64url, canonical forms only.
import { Rejection } from "./rejection.ts";

export function decodeBase64(text: string, name: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    throw new Rejection(`${name} is not base64.`);
  }
  // Unused bits, and characters that decoders skip, would make two texts of the same bytes.
  if (encodeBase64(bytes) !== text) throw new Rejection(`${name} is not canonical base64.`);
  return bytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

export function decodeBase64Url(text: string, name: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Rejection(`${name} is not base64url.`);
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return decodeBase64(plain.padEnd(Math.ceil(plain.length / 4) * 4, "="), name);
}

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
