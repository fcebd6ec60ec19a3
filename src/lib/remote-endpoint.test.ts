// Redaction: neither a text nor an error of the platform shows a secret of the address.
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createRemoteEndpoint, redactError } from "./remote-endpoint.ts";
import { Secret } from "./secret.ts";

const KEY = "k/y 1";
const endpoint = createRemoteEndpoint(new Secret(`https://host.example/v2/${encodeURIComponent(KEY)}`), {
  secrets: [new Secret(KEY)],
});
const text = `You sent ${KEY}, that is ${encodeURIComponent(KEY)}, to https://host.example/v2/x`;

describe("redaction", () => {
  it("hides a named secret of any length, as it is and as an address writes it", () => {
    expect(endpoint.redact(text)).toBe("You sent [secret], that is [secret], to [url]");
  });

  it("keeps texts and codes of an error and its causes, and no other property", () => {
    const cause = Object.assign(new Error(text), { code: "ECONNRESET" });
    const error = Object.assign(new TypeError(text, { cause }), { url: text });
    const redacted = redactError(error, endpoint);
    const shown = inspect(redacted, { depth: 20, showHidden: true, getters: true });
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(encodeURIComponent(KEY));
    expect(String(redacted.cause)).toContain("ECONNRESET You sent [secret]");
  });

  it("redacts a thrown value that is not an error", () => {
    expect(redactError(text, endpoint).message).toContain("[secret]");
  });
});
