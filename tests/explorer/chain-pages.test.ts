// Pages of transactions, attestations, attestors and schemas show what the API has, and say what is unknown.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";
import { parsePage } from "./well-formed.ts";

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

type Body = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const read = async (path: string) => (await (await stage.get(path)).json()) as Body;

async function open(path: string, status = 200): Promise<string> {
  const response = await stage.get(path);
  const text = await response.text();
  expect(response.status, path).toBe(status);
  parsePage(text);
  return text;
}

/** What a reader sees, in one line. */
const textOf = (markup: string) =>
  markup
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

describe("a transaction", () => {
  it("has the sentence of every event, and the rows before and after each", async () => {
    const [event] = (await read("/events?type=IntentFilled&limit=1&include=rows")).events ?? [];
    const text = textOf(await open(`/explorer/transactions/${event?.tx_hash}`));
    expect(text).toMatch(/Intent #\d+ filled by solver/);
    expect(text).toContain("Intents intent id");
    expect(text).toMatch(/Status Open Filled/);
    expect(text).toMatch(/Fills intent id #\d+ created/);
    const { events = [] } = await read(`/tx/${event?.tx_hash}/explain`);
    expect(text.match(/Rows before and after/g)).toHaveLength(events.length);
  });

  it("shows only fields that have changed", async () => {
    const [event] = (await read("/events?type=SolverBidSelected&limit=1")).events ?? [];
    const text = textOf(await open(`/explorer/transactions/${event?.tx_hash}`));
    expect(text).toMatch(/Selected bid id – \d+/);
    expect(text).not.toContain("Amount in max");
  });

  it("of every kind of event is shown", async () => {
    const { events = [] } = await read("/events?limit=1000");
    const byType = new Map(events.map((each) => [each.type, each.tx_hash]));
    expect(byType.size).toBeGreaterThan(25);
    for (const hash of new Set(byType.values())) await open(`/explorer/transactions/${hash}`);
  }, 120_000);

  it("that is not known, or not yet at a block, says so", async () => {
    const unknown = `0x${"ab".repeat(32)}`;
    expect(await open(`/explorer/transactions/${unknown}`, 404)).toContain(
      "No indexed transaction has this hash.",
    );
    expect(await open("/explorer/transactions/0x12", 400)).toContain("hash must be");
    const [event] = (await read("/events?type=IntentFilled&limit=1")).events ?? [];
    const before = Number(event?.block_number) - 1;
    await open(`/explorer/transactions/${event?.tx_hash}?block=${before}`, 404);
    await open(`/explorer/transactions/${event?.tx_hash}?block=${event?.block_number}`);
  });
});

describe("an attestation", () => {
  it("shows when it was made and revoked, as of the block", async () => {
    const [event] = (await read("/events?type=AttestationRevoked&limit=1")).events ?? [];
    const { id = "" } = { ...(event?.args as Readonly<Record<string, string>> | undefined) };
    const text = textOf(await open(`/explorer/attestations/${id}`));
    expect(text).toMatch(/Made .* Revoked /);
    expect(text).not.toContain("may revoke it");
    const before = textOf(
      await open(`/explorer/attestations/${id}?block=${Number(event?.block_number) - 1}`),
    );
    expect(before).toContain("may revoke it");
    expect(before).toContain(`Attestation #${id} Active`);
  });
});

describe("an attestor", () => {
  it("has the counts of the API, and its attestations", async () => {
    const { attestors = [] } = await read("/attestors?limit=100");
    for (const { attestor_id, attestations, revoked_attestations } of attestors.slice(0, 3)) {
      const text = textOf(await open(`/explorer/attestors/${attestor_id}`));
      expect(text).toContain(`Attestations made ${attestations}`);
      expect(text).toContain(`Revoked ${revoked_attestations}`);
    }
  });
});

describe("a schema", () => {
  const publish = async (body: object) => {
    const response = await fetch(`${stage.url}/attestations/schemas`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    return (await response.json()) as { schema_hash: string };
  };

  it("says whether its hash is that of its text, which may be hostile", async () => {
    const name = '\u202e<script>alert("x")</script>';
    const json_schema = { type: "object", description: `${name}</pre>` };
    const own = await publish({ name: `own ${name}`, json_schema });
    const page = await open(`/explorer/schemas/${own.schema_hash}`);
    expect(page).toContain(">matches<");
    expect(page).not.toMatch(/\u202e|<script>alert/);
    const chosen = `0x${"cd".repeat(32)}`;
    await publish({ name: "chosen", schema_hash: chosen, json_schema });
    expect(await open(`/explorer/schemas/${chosen}`)).toContain("chosen by its publisher");
    expect(await open("/explorer/schemas")).toContain("own ");
  });

  it("that is not published has its attestations nevertheless", async () => {
    expect(await open(`/explorer/schemas/0x${"ef".repeat(32)}`)).toContain("No schema is published");
  });
});
