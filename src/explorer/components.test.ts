// Components: what is unknown is shown as unknown, limits by their share, amounts by what is known of their token.
import { expect, it } from "vitest";
import { renderHtml } from "../lib/html.ts";
import { bars, rangeLine } from "./charts.ts";
import {
  addressLink,
  amount,
  gauge,
  hash,
  name,
  price,
  seconds,
  sparkline,
  time,
  token,
  transaction,
  unavailable,
  unknown,
  withNoun,
} from "./components.ts";
import type { PageContext } from "./context.ts";
import { fieldValue, findMentions } from "./fields.ts";
import { deadlineOf } from "./lists.ts";

const TOKEN = `0x${"12".repeat(20)}`;
const OTHER = `0x${"ab".repeat(20)}`;
const HASH = `0x${"cd".repeat(32)}`;

function pageWith(pagePaths: readonly string[], explorerUrl: string | null = null): PageContext {
  const chain = {
    network: "local",
    chainId: 1,
    explorerUrl,
    contracts: {},
    native: { symbol: "POL", decimals: 18 },
    tokens: { [TOKEN]: { symbol: "USDC", decimals: 6 } },
  };
  return { block: "9", base: "", site: { chain, pagePaths: new Set(pagePaths) } } as unknown as PageContext;
}

const page = pageWith([]);

it("an amount has symbol and decimals of a known token, and the smallest unit of any other", () => {
  expect(renderHtml(amount(page, "1500000", TOKEN))).toMatch(/title="1500000 units">.*1\.5.*USDC/);
  expect(renderHtml(amount(page, "1500000", OTHER))).toMatch(/1,500,000.*units/);
  expect(renderHtml(amount(page, null, TOKEN))).toBe(renderHtml(unknown()));
});

const plain = (html: Parameters<typeof renderHtml>[0]) => renderHtml(html).replace(/<[^>]*>/g, "");

it("shows the price of a pair in one direction, whichever token is given", () => {
  const usdc = { units: "3000000000", token: TOKEN };
  const coin = { units: (10n ** 18n).toString(), token: `0x${"0".repeat(40)}` };
  const [sold, bought] = [price(page, usdc, coin, true), price(page, coin, usdc, true)].map(plain);
  expect(sold).toBe("≤ 0.000333333 POL per USDC≥ 3,000 USDC per POL");
  expect(bought).toBe("≥ 0.000333333 POL per USDC≤ 3,000 USDC per POL");
  expect(plain(price(page, usdc, coin))).toBe("0.000333333 POL per USDC3,000 USDC per POL");
});

it("shows a mean of seconds as distances in time, and counts one in the singular", () => {
  expect(["58.777778", "3600", "7200"].map((each) => plain(seconds(each)))).toEqual([
    "59 s",
    "60 min",
    "2 h",
  ]);
  expect(["1", "2", "1000"].map((each) => plain(withNoun(each, "receipt")))).toEqual([
    ...["1 receipt", "2 receipts", "1,000 receipts"],
  ]);
});

it("counts down to the deadline of an open intent only", () => {
  const at = (status: string) => renderHtml(deadlineOf({ status, deadline: "1790000000" } as never));
  expect([at("OPEN"), at("EXPIRED")]).toEqual([
    expect.stringContaining("<time "),
    expect.stringContaining("<time "),
  ]);
  for (const status of ["FILLED", "CANCELLED"]) {
    expect(at(status)).not.toContain("<time ");
    expect(at(status)).toContain("2026-09-21 14:13:20 UTC");
    const whole = deadlineOf({ status, deadline: "1790000000" } as never, "page");
    expect(plain(whole)).toBe("2026-09-21 14:13:20 UTC");
  }
});

it("finds the records that sentences and receipts mention, a limited number of each kind, and not in deep documents", () => {
  const part = (id: number) => ({ kind: "record", text: `#${id}`, record: "agent", id: String(id) });
  const events = Array.from({ length: 20 }, (_, id) => ({
    parts: [{ kind: "text", text: "Agent" }, part(id)],
  }));
  const receipt = { receipt_id: "1", merchant_id: "2", service_numeric_id: "3" };
  const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
  const found = findMentions({ feed: { events }, receipts: { records: [receipt] }, merchant_id: "9", deep });
  expect([...found].map(([kind, ids]) => [kind, ids.size])).toEqual([
    ...[
      ["agent", 8],
      ["merchant", 1],
      ["service", 1],
    ],
  ]);
  expect(found.get("merchant")).toEqual(new Set(["2"]));
});

