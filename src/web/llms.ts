// /llms.txt: where a language model finds what it needs, in the form of llmstxt.org.
import type { Offering } from "./offering.ts";

export type DocumentLink = { readonly path: string; readonly title: string; readonly description: string };

export type LinkGroup = { readonly title: string; readonly links: readonly DocumentLink[] };

export function renderLlmsText(
  { name, description: about, origin, routes }: Offering,
  groups: readonly LinkGroup[],
): string {
  const paid = routes.map(
    ({ method, path, priceUsd, description, terms }) =>
      `- [${method} ${path}](${origin}${path}): $${priceUsd} per request, paid with x402 on ${terms.network}. ${description}`,
  );
  const listed = groups.flatMap(({ title, links }) => [
    `## ${title}`,
    "",
    ...links.map((link) => `- [${link.title}](${origin}${link.path}): ${link.description}`),
    "",
  ]);
  return [
    `# ${name}`,
    "",
    `> ${about}`,
    "",
    "Ask without paying to get 402 and the terms, sign them, ask again with the signature. Sending the same signature again is free: you pay once, and for an answer only.",
    "",
    "## Paid",
    "",
    ...paid,
    "",
    ...listed,
  ].join("\n");
}
