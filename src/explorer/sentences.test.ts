// Sentences: amounts of known tokens as people read them, and nothing of ours where a stranger is quoted.
import { expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import type { PageContext } from "./context.ts";
import { ownSentence, sentence } from "./sentences.ts";

const TOKEN = `0x${"12".repeat(20)}`;
const OTHER = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;

function pageWith(pagePaths: readonly string[]): PageContext {
  const chain = {
    network: "local",
    chainId: 1,
    explorerUrl: null,
    native: { symbol: "POL", decimals: 18 },
    tokens: { [TOKEN]: { symbol: "USDC", decimals: 6 } },
  };
  return { block: "9", base: "", site: { chain, pagePaths: new Set(pagePaths) } } as unknown as PageContext;
}

const page = pageWith([]);

it("a sentence has its addresses and hashes by their ends, and the rest as a stranger's text", () => {
  const text = renderHtml(ownSentence(page, `<b> ${OTHER} paid ${HASH}, 0xabc`));
  expect(text).toContain("&lt;b&gt;");
  expect(text).toContain(">0xababab…ababab<");
  expect(text).toContain(">0xcdcdcd…cdcdcd<");
  expect(text).toContain(", 0xabc");
});

it("a sentence has amounts of known tokens as people read them", () => {
  const textOf = (description: string) =>
    renderHtml(sentence(page, { type: "ReceiptRecorded", description })).replace(/<[^>]*>/g, "");
  expect(textOf(`${OTHER} paid 1500000 of ${TOKEN}; more`)).toBe("0xababab…ababab paid 1.5 USDC; more");
  expect(textOf(`limited its spending of ${TOKEN} to 5`)).toBe("limited its spending of USDC to 5");
  expect(textOf(`limited its spending of 0x${"0".repeat(40)} to 5`)).toBe("limited its spending of POL to 5");
  expect(textOf(`spent 7 of 0x${"0".repeat(40)}`)).toBe("spent 7 wei");
  expect(textOf(`spent 7 of ${OTHER}`)).toBe("spent 7 of 0xababab…ababab");
});

it("bonds, limits, bids and fills have amounts as people read them", () => {
  const intents = new Map([["7", { input_token: TOKEN, output_token: `0x${"0".repeat(40)}` }]]);
  const textOf = (type: string, description: string) =>
    renderHtml(sentence(page, { type, description }, intents)).replace(/<[^>]*>/g, "");
  const bid = (intent: string) =>
    `Solver ${OTHER} bid #3 on intent #${intent}: 2500000 in for 1500000000000000000 out, fee 5`;
  expect(textOf("SolverBidSubmitted", bid("7"))).toBe(
    "Solver 0xababab…ababab bid #3 on intent #7: 2.5 USDC in for 1.5 POL out, fee 5",
  );
  // The tokens of another intent are not known.
  expect(textOf("SolverBidSubmitted", bid("8"))).toContain("2500000 in for 1500000000000000000 out, fee 5");
  expect(textOf("IntentFilled", `Intent #7 filled by solver ${OTHER}: 1 in, 7 out`)).toBe(
    "Intent #7 filled by solver 0xababab…ababab: 0.000001 USDC in, 7 wei out",
  );
  expect(
    textOf("SolverRegistered", `Solver #1 registered by ${OTHER} with a bond of 2000000000000000000`),
  ).toBe("Solver #1 registered by 0xababab…ababab with a bond of 2 POL");
  expect(textOf("SolverBondUpdated", "Bond of solver #12 is now 0")).toBe("Bond of solver #12 is now 0 POL");
  expect(textOf("SpendLimitSet", `Account ${OTHER} limited its spending of ${TOKEN} to 5000000 a day`)).toBe(
    "Account 0xababab…ababab limited its spending of USDC to 5 USDC a day",
  );
  expect(textOf("SpendRecorded", `spent 7 of ${TOKEN}; 1000000 in its current window`)).toBe(
    "spent 0.000007 USDC; 1 USDC in its current window",
  );
  expect(textOf("GuardianSet", `set its guardian to 0x${"0".repeat(40)}`)).toBe("set its guardian to none");
});

it("a sentence that quotes a stranger has no amount and no link of ours", () => {
  const description = `Service #9 (x) paid 5000000 of ${TOKEN} to ${OTHER} (y) registered by merchant #1`;
  const shown = renderHtml(sentence(pageWith(["/accounts/:id"]), { type: "ServiceRegistered", description }));
  expect(shown).toBe(`<span class="sentence"><bdi class="foreign">${description}</bdi></span>`);
});

it("a sentence is of limited length", () => {
  const description = `Service #9 (${`${OTHER} `.repeat(2_000)}) registered`;
  expect(renderHtml(sentence(page, { type: "ServiceRegistered", description })).length).toBeLessThan(1_000);
  expect(renderHtml(ownSentence(page, description)).length).toBeLessThan(4_000);
  // A hash that is cut is no address.
  const cut = renderHtml(ownSentence(page, `${"x".repeat(600 - 42)}${HASH}`));
  expect(cut).not.toContain("data-copy");
});