it("rails, fees and limits have a name or a unit in records, rows and arguments of events", () => {
  const textOf = (fields: Readonly<Record<string, string>>, field: string) =>
    renderHtml(fieldValue(page, fields, field)).replace(/<[^>]*>/g, "");
  expect(textOf({ payment_rail: "3" }, "payment_rail")).toBe("x402");
  expect(textOf({ payment_rail: "9" }, "payment_rail")).toBe("Rail 9");
  expect(textOf({ slippage_bps: "50" }, "slippage_bps")).toBe("0.5 %");
  expect(textOf({ protocol_fee_bps: "0" }, "protocol_fee_bps")).toBe("0 %");
  expect(textOf({ fee: "1500000", input_token: TOKEN }, "fee")).toBe("1,500,000 units");
  expect(textOf({ max_per_day: "0", token: TOKEN }, "max_per_day")).toBe("no limit");
  expect(textOf({ max_per_payment: "2500000", token: TOKEN }, "max_per_payment")).toBe("2.5 USDC");
});

it("the coin of the chain has its symbol, and few of its units are wei", () => {
  const zero = `0x${"0".repeat(40)}`;
  const textOf = (units: string) => renderHtml(amount(page, units, zero)).replace(/<[^>]*>/g, "");
  expect(textOf("1500000000000000000")).toBe("1.5 POL");
  expect(textOf("7")).toBe("7 wei");
  expect(textOf("-999999999999")).toBe("-999,999,999,999 wei");
  expect(textOf("1000000000000")).toBe("0.000001 POL");
  expect(textOf("0")).toBe("0 POL");
  expect(renderHtml(token(page, zero))).toContain(">POL<");
});

it("only the problem of a block that is too old is said to be one", () => {
  const old = "This data is available from block 9 on.";
  expect(renderHtml(unavailable("Totals", old))).toContain(
    "Totals are kept for recent blocks only. This data",
  );
  const wrong = "token must be <an address>.";
  expect(renderHtml(unavailable("Totals", wrong))).toBe(
    '<p class="notice info">token must be &lt;an address&gt;.</p>',
  );
});

it("an address is whole to copy, short to read, and a link once its page exists", () => {
  expect(renderHtml(addressLink(page, OTHER))).toContain(`data-copy="${OTHER}">0xababab…ababab<`);
  expect(renderHtml(addressLink(page, OTHER))).not.toContain("href");
  expect(renderHtml(addressLink(pageWith(["/accounts/:id"]), OTHER))).toContain(
    `href="/explorer/accounts/${OTHER}?block=9"`,
  );
  expect(renderHtml(addressLink(page, `0x${"0".repeat(40)}`))).toContain("none");
  expect(renderHtml(hash(page, undefined))).toBe(renderHtml(unknown()));
});

it("contracts and tokens of the deployment have their names wherever an address appears", () => {
  const contract = `0x${"77".repeat(20)}`;
  const { site, ...rest } = pageWith(["/accounts/:id"]);
  const named = { ...rest, site: { ...site, chain: { ...site.chain, contracts: { IntentBook: contract } } } };
  expect(renderHtml(addressLink(named, contract))).toBe(
    `<a class="record" href="/explorer/accounts/${contract}?block=9"><span class="known" title="${contract}" data-copy="${contract}">IntentBook</span></a>`,
  );
  expect(renderHtml(addressLink(named, TOKEN))).toContain(`data-copy="${TOKEN}">USDC<`);
  expect(renderHtml(addressLink(named, "constructor"))).toContain(">constructor<");
});

it("a transaction leads to the chain's explorer if the deployment names one", () => {
  expect(renderHtml(transaction(pageWith([], "https://scan.example"), HASH))).toContain(
    `href="https://scan.example/tx/${HASH}" rel="noopener noreferrer"`,
  );
  expect(renderHtml(transaction(page, HASH))).not.toContain("href");
});

it("what is absent or beyond the calendar is said, not guessed", () => {
  expect(renderHtml(name(""))).toBe(renderHtml(unknown()));
  expect(renderHtml(time(null))).toBe(renderHtml(unknown()));
  expect(renderHtml(time((2n ** 256n - 1n).toString()))).toContain("beyond any calendar");
});

it("a gauge shows the share of a limit, and warns from four fifths on", () => {
  const at = (used: bigint, limit: bigint) => renderHtml(gauge({ label: "Today", used, limit, text: "x" }));
  expect(at(1n, 2n)).toMatch(/class="gauge good".*value="5000"/);
  expect(at(8n, 10n)).toMatch(/class="gauge warn".*value="8000"/);
  expect(at(2n ** 255n, 2n ** 255n)).toMatch(/class="gauge bad".*value="10000"/);
});

it("charts are made of attributes, and say in words what they show", () => {
  const line = renderHtml(sparkline([0, 2, 1], "Three parts"));
  expect(line).toContain('aria-label="Three parts"');
  expect(line).toContain('points="3.0,45.0 120.0,3.0 237.0,24.0"');
  const items = [
    { label: "a", value: 2n ** 200n, text: "much" },
    { label: "b", value: 2n ** 199n, text: "half" },
  ];
  expect(renderHtml(bars(items))).toMatch(/width="100\.00%".*width="50\.00%"/);
  expect(renderHtml(rangeLine(0n, 100n, 50n, { at: 100n, kind: "good" }))).toContain(
    'x="50.00%" y="7" width="46.00%"',
  );
  expect(`${line}${renderHtml(bars(items))}`).not.toContain("style=");
});
