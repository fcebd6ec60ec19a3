// The first page: lines over a span that shows something, and a reason only if it is the reason.
import { afterAll, beforeAll, expect, it } from "vitest";
import { sql } from "../../src/schema/sql.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ExplorerStage, openExplorerStage } from "./explorer-stage.ts";

let stage: ExplorerStage;

beforeAll(async () => {
  stage = await openExplorerStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

async function open(path: string): Promise<string> {
  const response = await stage.get(path);
  expect(response.status, path).toBe(200);
  return response.text();
}

const spanOf = (markup: string) => ({
  text: /Lines: what came ([^.]*)\./.exec(markup)?.[1],
  label: /aria-label="New intents ([^"]*)"/.exec(markup)?.[1],
  source: /GET (\/totals[^<]*)</.exec(markup)?.[1],
});

it("the first page has lines by day, and by hour if everything happened within the last days", async () => {
  const days = expect.stringMatching(/^by day, over the last [0-9]+ days$/);
  expect(spanOf(await open("/explorer"))).toEqual({ text: days, label: days, source: "/totals" });
  // As if the first days of the history had not been.
  await stage.database.query(
    sql`delete from activity_hours where hour < (select max(hour) from activity_hours) - 30`,
  );
  const hours = expect.stringMatching(/^by hour, over the last [0-9]+ hours$/);
  // Another address, because responses for the first one are cached.
  expect(spanOf(await open(`/explorer?block=${stage.head}`))).toEqual({
    text: hours,
    label: hours,
    source: `/totals?interval=hour&amp;block=${stage.head}`,
  });
});

it("says that totals are kept for recent blocks if the block is older, and not if a value is wrong", async () => {
  const { finalized_block } = (await (await stage.get("/head")).json()) as { finalized_block: string };
  const old = Number(finalized_block) - 1;
  expect(await open(`/explorer?block=${old}`)).toContain("Totals are kept for recent blocks only. This data");
  expect(await open(`/explorer/analytics?block=${old}`)).toContain(
    "Analytics are kept for recent blocks only.",
  );
  const wrong = await open(`/explorer/analytics?token=x&block=${stage.head}`);
  expect(wrong).toContain("token must be");
  expect(wrong).not.toContain("kept for recent blocks");
});
