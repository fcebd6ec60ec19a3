// Sentences: amounts of known tokens as people read them, records as links, and a quoted text apart from ours.
import { expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import {
  addressPart,
  amountOfToken,
  amountPart,
  hashPart,
  quotedPart,
  recordPart,
  type Sentence,
  sentence as say,
  timePart,
  tokenPart,
} from "../schema/sentence.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import type { PageContext } from "./context.ts";
import { intentTokens, renderSentence } from "./events.ts";

const TOKEN = `0x${"12".repeat(20)}`;
const OTHER = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;

function pageWith(pagePaths: readonly string[]): PageContext {
  const chain = {
    network: "local",
    chainId: 1,
    explorerUrl: null,
    contracts: {},
    native: { symbol: "POL", decimals: 18 },
    tokens: { [TOKEN]: { symbol: "USDC", decimals: 6 } },
  };
  return { block: "9", base: "", site: { chain, pagePaths: new Set(pagePaths) } } as unknown as PageContext;
}

const page = pageWith([]);
const textOf = (parts: Sentence) => renderHtml(renderSentence(page, parts)).replace(/<[^>]*>/g, "");

it("a sentence has its addresses and hashes by their ends, and its records as links", () => {
  const parts = say`Quote ${recordPart("quote", HASH)} of agent ${recordPart("agent", 7n)} (${addressPart(OTHER)}), ${hashPart(HASH)}`;
  expect(textOf(parts)).toBe("Quote 0xcdcdcd…cdcdcd of agent #7 (0xababab…ababab), 0xcdcdcd…cdcdcd");
  const linked = renderHtml(renderSentence(pageWith(["/agents/:id", "/quotes/:id"]), parts));
  expect(linked).toContain('<a class="record" href="/explorer/agents/7?block=9">#7</a>');
  expect(linked).toContain(`href="/explorer/quotes/${HASH}?block=9"`);
  const long = say`about facilitator ${recordPart("facilitator", 10n ** 75n + 409_347n)}`;
  expect(textOf(long)).toBe("about facilitator #100,000,000…000,409,347");
  expect(textOf(say`set its guardian to ${addressPart(ZERO_ADDRESS)}`)).toBe("set its guardian to none");
});

it("a sentence has amounts of known tokens as people read them", () => {
  expect(textOf(say`paid ${amountOfToken(1_500_000n, TOKEN)}; more`)).toBe("paid 1.5 USDC; more");
  expect(textOf(say`of ${tokenPart(TOKEN)} to ${amountPart(5_000_000n, TOKEN)}`)).toBe("of USDC to 5 USDC");
  expect(textOf(say`of ${tokenPart(ZERO_ADDRESS)}`)).toBe("of POL");
  expect(textOf(say`spent ${amountOfToken(7n, ZERO_ADDRESS)}`)).toBe("spent 7 wei");
  expect(textOf(say`spent ${amountOfToken(7n, OTHER)}`)).toBe("spent 7 units of 0xababab…ababab");
  expect(textOf(say`${amountPart(2n * 10n ** 18n, ZERO_ADDRESS)} in, ${amountPart(7n, OTHER)} out`)).toBe(
    "2 POL in, 7 units out",
  );
  expect(textOf(say`${amountPart(7n, null)} out`)).toBe("7 units (no token named) out");
  // Without an element of time, which becomes "in 7 days" in a browser.
  expect(renderHtml(renderSentence(page, say`until ${timePart(1_800_000_000)}`))).toBe(
    '<span class="sentence">until 2027-01-15 08:00:00 UTC</span>',
  );
});

it("a text that someone else wrote stands apart, without links, and is of limited length", () => {
  const quoted = `<b> 5000000 of ${TOKEN} to ${OTHER}`;
  expect(renderHtml(renderSentence(pageWith(["/accounts/:id"]), say`Service (${quotedPart(quoted)})`))).toBe(
    `<span class="sentence">Service (<bdi class="foreign">${quoted.replace("<b>", "&lt;b&gt;")}</bdi>)</span>`,
  );
  expect(textOf(say`(${quotedPart(`${OTHER} `.repeat(2_000))})`).length).toBeLessThan(500);
});

it("bids and fills name the tokens of their intent", () => {
  const parts = say`${amountPart(1n, TOKEN)} in, ${amountPart(2n, OTHER)} out`;
  expect(intentTokens({ args: { amountIn: "1" }, parts })).toEqual({
    input_token: TOKEN,
    output_token: OTHER,
  });
  expect(intentTokens({ args: { amount: "1" }, parts })).toEqual({});
});
