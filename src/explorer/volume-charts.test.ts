// Charts of volumes: one for each token, every interval a bar, and values to the unit.
import { expect, it } from "vitest";
import type { RouteDescription } from "../http/openapi/route-description.ts";
import { renderHtml } from "../lib/html.ts";
import { type Volumes, volumeCard } from "./charts.ts";
import type { PageContext } from "./context.ts";

const USDC = `0x${"12".repeat(20)}`;
const OTHER = `0x${"ab".repeat(20)}`;
const DAY = 86_400;
const FROM = 1_767_225_600;

const route = { method: "GET", path: "/analytics/volumes", operationId: "getVolumes" } as RouteDescription;
const page = {
  block: null,
  base: "",
  path: "/merchants/1",
  query: {},
  head: { block_number: "9", finalized_block: "5" },
  site: {
    chain: {
      network: "local",
      chainId: 1,
      explorerUrl: null,
      contracts: {},
      tokens: { [USDC]: { symbol: "USDC", decimals: 6 } },
    },
    pagePaths: new Set(),
    publicUrl: () => "https://index.example",
    routes: [route],
  },
} as unknown as PageContext;

const call = { route: "/analytics/volumes", params: {}, query: { merchant_id: "1" } };

function cardOf(body: Volumes): string {
  return renderHtml(volumeCard({ body, call }, page));
}

const volume = (day: number, token: string, settled_volume: string, receipts = "1") => ({
  start: String(FROM + day * DAY),
  token,
  receipts,
  settled_volume,
  protocol_fees: "7",
});

const range = { interval: "day", from: String(FROM), to: String(FROM + 4 * DAY) } as const;

it("has a chart for each token, the one with the most receipts first, and a bar for each interval", () => {
  const text = cardOf({
    ...range,
    volumes: [
      volume(0, OTHER, "9007199254740993"),
      volume(1, USDC, "1500000", "3"),
      volume(3, USDC, "2500000"),
    ],
  });
  expect(text.match(/<figure class="chart">/g)).toHaveLength(2);
  expect(text.indexOf(">USDC<")).toBeLessThan(text.indexOf(OTHER));
  expect(text.match(/<th scope="row">/g)).toHaveLength(10);
  expect(text).toContain('title="4000000 units"');
  expect(text).toContain("9,007,199,254,740,993");
  expect(text).toContain("<title>2026-01-02: 1.5 USDC in 3 receipts</title>");
  expect(text).toContain("<title>2026-01-03: 0 USDC in 0 receipts</title>");
});

it("says that nothing was settled, or that nothing is known of a block", () => {
  expect(cardOf({ ...range, volumes: [] })).toContain("No payment was settled in this time.");
  const unknown = renderHtml(volumeCard({ problem: "This data is available from block 9 on." }, page));
  expect(unknown).toContain("Volumes are kept for recent blocks only. This data is available");
});

it("says why the API rejects a request, and mentions old blocks only if they are why", () => {
  const rejected = renderHtml(volumeCard({ problem: "interval must be hour or day." }, page));
  expect(rejected).toContain('info">interval must be hour or day.');
});

it("leads from days to hours", () => {
  const text = cardOf({ ...range, volumes: [] });
  expect(text).toContain('href="/explorer/merchants/1?interval=hour"');
  expect(cardOf({ ...range, interval: "hour", volumes: [] })).toContain("?interval=day");
});

it("draws no more bars than the API has intervals", () => {
  const text = cardOf({ ...range, to: String(FROM + 10 ** 6 * DAY), volumes: [volume(0, USDC, "1")] });
  expect(text.match(/<th scope="row">/g)).toHaveLength(400);
});
