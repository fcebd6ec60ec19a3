// Measures what a signature adds to a response: of a page of a list, and of a snapshot. Below 0.2 ms each.
import { randomBytes } from "node:crypto";
import { bench, describe } from "vitest";
import { serializeResponse } from "../response.ts";
import { addSigningKey } from "./add-signing-key.ts";
import { ResponseSigner } from "./response-signer.ts";
import { SigningKeys } from "./signing-keys.ts";

const keys = SigningKeys.parse(addSigningKey(null, "the benchmark", 1_700_000_000), "the benchmark");
const signer = new ResponseSigner({ keys, publicUrl: () => "https://api.example" });
const request = { method: "GET", url: "/agents?limit=20&signed=1" };

describe("a response", () => {
  for (const kilobytes of [2, 54, 500]) {
    const body = randomBytes(kilobytes * 1_024);
    const response = serializeResponse({ route: "/agents", body, computeEtag: true });
    bench(`of ${kilobytes} kB, signed`, () => void signer.sign(response, request));
  }
});
