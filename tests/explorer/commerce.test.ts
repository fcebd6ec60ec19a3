// Pages of commerce over a simulated history: what they show is what the API says, to the unit, at any block.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatNumber, formatUnits } from "../../src/explorer/format.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";
import { parsePage } from "./well-formed.ts";

type ApiRecord = Readonly<Record<string, string>>;

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

async function read<T>(path: string): Promise<T> {
  const response = await stage.get(path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

async function listOf(path: string, key: string): Promise<readonly ApiRecord[]> {
  return (await read<Readonly<Record<string, readonly ApiRecord[]>>>(path))[key] ?? [];
}

async function open(path: string): Promise<string> {
  const response = await stage.get(`/explorer${path}`);
  const text = await response.text();
  expect(response.status, `${path} ${text.slice(0, 300)}`).toBe(200);
  parsePage(text);
  return text;
}

/** The part of a page under a heading. */
function cardOf(text: string, id: string): string {
  const start = text.indexOf(`id="${id}"`);
  expect(start, id).toBeGreaterThan(0);
  return text.slice(start, text.indexOf("</section>", start));
}

/** The text of the fact with this label, without markup. */
function factOf(text: string, label: string): string {
  const match = new RegExp(`<dt>${label}</dt><dd>(.*?)</dd>`, "s").exec(text);
  expect(match, label).not.toBeNull();
  return (match?.[1] ?? "").replace(/<[^>]+>/g, "").trim();
}

const plain = (html: string) => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");

/** Every amount of the page in units, from its title. */
const unitsOf = (html: string) => [...html.matchAll(/title="([0-9]+) units"/g)].map(([, units]) => units);

describe("a merchant", () => {
  it("a merchant shows the reputation of the API, now and at an earlier block", async () => {
    const merchants = await listOf("/merchants?limit=100", "merchants");
    expect(merchants.length).toBeGreaterThan(1);
    for (const { merchant_id: id, block_number } of merchants) {
      for (const at of ["", `?block=${Math.ceil((Number(block_number) + stage.head) / 2)}`]) {
        const { commerce, disputes, trust_signals_by_kind } = await read<{
          commerce: ApiRecord;
          disputes: ApiRecord;
          trust_signals_by_kind: readonly { kind: number; signals: string }[];
        }>(`/merchants/${id}/reputation${at}`);
        const text = await open(`/merchants/${id}${at}`);
        const bars = [
          ...text.matchAll(/<span class="bar-label">(.*?)<\/span><span class="bar-value">(.*?)<\/li>/gs),
        ].map(([, label, value = ""]) => [label, /number">([0-9,]+)</.exec(value)?.[1]?.replaceAll(",", "")]);
        const words = ["Verification", "Risk", "Compliance", "Fulfillment"];
        expect(bars.slice(0, 2)).toEqual([
          ["Receipts", commerce.receipts],
          ["Fulfilled", commerce.fulfilled_receipts],
        ]);
        const contested = ["Open", "Resolved", "Rejected"].map((word) => [
          word,
          disputes[`${word.toLowerCase()}_disputes`],
        ]);
        expect(bars.slice(2)).toEqual([
          ...(disputes.disputes === "0" ? [] : contested),
          ...trust_signals_by_kind.map(({ kind, signals }) => [words[kind], signals]),
        ]);
      }
    }
  });

  it("charts the sums of its receipts by token, to the unit", async () => {
    const [newest] = await listOf("/receipts?limit=1", "receipts");
    const own = `merchant_id=${newest?.merchant_id}`;
    const receipts = await listOf(`/receipts?${own}&limit=100&include=provenance`, "receipts");
    const { from, to } = await read<{ from: string; to: string }>(`/analytics/volumes?${own}`);
    const counted = receipts.filter(
      ({ block_timestamp = "0" }) =>
        Number(block_timestamp) >= Number(from) && Number(block_timestamp) < Number(to) + 86_400,
    );
    expect(counted.length).toBeGreaterThan(1);
    const sums = new Map<string, bigint>();
    for (const { token = "", amount = "0" } of counted) {
      sums.set(token, (sums.get(token) ?? 0n) + BigInt(amount));
    }
    const volumes = cardOf(await open(`/merchants/${newest?.merchant_id}`), "volumes");
    expect(volumes.match(/<figure/g)).toHaveLength(sums.size);
    // Without decimals of its token an amount is the number of units itself.
    const shows = (sum: bigint) =>
      volumes.includes(`title="${sum} units"`) || volumes.includes(`>${formatNumber(String(sum)).text}<`);
    expect([...sums.values()].filter((sum) => !shows(sum))).toEqual([]);
    // The receipts of all rows of each table are those of the merchant.
    const cells = [
      ...volumes.matchAll(/<th scope="row">.*?<td class="number"><span class="number">([0-9,]+)</g),
    ];
    expect(cells.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(counted.length);
    const hours = await open(`/merchants/${newest?.merchant_id}?interval=hour`);
    expect(cardOf(hours, "volumes")).toContain("Hour (UTC)");
  });

  it("a merchant lists what belongs to it", async () => {
    const [receipt] = await listOf("/receipts?limit=1", "receipts");
    const id = receipt?.merchant_id;
    const text = await open(`/merchants/${id}`);
    const cases = [
      ["services", "services", "/services", "service_numeric_id", `merchant_id=${id}`],
      ["newest-receipts", "receipts", "/receipts", "receipt_id", `merchant_id=${id}`],
      ["newest-disputes", "disputes", "/disputes", "dispute_id", `merchant_id=${id}`],
    ] as const;
    for (const [card, key, path, name, query] of cases) {
      const expected = (await listOf(`${path}?${query}&limit=6`, key)).map((each) => each[name]);
      const links = [
        ...cardOf(text, card).matchAll(/<td[^>]*data-label="(?:Service|Receipt|Dispute)".*?<\/td>/gs),
      ]
        .map(([cell]) => new RegExp(`/explorer${path}/([0-9]+)"`).exec(cell)?.[1])
        .filter((each) => each !== undefined);
      expect(links, card).toEqual(expected);
    }
  });
});

describe("a receipt", () => {
  it("a receipt shows its amounts to the unit, its parties and its hashes", async () => {
    const receipts = await listOf("/receipts?limit=20", "receipts");
    for (const receipt of receipts) {
      const text = await open(`/receipts/${receipt.receipt_id}`);
      const payment = cardOf(text, "payment");
      const rest = BigInt(receipt.amount ?? "") - BigInt(receipt.protocol_fee_amount ?? "");
      const expected = [receipt.amount, receipt.protocol_fee_amount, rest.toString()];
      const shown = unitsOf(payment);
      if (shown.length > 0) expect(shown).toEqual(expected);
      else {
        expect(factOf(payment, "Amount")).toContain(formatUnits(receipt.amount ?? "", null).text);
        expect(factOf(payment, "Without the fee")).toContain(formatNumber(rest.toString()).text);
      }
      const parties = cardOf(text, "parties");
      expect(parties).toContain(receipt.agent);
      expect(parties).toContain(`/explorer/merchants/${receipt.merchant_id}"`);
      expect(parties).toContain(`/explorer/services/${receipt.service_numeric_id}"`);
      const proof = cardOf(text, "proof");
      for (const name of ["quote_hash", "result_hash", "resource_hash"])
        expect(proof).toContain(receipt[name]);
      expect(factOf(proof, "Delivery") === "–").toBe(receipt.fulfillment_hash === null);
    }
  });

  it("tells its life from the quote to the end of a dispute, and leads from change to change", async () => {
    const [dispute] = await listOf("/disputes?status=resolved&limit=1", "disputes");
    const id = dispute?.receipt_id;
    const [latest] = await listOf(`/disputes?receipt_id=${id}&limit=1`, "disputes");
    const text = await open(`/receipts/${id}`);
    const steps = [...cardOf(text, "life").matchAll(/step-title">(.*?)<\/div>/gs)].map(([, title = ""]) =>
      plain(title).trim(),
    );
    expect(steps[0]).toBe("Quoted");
    expect(steps).toContain(`Settled, receipt #${id}`);
    expect(steps).toContain(`Dispute #${dispute?.dispute_id} opened`);
    expect(steps).toContain(`Dispute #${dispute?.dispute_id} resolved`);
    expect(steps.indexOf(`Dispute #${latest?.dispute_id} opened`)).toBeGreaterThan(1);
    // Right before the dispute was opened nothing of it is there, and the next change is its block.
    const before = Number(dispute?.block_number) - 1;
    const earlier = await open(`/receipts/${id}?block=${before}`);
    expect(plain(cardOf(earlier, "life"))).not.toContain(`Dispute #${dispute?.dispute_id}`);
    expect(earlier).toContain(`block=${dispute?.block_number}"`);
  });
});

describe("a quote", () => {
  it("a quote is open, then settled by its receipt", async () => {
    const [receipt] = await listOf("/receipts?limit=1", "receipts");
    const path = `/quotes/${receipt?.quote_hash}`;
    const settled = await open(path);
    expect(settled).toContain('<span class="badge good">Settled</span>');
    expect(cardOf(settled, "receipts")).toContain(`/explorer/receipts/${receipt?.receipt_id}"`);
    const before = await open(`${path}?block=${Number(receipt?.block_number) - 1}`);
    expect(before).toContain("Payable until");
    expect(cardOf(before, "receipts")).toContain("There is no such receipt");
    expect(before).toContain(`block=${receipt?.block_number}"`);
  });

  it("a quote that was committed again still shows its first commitment", async () => {
    const events = await listOf("/events?type=QuoteCommitted&from=genesis&limit=1000", "events");
    const unpaid: (typeof events)[number][] = [];
    for (const event of events) {
      const { quoteHash } = event.args as unknown as ApiRecord;
      if ((await listOf(`/receipts?quote_hash=${quoteHash}`, "receipts")).length === 0) unpaid.push(event);
    }
    const [first, later] = [unpaid[0], unpaid.at(-1)];
    const { quoteHash = "" } = { ...(first?.args as unknown as ApiRecord) };
    // Our contract rejects what the live deployment allows: the row is as after the second commitment, at another's place.
    const again = Number(later?.block_number);
    expect(again).toBeGreaterThan(Number(first?.block_number));
    await stage.database.query({
      text: "update quotes set valid_to = $2::bigint where quote_hash = stored_hex(quote_hash, $1) and valid_to is null",
      values: [quoteHash, String(again)],
    });
    await stage.database.query({
      text: `insert into quotes select (jsonb_populate_record(q, jsonb_build_object(
        'valid_from', $2::bigint, 'valid_to', null, 'block_number', $2::bigint, 'tx_hash', replace($3, '0x', '\\x')))).*
        from quotes q where quote_hash = stored_hex(quote_hash, $1) order by valid_from desc limit 1`,
      values: [quoteHash, String(again), String(later?.tx_hash)],
    });
    const text = await open(`/quotes/${quoteHash}?block=${stage.head}`);
    expect(text).toContain(String(first?.tx_hash));
    expect(text).toContain('<div class="step-title">Quoted</div>');
  });

  it("links a document behind its hashes once it is published", async () => {
    const [receipt] = await listOf("/receipts?limit=1", "receipts");
    const quote = await read<ApiRecord>(`/quotes/${receipt?.quote_hash}`);
    const path = `/quotes/${receipt?.quote_hash}`;
    expect(await open(path)).not.toContain(">published<");
    await stage.database.query({
      text: "update quotes set terms_hash = stored_hex(terms_hash, $1) where quote_hash = stored_hex(quote_hash, $2)",
      values: [await publish(), String(quote.quote_hash)],
    });
    // The index is not notified of a row written directly; another URL is not in the cache.
    const text = await open(`${path}?block=${stage.head}`);
    const commitments = cardOf(text, "commitments");
    expect(factOf(commitments, "Terms")).toContain("published");
    const link = /href="([^"]+\/documents\/[^"]+)"/.exec(commitments)?.[1];
    expect((await stage.get(link ?? "")).status).toBe(200);
  });

  async function publish(): Promise<string> {
    const response = await fetch(`${stage.url}/quote-responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ quote_response_json: '{"price":"1"}' }),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { response_hash: string }).response_hash;
  }
});

describe("a dispute", () => {
  it("says who opened it, about what, and how it ended", async () => {
    const disputes = await listOf("/disputes?limit=20", "disputes");
    expect(disputes.length).toBeGreaterThan(1);
    for (const { dispute_id, receipt_id, opener, reason_hash, resolution_hash, status } of disputes) {
      const text = await open(`/disputes/${dispute_id}`);
      const receipt = await read<ApiRecord>(`/receipts/${receipt_id}`);
      const record = cardOf(text, "record");
      expect(record).toContain(reason_hash);
      if (resolution_hash !== null) expect(record).toContain(resolution_hash);
      const role =
        opener === receipt.agent ? "agent" : opener === receipt.facilitator ? "facilitator" : "merchant";
      expect(factOf(record, "Opened by")).toContain(`the ${role}`);
      expect(plain(cardOf(text, "life"))).toContain(status === "OPEN" ? "Waits for" : status?.toLowerCase());
      expect(cardOf(text, "the-receipt")).toContain(`/explorer/receipts/${receipt_id}"`);
    }
  });
});

describe("facilitators", () => {
  it("a receipt links its facilitator, whose page lists the newest receipts", async () => {
    const receipts = await listOf("/receipts?limit=100", "receipts");
    const settled = receipts.find(({ facilitator = "" }) => !/^0x0+$/.test(facilitator));
    const [found] = await listOf(`/facilitators?facilitator=${settled?.facilitator}`, "facilitators");
    const text = await open(`/receipts/${settled?.receipt_id}`);
    expect(cardOf(text, "parties")).toContain(`/explorer/facilitators/${found?.facilitator_id}"`);
    const page = await open(`/facilitators/${found?.facilitator_id}`);
    const expected = await listOf(`/receipts?facilitator=${settled?.facilitator}&limit=6`, "receipts");
    const links = [...cardOf(page, "newest-receipts").matchAll(/\/explorer\/receipts\/([0-9]+)"/g)];
    expect(links.map(([, id]) => id)).toEqual(expected.map(({ receipt_id }) => receipt_id));
  });
});

describe("trust signals", () => {
  it("trust signals are filtered and shown in words, and lead to their subjects", async () => {
    const signals = await listOf("/trust-signals?subject_type=0&limit=50", "trust_signals");
    const text = await open("/trust-signals?subject_type=0");
    expect(text).toContain('<option value="0" selected>Merchant</option>');
    expect(text).toContain('<option value="1">Risk</option>');
    const links = [...cardOf(text, "newest-first").matchAll(/\/explorer\/merchants\/([0-9]+)"/g)];
    expect(links.map(([, id]) => id)).toEqual(signals.map(({ subject_id }) => subject_id));
    // Anyone may signal about a number before its record exists, so that the page of the block is linked.
    const [{ subject_id, block_number } = {}] = signals;
    expect(cardOf(await open(`/merchants/${subject_id}`), "newest-trust-signals")).toContain(
      `href="/explorer/blocks/${block_number}"`,
    );
    for (const [type, path] of [
      ["1", "services"],
      ["2", "facilitators"],
    ]) {
      const others = await open(`/trust-signals?subject_type=${type}`);
      expect(cardOf(others, "newest-first")).toContain(`/explorer/${path}/`);
    }
  });
});

describe("filters of commerce pages", () => {
  it("lists of merchants and facilitators have the name next to the number", async () => {
    const uri = `data:application/json,${encodeURIComponent('{"name":"Pier"}')}`;
    for (const kind of ["merchant", "facilitator"]) {
      await stage.database.query({
        text: `update ${kind}s set metadata_uri = $1 where valid_to is null and ${kind}_id = 1`,
        values: [uri],
      });
      const row = cardOf(await open(`/${kind}s`), "by-number");
      expect(row).toMatch(/>#1<\/a> <bdi class="foreign">Pier<\/bdi><\/div>/);
      expect(row).toContain('<span class="soft">on the chain</span>');
    }
  });

  it("filters of receipts and disputes choose the rows of the API", async () => {
    const [receipt] = await listOf("/receipts?limit=1", "receipts");
    const queries = ["token", "service_numeric_id", "merchant_id", "agent", "quote_hash"].map(
      (name) => `${name}=${receipt?.[name]}`,
    );
    for (const query of queries) {
      const expected = await listOf(`/receipts?${query}&limit=50`, "receipts");
      const text = cardOf(await open(`/receipts?${query}`), "newest-first");
      const links = [...text.matchAll(/\/explorer\/receipts\/([0-9]+)"/g)].map(([, id]) => id);
      expect(links, query).toEqual(expected.map(({ receipt_id }) => receipt_id));
    }
    for (const status of ["open", "resolved", "rejected"]) {
      const expected = await listOf(`/disputes?status=${status}&limit=50`, "disputes");
      const text = cardOf(await open(`/disputes?status=${status}`), "newest-first");
      const links = [...text.matchAll(/\/explorer\/disputes\/([0-9]+)"/g)].map(([, id]) => id);
      expect(links, status).toEqual(expected.map(({ dispute_id }) => dispute_id));
    }
  });
});

describe("what does not exist", () => {
  it.each([
    ["/merchants/999999", "No merchant has this id."],
    ["/services/999999", "No service has this id."],
    ["/facilitators/999999", "No facilitator has this id."],
    ["/receipts/999999", "No receipt has this id."],
    ["/disputes/999999", "No dispute has this id."],
    [`/quotes/0x${"ab".repeat(32)}`, "No quote has this hash."],
  ])("the missing page %s is 404 with a sentence", async (path, sentence) => {
    const response = await stage.get(`/explorer${path}`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(sentence);
  });
});

describe("hostile metadata", () => {
  it("shows hostile metadata as text, and links only plain web addresses", async () => {
    const [receipt] = await listOf("/receipts?limit=1", "receipts");
    const id = String(receipt?.service_numeric_id);
    const cases = [
      ['javascript:alert("1")', null],
      ["https://user:secret@example.org/", null],
      ["data:text/html,<script>alert(1)</script>", null],
      ["https://example.org/a?b=1&c=2", "https://example.org/a?b=1&amp;c=2"],
      ["https://example.org/\u202egnp.exe", null],
      [`0x${"ab".repeat(20)}`, null],
      [`0x${"0".repeat(64)}`, null],
      ["20240101", null],
      ["1".repeat(100_000), null],
    ] as const;
    for (const [uri, link] of cases) {
      await stage.database.query({
        text: "update services set metadata_uri = $1, service_id = $2 where service_numeric_id = $3",
        values: [uri, /^\w+$/.test(uri) ? uri : `</title><b>${uri}`, id],
      });
      // Rows written past the index notify no one: another URL of the same page is not in the cache.
      const block = `?block=${stage.head - cases.findIndex(([each]) => each === uri)}`;
      const record = cardOf(await open(`/services/${id}${block}`), "record");
      const links = [...record.matchAll(/<a href="([^"]+)" rel="noopener noreferrer nofollow ugc">/g)];
      expect(links.map(([, href]) => href)).toEqual(link === null ? [] : [link]);
      expect(record).not.toContain("<b>");
      expect(record).not.toContain("\u202e");
      expect(record.match(/<bdi class="foreign"/g)).toHaveLength(2);
      expect(record.length).toBeLessThan(10_000);
    }
  });
});
