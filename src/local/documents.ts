// Documents of a local run: those that the examples of the API name, so that each example has something to read.
import { recordedExamples } from "../api/describe.ts";

/** In the order of their dependencies: a quote response names its request. */
const WRITES = {
  publishCatalog: "/catalogs",
  publishQuoteRequest: "/quote-requests",
  publishQuoteResponse: "/quote-responses",
  publishAttestationSchema: "/attestations/schemas",
  reserveIntentMetadata: "/intents/metadata",
} as const;

// With WRITE_AUTH=signed the last two need a signature, and stay out.
const UNAUTHENTICATED = 401;

export async function publishExampleDocuments(api: string): Promise<void> {
  for (const [operation, path] of Object.entries(WRITES)) {
    const response = await fetch(`${api}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(recordedExamples.operations[operation]?.body),
    });
    const text = await response.text();
    if (response.ok || response.status === UNAUTHENTICATED) continue;
    throw new TypeError(`The example of ${operation} was rejected with ${response.status}: ${text}`);
  }
}
