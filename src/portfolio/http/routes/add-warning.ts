// Adds what the request itself gave reason to warn about to the warnings of its response.

type Warned = { readonly summary: { readonly warnings: readonly string[] } };

/** First of all warnings: the others are about a wallet that may be the wrong one. */
export function addWarning<Body extends Warned>(body: Body, warning: string | undefined): Body {
  if (warning === undefined) return body;
  return { ...body, summary: { ...body.summary, warnings: [warning, ...body.summary.warnings] } };
}
